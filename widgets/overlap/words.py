"""The words of the timeline: times, what a bucket holds, what runs at a moment."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from py_core.buckets import Piece
from py_core.inventory import Tensor
from py_core.units import display, unit

PARTS = {
    "embedding": "嵌入",
    "position": "位置嵌入",
    "norm": "最后的归一化",
    "lm_head": "输出头",
    "vision": "视觉塔",
    "mtp": "MTP",
}
_UNITS = (("s", 1), ("ms", 10**3), ("µs", 10**6), ("ns", 10**9))
_LISTED = 4  # tensors of a bucket that are named


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes ticks as times of one unit, with as many decimals as tell places apart."""

    per_second: int
    unit: str
    scale: int
    digits: int

    @classmethod
    def for_span(cls, ticks: int, whole: int, per_second: int) -> Clock:
        """For a window of ``ticks`` out of ``whole``: about a thousand places in the window."""
        name, scale = next((u for u in _UNITS if whole * u[1] >= per_second), _UNITS[-1])
        digits = 3
        while digits < 9 and ticks * scale * 10**digits < 1_000 * per_second:
            digits += 1
        return cls(per_second, name, scale, digits)

    def number(self, ticks: int) -> str:
        """Half-even, as everywhere."""
        return f"{self._digits(ticks)}"

    def _digits(self, ticks: int) -> str:
        power = 10**self.digits
        scaled, rest = divmod(ticks * self.scale * power, self.per_second)
        twice = 2 * rest
        scaled += twice > self.per_second or (twice == self.per_second and scaled % 2 == 1)
        whole, part = divmod(scaled, power)
        return f"{whole:,}.{part:0{self.digits}d}"

    def __call__(self, ticks: int) -> str:
        return f"{self._digits(ticks)} {self.unit}"


def size(count: int) -> str:
    """Bytes as readers see them, in decimal units."""
    name = "GB" if count >= 10**9 else "MB" if count >= 10**6 else "kB" if count >= 1000 else "B"
    shown_in = unit(name)
    scaled = count / shown_in.scale
    return display(Fraction(count), shown_in, None if scaled.denominator == 1 else 1)


def place(entry: Tensor) -> str:
    """Where in the model a tensor is."""
    if entry.part == "layers":
        return f"第 {entry.layer} 层"
    return PARTS[entry.part]


def short(name: str, entry: Tensor) -> str:
    """A tensor's name without what its place says already."""
    inside = f"layers.{entry.layer}."
    if entry.layer is not None and inside in name:
        name = name.partition(inside)[2]
    return name.removesuffix(".weight").removeprefix("model.")


def contents(pieces: Iterable[Piece]) -> str:
    """A bucket's tensors in one line: place by place, the first few named."""
    lines: list[tuple[str, list[str], int]] = []
    for piece in pieces:
        entry = piece.segment.entries[0]
        where = place(entry)
        if not lines or lines[-1][0] != where:
            lines.append((where, [], 0))
        _, named, count = lines[-1]
        if len(named) < _LISTED:
            named.append(_named(piece, entry))
        lines[-1] = where, named, count + piece.count
    return "；".join(_line(*line) for line in lines)


def _named(piece: Piece, entry: Tensor) -> str:
    first = short(piece.first, entry)
    if piece.count == 1:
        return first
    return f"{first} … {short(piece.last, entry)}（{piece.count:,} 个张量）"


def _line(where: str, named: list[str], count: int) -> str:
    listed = "、".join(named)
    shown = len(named)
    more = f" 等 {count:,} 个张量" if count > shown and "（" not in listed else ""
    gap = " " if where[-1].isascii() else ""
    return f"{where}{gap}的 {listed}{more}"


def spread(first: Tensor, last: Tensor) -> str:
    """From where to where in the model several buckets reach."""
    begin, end = place(first), place(last)
    return begin if begin == end else f"{begin}到{spaced(end)}"


def spaced(name: str) -> str:
    """A name within Chinese: a space before Latin letters, as between all of them here."""
    return f" {name}" if name[0].isascii() else name
