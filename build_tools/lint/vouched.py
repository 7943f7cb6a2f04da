"""Figures that a claim vouches for: those its comparisons rest on.

What else is typed inside a claim is typed by hand like anything outside it: the claim would
hold and the figure lie.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from build_tools.calls import parse_call
from build_tools.lint import units
from build_tools.lint.figures import Typed

if TYPE_CHECKING:
    from py_core.terms import Comparison, Term

_PURE = ("percent", "times", "fraction", "copies", "ratio", "count", "spelled", "decimal", "large")


@dataclass(slots=True)
class _Held:
    """What the comparisons of a claim hold."""

    lines: set[Fraction] = field(default_factory=set)  # numbers written into it: 2 × G, 1.2
    counts: set[Fraction] = field(default_factory=set)  # all its values without a dimension
    measures: list[tuple[tuple[int, ...], Fraction]] = field(default_factory=list)
    between: list[tuple[Fraction, Fraction]] = field(default_factory=list)  # from here to there


def vouches(claim: str, typed: Typed) -> bool:
    """Whether the claim ``claim``, as its tag writes it, rests on the figure."""
    held = _held(claim)
    if held is None or typed.worth is None:
        return False
    if typed.kind.what in _PURE and not (typed.unit and units.exact(typed.unit)):
        return _is_number_of(held, typed, typed.worth)
    return _is_measure_of(held, typed, typed.worth)


def _is_number_of(held: _Held, typed: Typed, worth: Fraction) -> bool:
    if worth in held.counts or worth in held.lines:
        return True
    if typed.kind.what == "fraction" and worth and 1 / worth in held.lines:
        return True  # the third of what 3 × it equals
    if typed.kind.what == "percent" and worth + 1 in held.lines:
        return True  # grows by less than two tenths: less than 1.2 times
    if any(low < worth < high for low, high in held.between):
        return True
    return any(_rounds_to(v, typed, worth) for v in held.counts)


def _rounds_to(value: Fraction, typed: Typed, worth: Fraction) -> bool:
    """Whether ``value`` reads like the figure, typed in digits, with as many decimals."""
    if not typed.digits.isascii():
        return False
    decimals = len(typed.digits.partition(".")[2])
    one = worth / typed.number if typed.number else Fraction(1)
    significant = typed.digits.replace(".", "").lstrip("0")
    return len(significant) > 1 and round(value / one * 10**decimals) == worth / one * 10**decimals


def _is_measure_of(held: _Held, typed: Typed, worth: Fraction) -> bool:
    from py_core.units import UNITS

    unit = typed.unit.replace("半", "")  # two and a half months are worth as much already
    exact = units.exact(unit)
    if exact:
        dimension = UNITS["B" if exact[0] == "byte" else "s"].dimension
        if (dimension, worth * exact[1]) in held.measures:
            return True
    for known in map(UNITS.__getitem__, units.units_named(typed.unit)):
        values = [v / known.scale for d, v in held.measures if d == known.dimension]
        if worth in values or any(_rounds_to(v, typed, worth) for v in values):
            return True
    return False


@lru_cache(maxsize=512)
def _held(claim: str) -> _Held | None:
    """None for a claim that cannot be judged, which the page reports."""
    from py_core.claims import judge
    from py_core.scenario import DEFAULT

    try:
        call = parse_call(f"claim({claim})")
        pins = {name: str(value) for name, value in call.options.items()}
        verdict = judge(call.one_name("claim"), DEFAULT.with_fields(pins))
    except (ValueError, TypeError, ArithmeticError, RecursionError):  # LessonError too
        return None
    held = _Held()
    for comparison in verdict.comparisons:
        _add(held, comparison)
    held.between = _ranges(verdict.comparisons)
    return held


def _add(held: _Held, comparison: Comparison) -> None:
    from py_core.inputs import Convention
    from py_core.quantity import Quantity
    from py_core.terms import Named
    from py_core.units import COUNT

    def of(term: Term) -> None:
        if term.dimension == COUNT:
            held.counts.add(term.value)
        else:
            held.measures.append((term.dimension, term.value))
        if isinstance(term, Named):
            if isinstance(term.source, Quantity):
                # A line that its own formula draws: the first card above a coefficient of 1.9.
                for inner in term.source.inputs:
                    if isinstance(inner.source, Convention) and inner.dimension == COUNT:
                        held.lines.add(inner.value)
            elif term.dimension == COUNT:
                held.lines.add(term.value)
            return
        parts = [getattr(term, name, None) for name in ("left", "right", "base")]
        parts += getattr(term, "arguments", ())
        if not any(parts) and term.dimension == COUNT:
            held.lines.add(term.value)
        for part in parts:
            if part is not None:
                of(part)

    of(comparison.left)
    of(comparison.right)


def _ranges(comparisons: tuple[Comparison, ...]) -> list[tuple[Fraction, Fraction]]:
    """The ranges in which a claim holds one term: above 0.3 and below 0.35."""
    lows = {c.left.symbolic(): c.right.value for c in comparisons if c.sign in (">", "≥")}
    highs = {c.left.symbolic(): c.right.value for c in comparisons if c.sign in ("<", "≤")}
    return [(low, highs[term]) for term, low in lows.items() if term in highs]
