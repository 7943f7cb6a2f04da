"""Claims: what the page states, as something that can be judged for any Scenario.

A claim is declared once::

    @claim("comm_exceeds_backward", "通信比反向计算久", "反向要 {backward.seconds}，…")
    def _(at: At) -> list[Comparison]:
        return [at("communication.seconds") > at("backward.seconds")]

and holds when all its comparisons do. The last text says what holds instead where it
does not; ``{name}`` in it is filled with the quantity of that name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from py_core.errors import LessonError, UnknownName
from py_core.inputs import ScenarioInput
from py_core.quantity import At, Quantity, at
from py_core.scenario import DEFAULT, SPECS, Scenario
from py_core.terms import Comparison, Named, ambiguous

Judgement = Callable[[At], list[Comparison]]

_PLACE = re.compile(r"\{([^{}]+)\}")
_OPPOSITE = {">": "≤", "≥": "<", "<": "≥", "≤": ">", "=": "≠"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim judged. ``instead`` is empty where it holds, else a sentence of what does."""

    name: str
    says: str
    holds: bool
    comparisons: tuple[Comparison, ...]
    rests_on: tuple[str, ...]
    instead: str

    def record(self) -> dict[str, Any]:
        """The verdict as JSON."""
        return {
            "name": self.name,
            "says": self.says,
            "holds": self.holds,
            "comparisons": [
                {"holds": c.holds, "formula": c.symbolic(), "substituted": c.substituted()}
                for c in self.comparisons
            ],
            "rests_on": list(self.rests_on),
            "instead": self.instead,
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the page. ``otherwise`` is the template of what holds instead."""

    name: str
    says: str
    otherwise: str
    judgement: Judgement


_DECLARED: dict[str, Claim] = {}


def claim(name: str, says: str, otherwise: str = "") -> Callable[[Judgement], Judgement]:
    """Register a claim. Without ``otherwise``, the failed comparison itself is written out."""

    def register(judgement: Judgement) -> Judgement:
        if name in _DECLARED:
            raise LessonError("claim", name, "a name that is not taken")
        _DECLARED[name] = Claim(name, says, otherwise, judgement)
        return judgement

    return register


_MODULES = ("one_card", "allreduce", "overlap", "sharding", "pipelines")


@cache
def _declare_all() -> None:
    for module in _MODULES:
        importlib.import_module(f"py_core.statements.{module}")


def claims() -> list[Claim]:
    """Every registered claim, in the order of the chapter."""
    _declare_all()
    return list(_DECLARED.values())


def judge(name: str, scenario: Scenario = DEFAULT) -> Verdict:
    """The claim called ``name`` judged for ``scenario``.

    Raises :class:`UnknownName`, and whatever its quantities raise for that Scenario.
    """
    _declare_all()
    if name not in _DECLARED:
        raise UnknownName("claim", name, {c.name: c.says for c in _DECLARED.values()})
    declared, here = _DECLARED[name], at(scenario)
    comparisons = tuple(declared.judgement(here))
    for comparison in comparisons:
        symbol = ambiguous(comparison)
        if symbol is not None:
            raise LessonError(f"comparison of {name}", symbol, "one symbol for each input")
    holds = all(c.holds for c in comparisons)
    instead = "" if holds else _instead(declared, here, comparisons)
    return Verdict(name, declared.says, holds, comparisons, _rests_on(comparisons), instead)


def _instead(declared: Claim, here: At, comparisons: tuple[Comparison, ...]) -> str:
    if declared.otherwise:
        return fill(declared.otherwise, here)
    failed = next(c for c in comparisons if not c.holds)
    return (
        f"实际上 {failed.left.substituted()} {_OPPOSITE[failed.sign]} {failed.right.substituted()}"
    )


def fill(template: str, here: At) -> str:
    """``template`` with each ``{name}`` replaced by that quantity, or choice, as displayed."""

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in SPECS and SPECS[name].choices:
            return str(getattr(here.scenario, name))
        return here.quantity(name).display()

    return _PLACE.sub(value, template)


def _rests_on(comparisons: tuple[Comparison, ...]) -> tuple[str, ...]:
    named = [n for c in comparisons for n in c.named()]
    return tuple(dict.fromkeys(name for name in map(_name, named) if name))


def _name(term: Named) -> str | None:
    if isinstance(term.source, Quantity):
        return term.source.name
    return term.source.spec.name if isinstance(term.source, ScenarioInput) else None


def multiplied(here: At, field: str, times: int) -> tuple[At, At]:
    """This evaluation, and one whose ``field`` is ``times`` as large.

    Where that would leave the field's range, both start from the largest value that does not.
    """
    few = min(getattr(here.scenario, field), int(SPECS[field].high) // times)
    return here.where(**{field: few}), here.where(**{field: few * times})


def line(here: At, value: str, says: str) -> Named:
    """A line drawn by the page itself: "hardly grows" means by less than a fifth."""
    return here.given(value, Fraction(value), "count", says)
