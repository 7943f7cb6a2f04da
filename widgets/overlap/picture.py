"""The two lanes as SVG text, and the bars that readers can touch.

Time runs over :data:`WIDTH` units; what is narrower than a unit is merged, so that a
model of forty thousand buckets draws as quickly as one of four hundred. Coordinates are
whole units or hundredths of a per cent, made of whole numbers: any Python gives the same
bytes. Words are not scaled with the picture: they stand at per cents.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from py_core.inventory import Tensor
from py_core.lanes import Pass, Run
from py_core.timeline import Timeline
from py_core.units import number
from widgets.overlap.words import Clock

WIDTH = 1200  # units of a lane, which is 298 px at its narrowest: on a phone of 360 px
LEAST = 97  # units of a bar that is touched: 24 px there
GAP = 3  # units of a bar from which on it stands apart from the next


@dataclass(frozen=True, slots=True)
class Window:
    """The part of the time axis that is shown, in ticks."""

    low: int
    high: int

    @property
    def span(self) -> int:
        return self.high - self.low

    def x(self, ticks: int) -> int:
        """Units from the left, within the picture."""
        if ticks <= self.low:
            return 0
        if ticks >= self.high:
            return WIDTH
        return (ticks - self.low) * WIDTH // (self.high - self.low)

    def per_cent(self, ticks: int) -> str:
        """The same as a per cent, for what is not scaled."""
        return written(min(max((ticks - self.low) * 10_000 // self.span, 0), 10_000))

    def shows(self, start: int, end: int) -> bool:
        return end >= self.low and start <= self.high


def written(hundredths: int) -> str:
    """Hundredths of a per cent: ``12.34%``."""
    return f"{hundredths // 100}.{hundredths % 100:02d}%"


@dataclass(frozen=True, slots=True)
class Part:
    """Buckets in a row of one run and one pass, drawn as one: one, as a rule. In ticks."""

    of: Pass
    run: Run
    first: int  # within the run
    count: int
    start: int
    end: int

    @property
    def number(self) -> int:
        return self.run.first + self.first

    @property
    def bytes(self) -> int:
        return self.run.bytes * self.count

    @property
    def busy(self) -> int:
        """Ticks of its messages; between them the stream may wait."""
        return self.run.cost * self.count

    @property
    def exposed(self) -> int:
        """Ticks of its messages behind the end of the backward."""
        over = self.of.end
        if self.end <= over:
            return 0
        if self.start >= over:
            return self.busy
        if self.count == 1:
            return self.end - max(self.start, over)
        run, over = self.run, over - self.of.start
        inside = range(self.first, self.first + self.count)
        # Buckets end one after another: the first that is not over in time begins the rest.
        late = bisect_right(inside, over, key=lambda j: run.start_of(j) + run.cost)
        cut = run.start_of(inside[late])
        return run.cost * (self.count - late) - max(0, over - cut)


def parts(found: Timeline, window: Window) -> Iterator[Part]:
    """What of the communication lane is in the window, in order."""
    for p in found.passes:
        if not p.sends:
            continue
        for run in found.runs:
            if run.start + p.start > window.high:
                break
            if run.end + p.start >= window.low:
                yield from _cut(p, run, window)


def _cut(p: Pass, run: Run, window: Window) -> Iterator[Part]:
    if run.count == 1:
        start = p.start + run.start
        yield Part(p, run, 0, 1, start, start + run.cost)
        return
    every = range(run.count)
    begin = bisect_left(every, window.low - p.start, key=lambda j: run.start_of(j) + run.cost)
    stop = bisect_right(every, window.high - p.start, key=run.start_of)
    pitch = max(1, (run.end - run.start) // run.count)
    many = max(1, 2 * window.span // WIDTH // pitch)  # two units each, at most
    for first in range(begin, stop, many):
        count = min(many, stop - first)
        start, last = run.start_of(first), run.start_of(first + count - 1)
        yield Part(p, run, first, count, p.start + start, p.start + last + run.cost)


def strokes(spans: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> str:
    """Spans of units, in order, as one path of level strokes; touching ones part if they can."""
    merged: list[list[int]] = []
    for start, end in spans:
        last = merged[-1] if merged else None
        # What has no width of its own yet takes the next one in.
        if last and start <= last[1] and (end - last[0] < GAP or last[0] == last[1]):
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    path: list[str] = []
    at = 0
    for i, (start, end) in enumerate(merged):
        touches = i + 1 < len(merged) and merged[i + 1][0] <= end
        length = max(1, end - start - (touches and end - start >= GAP))
        path.append(f"M{start} 0h{length}" if not path else f"m{start - at} 0h{length}")
        at = start + length
    return "".join(path)


def lanes(found: Timeline, window: Window, shown: list[Part]) -> dict[str, str]:
    """Paths: layers that compute (every other one apart), forwards, hidden, exposed."""
    layers: list[list[tuple[int, int]]] = [[], []]
    forwards = []
    for p in found.passes:
        if p.number and window.shows(p.forward, p.start):
            forwards.append((window.x(p.forward), window.x(p.start)))
        if not window.shows(p.start, p.end):
            continue
        for i, interval in enumerate(found.intervals):
            start, end = p.start + interval.start, p.start + interval.end
            if end > start and window.shows(start, end):
                layers[i % 2].append((window.x(start), window.x(end)))
    hidden: list[tuple[int, int]] = []
    exposed: list[tuple[int, int]] = []
    for a in shown:
        start, end, over = a.start, a.end, a.of.end
        if start < over:
            hidden.append((window.x(start), window.x(min(end, over))))
        if end > over:
            exposed.append((window.x(max(start, over)), window.x(end)))
    return {
        "even": _plain(layers[0]),
        "odd": _plain(layers[1]),
        "forward": _plain(forwards),
        "hidden": strokes(hidden),
        "exposed": strokes(exposed),
    }


def _plain(spans: list[tuple[int, int]]) -> str:
    """Spans as they are, without gaps."""
    path: list[str] = []
    at = 0
    for start, end in spans:
        if end <= start:
            continue
        path.append(f"M{start} 0h{end - start}" if not path else f"m{start - at} 0h{end - start}")
        at = end
    return "".join(path)


@dataclass(slots=True)
class Bar:
    """Parts in a row that are touched as one; their sums are exact."""

    head: Part
    tail: Part
    count: int
    bytes: int
    busy: int
    exposed: int

    @classmethod
    def of(cls, part: Part) -> Bar:
        return cls(part, part, part.count, part.bytes, part.busy, part.exposed)

    def take(self, other: Bar) -> None:
        """The next one, too."""
        self.tail = other.tail
        self.count += other.count
        self.bytes += other.bytes
        self.busy += other.busy
        self.exposed += other.exposed

    @property
    def first(self) -> int:
        return self.head.number

    @property
    def last(self) -> int:
        return self.tail.number + self.tail.count - 1

    @property
    def start(self) -> int:
        return self.head.start

    @property
    def end(self) -> int:
        return self.tail.end

    def holds(self, number: int) -> bool:
        return self.first <= number <= self.last

    @property
    def ends(self) -> tuple[Tensor, Tensor]:
        """The first tensor and the last."""
        first, last = self.head.run.planned, self.tail.run.planned
        return first.pieces[0].segment.entries[0], last.pieces[-1].segment.entries[0]


def bars(window: Window, shown: list[Part]) -> list[Bar]:
    """Parts of one pass together until they are wide enough to be touched."""
    made: list[Bar] = []
    least = max(1, LEAST * window.span // WIDTH)
    for part in shown:
        bar = made[-1] if made else None
        if bar and bar.head.of is part.of and bar.end - bar.start < least:
            bar.take(Bar.of(part))
            continue
        if bar and bar.head.of is not part.of:
            _fold_rest(made, least)
        made.append(Bar.of(part))
    _fold_rest(made, least)
    return made


def _fold_rest(made: list[Bar], least: int) -> None:
    """What a pass leaves over, too narrow, goes with the bar before it."""
    if len(made) > 1 and made[-1].head.of is made[-2].head.of:
        last = made[-1]
        if last.end - last.start < least:
            made[-2].take(made.pop())


# ── the axis ────────────────────────────────────────────────────────────────────────────


def marks(window: Window, clock: Clock) -> list[tuple[str, str]]:
    """Where the axis is marked, and what stands there: three to eight round times.

    Where nothing takes any time, the beginning alone.
    """
    rough = (
        (power, digit)
        for power in range(-6, 15)
        for digit in (5, 2, 1)
        if window.span * 10 ** (power + 6) >= 3 * digit * clock.per_second * 10**6
        and digit * clock.per_second * 10**6 >= 10 ** (power + 6)  # a tick at least
    )
    power, digit = next(rough, (0, 0))
    if not digit:
        return [(window.per_cent(window.low), f"0 {clock.unit}")]
    step = Fraction(digit * clock.per_second) / Fraction(10) ** power  # in ticks
    decimals = max(0, power - len(str(clock.scale)) + 1)
    return [
        (
            window.per_cent(int(n * step)),
            f"{number(n * step * clock.scale / clock.per_second, decimals)} {clock.unit}",
        )
        for n in range(-int(-window.low // step), int(window.high // step) + 1)
    ]
