"""Sliders over a list of values, such as a log scale.

A range input can only go in even steps. So it holds a *place* in a list, the list stands
beside it in ``data-values``, and the runtime sends the value at that place under the name
in ``data-field``: the state knows real values only, however they were chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

Value = int | Fraction


def doublings(low: int, high: int, halfway: bool = False) -> tuple[int, ...]:
    """``low``, twice that, … up to ``high``; ``halfway`` puts 1.5 times each in between."""
    stops = [low]
    while stops[-1] * 2 <= high:
        stops += [stops[-1] * 3 // 2, stops[-1] * 2] if halfway else [stops[-1] * 2]
    return tuple(stops)


def nearest(stops: Sequence[Value], value: Value) -> int:
    """The place of the stop nearest to ``value`` on a log scale; exact, without logarithms."""
    return sum(value * value > below * above for below, above in pairwise(stops))


@dataclass(frozen=True, slots=True)
class Slider:
    """A slider for the field ``name``, which is at ``value`` now; ``stops`` go upwards."""

    name: str
    stops: Sequence[Value]
    value: Value

    @property
    def last(self) -> int:
        return len(self.stops) - 1

    @property
    def place(self) -> int:
        return nearest(self.stops, self.value)

    @property
    def values(self) -> str:
        """What the runtime sends, place by place; as a reader would type it."""
        return " ".join(map(_plain, self.stops))

    @property
    def marks(self) -> list[tuple[str, bool]]:
        """Every whole stop as readers see it, and whether the field is exactly there."""
        return [(f"{stop:,}", stop == self.value) for stop in self.stops]


def _plain(value: Value) -> str:
    """``64``, ``12.5``. Raises ValueError for a value that six decimals cannot say."""
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    if Fraction(text) != value:
        raise ValueError(f"{value} has no short decimal form")
    return text
