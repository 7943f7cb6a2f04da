"""The overlap timeline: the backward and the buckets it sends, on one time axis."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlencode

from py_core.lanes import Bucket
from py_core.quantity import Quantity, evaluate
from py_core.readouts import readouts
from py_core.timeline import Timeline, simulate
from py_core.trace import trace_json
from widgets.overlap.curve import FEW, MANY, curve
from widgets.overlap.picture import WIDTH, Bar, Window, bars, lanes, marks, parts, written
from widgets.overlap.setting import (
    CONFIGURATION,
    FIELDS,
    GUESSES,
    MODES,
    MOST_ZOOM,
    NODE,
    PLACES,
    Step,
    step_of,
)
from widgets.overlap.words import PARTS, Clock, contents, size, spaced, spread
from widgets.slider import Slider, doublings
from widgets.state import Choice, Pinned, State, Values, parse
from widgets.tasks import Task

LABEL = "通信藏进反向的时间线"
MINUTES = 7  # that a reader spends with it

TOKENS = doublings(FEW, MANY)
CARDS = (1, *doublings(2, 1024))
BANDWIDTHS = tuple(map(Fraction, ("5", "12.5", "25", "50", "100", "160", "200", "400", "900")))
FLOPS = (50, 100, 200, 400, 800, 1600, 3200)
CAPS = (1, 2, 5, 10, 25, 50, 100, 200, 400, 800, 1600, 2400, 4096)
LATENCIES = (0, 1, 2, 5, 10, 14, 20, 50, 100)

# One press sets several fields: what a cluster is, and how it is wired.
NET_PRESETS = {
    "ib": {"bandwidth": "50"},
    "nvlink": {"bandwidth": "160"},
    "hierarchical": {"bandwidth": "50", "cards": "64"},
}
GUESSED = {k: v for k, v in GUESSES.items() if k not in ("ask", "skip")}
DEFAULTS = {f.name: f.default for f in FIELDS}
_PIN = next(f for f in FIELDS if isinstance(f, Pinned))
_KEPT = ("bucket", "zoom", "from", "time", "table")  # places that a new configuration keeps
WIDE = 300  # units that words in or above a lane need
ROOM = 110  # and a layer's name


# ── tasks and walk ──────────────────────────────────────────────────────────────────────


def _is(state: State, **fields: str | int) -> bool:
    """The lesson's configuration but for these fields, seen and not guessed at."""
    changed = {f.name: fields.get(f.name, f.default) for f in CONFIGURATION}
    return state["guess"] != "ask" and all(state[k] == v for k, v in changed.items())


@cache
def _even() -> int:
    return int(evaluate("communication.break_even_tokens").value)


TASKS = {
    "buckets": Task("guess=skip&mode=sync", _is),
    "hidden": Task("guess=skip&tokens=4096", lambda s: _is(s, tokens=16_384)),
    "even": Task("guess=skip&tokens=16384", lambda s: _is(s, tokens=_even())),
    "stub": Task("guess=skip&tokens=16384", lambda s: _is(s, tokens=16_384, unused="absent")),
}


def walk() -> list[str]:
    """The prompt and its answers; both ways of sending at every stop of the tokens."""
    seen: Values = DEFAULTS | {"guess": "skip"}
    return [
        urlencode(query)
        for query in (
            *(DEFAULTS | {"guess": guess} for guess in GUESSES if guess != "skip"),
            *(seen | {"tokens": tokens} for tokens in TOKENS),
            *(seen | {"mode": "sync", "tokens": tokens} for tokens in (4096, 16_384)),
            seen | {"tokens": 16_384, "unused": "absent"},
        )
    ]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: one sync, buckets, and enough tokens."""
    seen = state.values | {"guess": "skip"}
    return [
        (
            "没有 JavaScript，只能看几个定格。分桶，边算边传：",
            urlencode(seen | {"mode": "buckets"}),
        ),
        (
            "每张卡的 token 再多些：",
            urlencode(seen | {"mode": "buckets", "tokens": 16_384, "table": "on"}),
        ),
    ]


def trace(state: State) -> dict[str, str]:
    """The step as a file that Perfetto opens beside a real profile."""
    step, found = _simulated(_configuration(state.values))
    name = f"{step.scenario.model.slug}-{step.setting.cards}x{step.setting.tokens}.trace.json"
    return {"name": name, "type": "application/json", "text": trace_json(found)}


EXPORTS = {"trace": trace}


# ── the view ────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=8)
def _simulated(configuration: str) -> tuple[Step, Timeline]:
    step = step_of(parse(CONFIGURATION, configuration).values)
    return step, simulate(step.setting)


def _readouts(configuration: str) -> dict[str, Quantity]:
    step, found = _simulated(configuration)
    return readouts(found, step.scenario)


def _configuration(values: Values, **changes: str | int) -> str:
    return urlencode({f.name: values[f.name] for f in CONFIGURATION} | changes)


def view(state: State) -> dict[str, Any]:
    values = state.values
    asks = values["guess"] == "ask" and all(values[f.name] == f.default for f in CONFIGURATION)
    # While it asks, it shows what there is to be hidden.
    step, found = _simulated(_configuration(values, **({"mode": "sync"} if asks else {})))
    ghost = _simulated(str(values["pin"]))[1] if values["pin"] else None
    whole = max(1, _ticks(found, found.end), _ticks(found, ghost.end) if ghost else 0)
    window, zoom = _window(values, whole)
    clock = Clock.for_span(window.span, whole, found.ticks_per_second)
    shown = list(parts(found, window)) if found.communication else []
    groups = bars(window, shown)
    chosen = _chosen(values, found)
    told = readouts(found, step.scenario)
    now = whole * state.whole("time") // PLACES

    def go(**changes: str | int) -> str:
        """What a button asks for; whoever presses any of them is done with guessing."""
        skips = {"guess": "skip"} if values["guess"] == "ask" else {}
        return urlencode(skips | changes)

    return {
        "go": go,
        "asks": asks,
        "guesses": GUESSED,
        "again": urlencode(DEFAULTS),
        "right": values["guess"] == _true_guess(),
        "truth": _readouts(_configuration(DEFAULTS)) if values["guess"] in GUESSED else {},
        "mode": "sync" if asks else values["mode"],
        "modes": MODES,
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "cursor": urlencode({name: values[name] for name in _KEPT}),
        "tracks": _tracks(values),
        "nets": {net: NET_PRESETS[net] for net in NET_PRESETS},
        "node": NODE,
        "instead": step.instead,
        "problem": found.problem,
        "nothing": _nothing(found),
        "late": found.exposed > 0,
        "told": {k: q for k, q in told.items() if not found.problem or k in _OWN},
        "pinned": _readouts(str(values["pin"])) if ghost else {},
        "pin": _PIN.written(values),
        "says": _says(found, told, step.setting.sending),
        "picture": _picture(found, window, clock, shown, ghost),
        "bars": _bars(groups, window, clock, found, chosen),
        "now": {
            "at": window.per_cent(now) if window.low <= now <= window.high else "",
            "low": window.low * PLACES // whole,
            "high": -(-window.high * PLACES // whole),
            "step": max(1, (PLACES >> zoom) // 256),
            "text": _running(found, now, clock),
            "clock": clock(now),
        },
        "chosen": _detail(chosen, found, clock, window) if chosen else None,
        "missing": values["bucket"] != "" and not chosen and len(found.buckets) > 0,
        "neighbours": _neighbours(values, found),
        "view": _moves(values, found, whole, zoom),
        "curve": None if asks else _curve(values, told),  # it would give the answer away
        "copied": _copied(step, told, groups, found),
        "error": {n.field: n for n in state.notices},
    }


_OWN = ("backward", "forward", "buckets")  # readouts that need no communication


def _ticks(found: Timeline, seconds: Fraction) -> int:
    """Seconds, perhaps another timeline's, in ticks of this one; rounded up."""
    return -int(-seconds * found.ticks_per_second // 1)


@cache
def _true_guess() -> str:
    found = _simulated(_configuration(DEFAULTS))[1]
    left = found.exposed / found.communication
    return "none" if not left else "half" if left < Fraction(3, 4) else "most"


def _tracks(values: Values) -> dict[str, Slider]:
    """The sliders; what is typed beyond their ends stays, and they stand at an end."""
    bandwidth = str(values["bandwidth"])
    return {
        "tokens": Slider("tokens", TOKENS, int(values["tokens"])),
        "cards": Slider("cards", CARDS, int(values["cards"])),
        "bandwidth": Slider(
            "bandwidth",
            BANDWIDTHS,
            BANDWIDTHS[-1] if bandwidth == "inf" else Fraction(bandwidth),
        ),
        "flops": Slider("flops", FLOPS, Fraction(str(values["flops"]))),
        "cap": Slider("cap", CAPS, int(values["cap"])),
        "latency": Slider("latency", LATENCIES, Fraction(str(values["latency"]))),
    }


def _nothing(found: Timeline) -> str:
    """Why a lane is empty, where it is no fault."""
    setting = found.setting
    if setting.cards == 1:
        return "只有一张卡：没有谁要同步，通信是零。"
    if not found.problem and not found.communication:
        return "带宽不限，也没有固定开销：每个桶一发就到，通信不花时间。"
    if not setting.tokens:
        return "一个 token 也没有：反向不花时间，没有什么能把通信藏起来。"
    return ""


def _says(found: Timeline, told: dict[str, Quantity], sending: str) -> list[tuple[str, str]]:
    """The step in a sentence: words, and the readout that follows each."""
    if found.problem:
        return [(f"{found.problem.chinese}。", "")]
    if not found.communication:
        return [("反向 ", "backward"), ("，通信不花时间，没有什么要藏。", "")]
    if sending == "sync":
        return [
            ("反向 ", "backward"),
            (" 做完，才开始同步：", "communication"),
            (" 的通信全露在外面，一个训练步要 ", "step"),
            ("。", ""),
        ]
    lanes: list[tuple[str, str]] = [("反向 ", "backward"), ("，通信 ", "communication")]
    if not found.hidden:
        return [*lanes, ("，一点也没藏住，全露在外面。", "")]
    rest = "，露在外面的还有 " if found.exposed else "，露在外面的是 "
    return [*lanes, ("；藏住了 ", "hidden_share"), (rest, "exposed"), ("。", "")]


# ── window, cursor, chosen bucket ───────────────────────────────────────────────────────


def _window(values: Values, whole: int) -> tuple[Window, int]:
    """What is shown of ``whole`` ticks, and how far it really is zoomed."""
    zoom = int(values["zoom"])
    width = PLACES >> zoom
    begin = min(int(values["from"]), PLACES - width)
    low = begin * whole // PLACES
    return Window(low, max(low + 1, (begin + width) * whole // PLACES)), zoom


def _moves(values: Values, found: Timeline, whole: int, zoom: int) -> list[dict[str, Any]]:
    """The buttons of the view: label, key, what each asks for, whether it would do nothing."""
    width = PLACES >> zoom
    begin = min(int(values["from"]), PLACES - width)
    middle = begin + width // 2
    if begin < int(values["time"]) < begin + width:
        middle = int(values["time"])

    def at(level: int, centre: int) -> dict[str, int]:
        half = (PLACES >> level) // 2
        return {"zoom": level, "from": min(max(centre - half, 0), PLACES - 2 * half)}

    over = _ticks(found, found.end - found.exposed) if found.exposed else whole
    tail = next(
        z
        for z in range(MOST_ZOOM, -1, -1)
        if (PLACES >> z) * whole >= (whole - over) * 5 // 4 * PLACES or not z
    )
    moves = (
        ("in", "放大", "+", at(min(zoom + 1, MOST_ZOOM), middle)),
        ("out", "缩小", "-", at(max(zoom - 1, 0), middle)),
        ("left", "往前", "[", {"zoom": zoom, "from": max(begin - width // 2, 0)}),
        ("right", "往后", "]", {"zoom": zoom, "from": min(begin + width // 2, PLACES - width)}),
        ("whole", "全部", "0", {"zoom": 0, "from": 0}),
        ("tail", "只看红的", "9", at(tail, PLACES)),
    )
    here = {"zoom": zoom, "from": begin}
    return [
        {"name": name, "label": label, "key": key, "to": to, "off": to == here}
        for name, label, key, to in moves
        if name != "tail" or found.exposed
    ]


def _chosen(values: Values, found: Timeline) -> Bucket | None:
    number = str(values["bucket"])
    if not number or int(number) >= len(found.buckets):
        return None
    return found.buckets[int(number)]


def _neighbours(values: Values, found: Timeline) -> list[dict[str, Any]]:
    """Buttons from bucket to bucket."""
    last = len(found.buckets) - 1
    if last < 0:
        return []
    number = str(values["bucket"])
    here = min(int(number), last) if number else -1
    moves = (
        ("first", "第一桶", "Home", 0),
        ("back", "上一桶", "ArrowLeft", max(here - 1, 0)),
        ("next", "下一桶", "ArrowRight", min(here + 1, last)),
        ("last", "最后一桶", "End", last),
    )
    return [
        {"name": n, "label": label, "key": key, "to": {"bucket": to}, "off": to == here}
        for n, label, key, to in moves
    ]


def _which(found: Timeline, number: int, micro_batch: int) -> str:
    """A bucket's name; of several micro-batches that send, also whose."""
    whose = f"第 {micro_batch + 1} 个微批的" if sum(p.sends for p in found.passes) > 1 else ""
    return f"{whose}第 {number:,} 桶"


def _detail(b: Bucket, found: Timeline, clock: Clock, window: Window) -> dict[str, Any]:
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
        "width": _between(window, at(b.start), at(b.end)),
        "seen": window.shows(at(b.start), at(b.end)),
        "ready_seen": window.shows(at(b.ready), at(b.ready)),
    }


def _between(window: Window, start: int, end: int) -> str:
    """How wide a stretch is, as a per cent."""
    low, high = (max(0, min(t - window.low, window.span)) for t in (start, end))
    return written(high * 10_000 // window.span - low * 10_000 // window.span)


def _running(found: Timeline, now: int, clock: Clock) -> str:
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


# ── what is drawn ───────────────────────────────────────────────────────────────────────


def _picture(
    found: Timeline, window: Window, clock: Clock, shown: list[Any], ghost: Timeline | None
) -> dict[str, Any]:
    return {
        "paths": lanes(found, window, shown),
        "ends": [window.per_cent(p.end) for p in found.passes if window.shows(p.end, p.end)],
        "exposed": [
            (window.per_cent(start), _between(window, start, end))
            for start, end in _exposed(found)
            if window.shows(start, end)
        ],
        "layers": list(_layers(found, window)),
        "labels": list(_labels(found, window)),
        "marks": marks(window, clock),
        "ghost": list(_ghost(found, ghost, window)) if ghost else [],
        "words": _described(found, clock),
    }


def _exposed(found: Timeline) -> Iterator[tuple[int, int]]:
    """Where the stream is busy behind a backward, pass by pass."""
    tail = found.used_map[1] if found.used_map else found.runs[-1].end if found.runs else 0
    for p in found.passes:
        if p.sends and p.start + tail > p.end:
            yield p.end, p.start + tail


def _layers(found: Timeline, window: Window) -> Iterator[tuple[str, str, str]]:
    """Names above the compute lane, as many as have room: place, anchor, text."""
    widest = max(i.end - i.start for i in found.intervals)
    least = ROOM * window.span // WIDTH
    every = next((n for n in (1, 2, 4, 8, 16, 32, 64) if n * widest >= least), 0)
    for p in found.passes:
        free = window.x(p.start)
        last = min(window.x(p.end) - 3 * ROOM // 2, WIDTH - ROOM)  # the embedding's name is there
        for interval in found.intervals:
            start, end = p.start + interval.start, p.start + interval.end
            low, high = max(start, window.low), min(end, window.high)
            at = window.x((low + high) // 2)
            if high < low or (high == low and start < end):
                continue
            if interval.part == "embedding":
                yield window.per_cent(end), "end", PARTS["embedding"]
            elif interval.layer is None:
                if interval.part == "lm_head" and window.x(p.end) - at > 2 * ROOM:
                    yield window.per_cent(low), "start", PARTS["lm_head"]
                    free = window.x(low) + ROOM
            elif every and interval.layer % every == 0 and free <= at - ROOM // 2 < last:
                yield window.per_cent((low + high) // 2), "middle", f"第 {interval.layer} 层"
                free = at + ROOM // 2


def _labels(found: Timeline, window: Window) -> Iterator[tuple[str, str, str, str]]:
    """Words at the lanes: class, place, anchor, and which readout."""
    p = found.passes[-1]
    if found.problem or sum(p.sends for p in found.passes) != 1:
        return  # or several of everything: the tiles have the sums
    over = window.x(p.end)
    if found.hidden and len(found.passes) == 1 and over >= WIDE:
        yield "hidden", written(over * 5_000 // WIDTH), "middle", "hidden_share"
    if found.exposed and p.end < window.high:
        if over <= WIDTH - WIDE:
            yield "exposed", window.per_cent(p.end), "start", "exposed"
        else:
            yield "exposed", "100.00%", "end", "exposed"


def _ghost(found: Timeline, ghost: Timeline, window: Window) -> Iterator[tuple[str, str, str]]:
    """Outlines of the pinned step: which, from where, how wide."""

    def outline(kind: str, start: Fraction, end: Fraction) -> Iterator[tuple[str, str, str]]:
        a, b = (int(t * found.ticks_per_second) for t in (start, end))
        if b > a and window.shows(a, b):
            yield kind, window.per_cent(a), _between(window, a, b)

    seconds = ghost.seconds
    for p in ghost.passes:
        yield from outline("compute", seconds(p.start), seconds(p.end))
        if p.sends and ghost.runs:
            begin = seconds(p.start + ghost.runs[0].start)
            yield from outline("sent", begin, seconds(p.start + ghost.runs[-1].end))
    for start, end in _exposed(ghost):
        yield from outline("late", seconds(start), seconds(end))


def _described(found: Timeline, clock: Clock) -> str:
    """The picture in words, for those who do not see it."""
    passes = len(found.passes)
    backward = clock(found.passes[-1].end - found.passes[-1].start)
    each = f"{passes} 个微批，每个反向 {backward}" if passes > 1 else f"反向 {backward}"
    if found.problem:
        return f"上面一道：{each}。下面一道是空的：什么也没有传。"
    count = f"{found.bucket_count:,} 个桶"
    exposed = "，".join(f"{clock(a)} 到 {clock(b)}" for a, b in _exposed(found))
    return f"上面一道：{each}。下面一道：{count}。露在外面的：{exposed or '没有'}。"


def _bars(
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
        "width": _between(window, bar.start, max(bar.end, bar.start + window.span // WIDTH)),
        "label": f"{name}：{clock(bar.start)} 到 {clock(bar.end)}，传 {clock(bar.busy)}，"
        f"{size(bar.bytes)}{moments}，{fate}；{what}",
    }


def _curve(values: Values, told: dict[str, Quantity]) -> Any:
    share = told.get("hidden_share")
    even = told.get("break_even")
    return curve(
        values,
        _configuration(values, tokens=0),
        None if share is None else round(10_000 * share.value),
        None if even is None else int(even.value),
    )


def _copied(step: Step, told: dict[str, Quantity], groups: list[Bar], found: Timeline) -> str:
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


__all__ = ["FIELDS", "LABEL", "TASKS", "still", "view", "walk"]
