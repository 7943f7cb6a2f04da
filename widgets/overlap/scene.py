"""The two lanes as a template draws them: bars, marks, names, the ghost, and all in words."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from py_core.timeline import Timeline
from widgets.overlap.picture import WIDTH, Window, lanes, marks, written
from widgets.overlap.words import PARTS, Clock

# Units that words need, where the picture is narrowest.
HIDDEN, EXPOSED = 310, 450
LAYER, FEWER = 110, 214  # a layer's name on a screen, on a phone


def between(window: Window, start: int, end: int) -> str:
    """How wide a stretch is, as a per cent."""
    low, high = (max(0, min(t - window.low, window.span)) for t in (start, end))
    return written(high * 10_000 // window.span - low * 10_000 // window.span)


def scene(
    found: Timeline, window: Window, clock: Clock, shown: list[Any], ghost: Timeline | None
) -> dict[str, Any]:
    """Everything of the two lanes that a template draws."""
    return {
        "paths": lanes(found, window, shown),
        "ends": [window.per_cent(p.end) for p in found.passes if window.shows(p.end, p.end)],
        "exposed": [
            (window.per_cent(start), between(window, start, end))
            for start, end in late(found)
            if window.shows(start, end)
        ],
        "layers": _layers(found, window),
        "labels": list(_labels(found, window)),
        "marks": marks(window, clock),
        "ghost": list(_ghost(found, ghost, window)) if ghost else [],
        "words": _described(found, clock),
    }


def late(found: Timeline) -> Iterator[tuple[int, int]]:
    """Where the stream is busy behind a backward, pass by pass."""
    tail = found.used_map[1] if found.used_map else found.runs[-1].end if found.runs else 0
    for p in found.passes:
        if p.sends and p.start + tail > p.end:
            yield p.end, p.start + tail


def _layers(found: Timeline, window: Window) -> list[tuple[str, str, str]]:
    """Names above the compute lane: place, classes, text; those ``wide`` no phone has room for."""
    few = set(_named(found, window, FEWER))
    return [
        (at, anchor if (at, anchor, text) in few else f"{anchor} wide", text)
        for at, anchor, text in _named(found, window, LAYER)
    ]


def _named(found: Timeline, window: Window, room: int) -> Iterator[tuple[str, str, str]]:
    """As many names as have ``room``: place, anchor, text."""
    widest = max(i.end - i.start for i in found.intervals)
    least = room * window.span // WIDTH
    every = next((n for n in (1, 2, 4, 8, 16, 32, 64) if n * widest >= least), 0)
    for p in found.passes:
        free = window.x(p.start)
        last = min(window.x(p.end) - 3 * room // 2, WIDTH - room)  # the embedding's name is there
        for interval in found.intervals:
            start, end = p.start + interval.start, p.start + interval.end
            low, high = max(start, window.low), min(end, window.high)
            at = window.x((low + high) // 2)
            if high < low or (high == low and start < end):
                continue
            if interval.part == "embedding":
                yield window.per_cent(end), "end", PARTS["embedding"]
            elif interval.layer is None:
                if interval.part == "lm_head" and window.x(p.end) - at > 2 * room:
                    yield window.per_cent(low), "start", PARTS["lm_head"]
                    free = window.x(low) + room
            elif every and interval.layer % every == 0 and free <= at - room // 2 < last:
                yield window.per_cent((low + high) // 2), "middle", f"第 {interval.layer} 层"
                free = at + room // 2


def _labels(found: Timeline, window: Window) -> Iterator[tuple[str, str, str, str]]:
    """Words at the lanes: class, place, anchor, and which readout."""
    p = found.passes[-1]
    if found.problem or sum(p.sends for p in found.passes) != 1:
        return  # or several of everything: the tiles have the sums
    over = window.x(p.end)
    if found.hidden and len(found.passes) == 1 and over >= HIDDEN:
        yield "hidden", written(over * 5_000 // WIDTH), "middle", "hidden_share"
    if found.exposed and p.end < window.high:
        if over <= WIDTH - EXPOSED:
            yield "exposed", window.per_cent(p.end), "start", "exposed"
        else:
            yield "exposed", "100.00%", "end", "exposed"


def _ghost(found: Timeline, ghost: Timeline, window: Window) -> Iterator[tuple[str, str, str]]:
    """Outlines of the pinned step: which, from where, how wide."""

    def outline(kind: str, start: Fraction, end: Fraction) -> Iterator[tuple[str, str, str]]:
        a, b = (int(t * found.ticks_per_second) for t in (start, end))
        if b > a and window.shows(a, b):
            yield kind, window.per_cent(a), between(window, a, b)

    seconds = ghost.seconds
    for p in ghost.passes:
        yield from outline("compute", seconds(p.start), seconds(p.end))
        if p.sends and ghost.runs:
            begin = seconds(p.start + ghost.runs[0].start)
            yield from outline("sent", begin, seconds(p.start + ghost.runs[-1].end))
    for start, end in late(ghost):
        yield from outline("late", seconds(start), seconds(end))


def _described(found: Timeline, clock: Clock) -> str:
    """The picture in words, for those who do not see it."""
    passes = len(found.passes)
    backward = clock(found.passes[-1].end - found.passes[-1].start)
    each = f"{passes} 个微批，每个反向 {backward}" if passes > 1 else f"反向 {backward}"
    if found.problem:
        return f"上面一道：{each}。下面一道是空的：什么也没有传。"
    count = f"{found.bucket_count:,} 个桶"
    exposed = "，".join(f"{clock(a)} 到 {clock(b)}" for a, b in late(found))
    return f"上面一道：{each}。下面一道：{count}。露在外面的：{exposed or '没有'}。"
