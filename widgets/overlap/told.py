"""What is told of moments and buckets: bars to touch, the chosen one, the copied text."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from py_core.lanes import Bucket
from py_core.quantity import Quantity
from py_core.timeline import Timeline
from widgets.overlap.picture import WIDTH, Bar, Window
from widgets.overlap.scene import between
from widgets.overlap.setting import Step
from widgets.overlap.words import PARTS, Clock, contents, size, spaced, spread


def _which(found: Timeline, number: int, micro_batch: int) -> str:
    """A bucket's name; of several micro-batches that send, also whose."""
    whose = f"第 {micro_batch + 1} 个微批的" if sum(p.sends for p in found.passes) > 1 else ""
    return f"{whose}第 {number:,} 桶"


def detail(b: Bucket, found: Timeline, clock: Clock, window: Window) -> dict[str, Any]:
    """All that is told of the chosen bucket, and where it is drawn."""

    def at(seconds: Fraction) -> int:
        return int(seconds * found.ticks_per_second)

    times = {
        "大小": size(b.bytes),
        "就绪": clock(at(b.ready)),
        "发出": clock(at(b.launch)),
        "开始传": clock(at(b.start)),
        "传完": clock(at(b.end)),
        "露在外面": clock(at(b.exposed)) if b.exposed else "没有",
    }
    waits = b.start - b.launch
    held = b.launch - b.ready
    return {
        "name": _which(found, b.index, b.micro_batch),
        "times": times,
        "tensors": f"{b.tensor_count:,} 个张量",
        "contents": contents(b.pieces),
        "why": "；".join(
            words
            for words, applies in (
                (f"凑齐以后又等了 {clock(at(held))}，因为前面的桶还没走", held > 0),
                (f"发出以后排队等了 {clock(at(waits))}", waits > 0),
                ("一凑齐就发，一发就传", not held and not waits),
            )
            if applies
        )
        if found.setting.sending != "sync"
        else "反向全部做完才发",
        "ready": window.per_cent(at(b.ready)),
        "start": window.per_cent(at(b.start)),
        "width": between(window, at(b.start), at(b.end)),
        "seen": window.shows(at(b.start), at(b.end)),
        "ready_seen": window.shows(at(b.ready), at(b.ready)),
    }


def running(found: Timeline, now: int, clock: Clock) -> str:
    """What runs at ``now``, in a sentence."""
    return f"{_computing(found, now)}；{_sending(found, now)}。"


def _computing(found: Timeline, now: int) -> str:
    for p in found.passes:
        if now < p.start:
            return f"前向，第 {p.number + 1} 个微批"
        if now < p.end:
            at = next(i for i in found.intervals if now - p.start < i.end)
            where = f"第 {at.layer} 层" if at.layer is not None else PARTS[at.part]
            return f"反向在算{spaced(where)}"
    return "反向已经算完"


def _sending(found: Timeline, now: int) -> str:
    after = False
    for p in found.passes:
        if not p.sends:
            continue
        for run in found.runs:
            at = now - p.start
            if at < run.start:
                wait = _which(found, run.first, p.number)
                return f"通信闲着，{wait}还没凑齐"
            if at < run.end:
                number = next(j for j in range(run.count - 1, -1, -1) if run.start_of(j) <= at)
                entry = run.planned.pieces[0].segment.entries[0]
                which = _which(found, run.first + number, p.number)
                return f"通信在传{which}（{spread(entry, entry)}）"
        after = True
    return "通信也做完了" if after else "没有通信"


def touchable(
    groups: list[Bar], window: Window, clock: Clock, found: Timeline, chosen: Bucket | None
) -> list[dict[str, Any]]:
    """Every bar that can be touched: where it is, what it is called, its cells in the table."""
    each = found.bucket_count
    offset = {p.number: i * each for i, p in enumerate(p for p in found.passes if p.sends)}
    return [
        _bar(bar, window, clock, found)
        | {
            "index": i,
            "to": offset[bar.head.of.number] + bar.first,
            "chosen": chosen is not None
            and chosen.micro_batch == bar.head.of.number
            and bar.holds(chosen.index),
        }
        for i, bar in enumerate(groups)
    ]


def _bar(bar: Bar, window: Window, clock: Clock, found: Timeline) -> dict[str, Any]:
    part = bar.head
    first, last = bar.ends
    number, batch = part.number, part.of.number
    if bar.count == 1:
        what = contents(part.run.planned.pieces_of(part.first))
        name = _which(found, number, batch)
        run, j = part.run, part.first
        ready = part.of.start + run.ready + j * run.ready_step
        launch = part.of.start + run.launch + j * run.launch_step
        moments = f"，就绪 {clock(ready)}，发出 {clock(launch)}"
    else:
        what = spread(first, last)
        name = f"{_which(found, number, batch)[:-2]}–{bar.last:,} 桶，共 {bar.count:,} 个"
        moments = ""
    late = bar.exposed
    cells = {
        "name": name,
        "what": what,
        "size": size(bar.bytes),
        "start": clock(bar.start),
        "end": clock(bar.end),
        "busy": clock(bar.busy),
        "late": clock(late) if late else "没有",
    }
    fate = f"露在外面 {clock(late)}" if late else "全藏住了"
    return cells | {
        "x": window.per_cent(bar.start),
        "width": between(window, bar.start, max(bar.end, bar.start + window.span // WIDTH)),
        "label": f"{name}：{clock(bar.start)} 到 {clock(bar.end)}，传 {clock(bar.busy)}，"
        f"{size(bar.bytes)}{moments}，{fate}；{what}",
    }


def copied(step: Step, told: dict[str, Quantity], groups: list[Bar], found: Timeline) -> str:
    """The readouts and the bars as comma-separated text, in seconds and bytes."""

    def seconds(ticks: int) -> str:
        return f"{float(found.seconds(ticks)):.6g}"

    model = step.scenario.model.name
    lines = [
        f"# {model}，{step.setting.cards} 张卡，每张 {step.setting.tokens} 个 token；"
        "按 DDP 的规则逐桶模拟，不是测量",
        "读数,值",
        *(f"{q.says.replace(',', '，')},{q.display().replace(',', '')}" for q in told.values()),
        "桶,开始 (s),结束 (s),字节,露在外面 (s)",
    ]
    for bar in groups:
        name = f"{bar.first}" if bar.count == 1 else f"{bar.first}–{bar.last}"
        times = seconds(bar.start), seconds(bar.end), f"{bar.bytes}", seconds(bar.exposed)
        lines.append(",".join((name, *times)))
    return "\n".join(lines)
