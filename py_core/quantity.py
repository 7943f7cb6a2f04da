"""Quantities: every figure of the site, by name, as a function of a Scenario.

A quantity is declared once::

    @quantity("ring.sent_per_card", "GB", "环形 all-reduce：每张卡每步发出的字节")
    def _(at: At) -> Term:
        n, g = at.cards, at("gradient.bytes")
        return 2 * (n - 1) / n * g

and :func:`evaluate` gives its exact value, how it is shown, its formula and its
inputs, each of which is again a quantity, a Scenario field, a config field, a paper
fact or a stated convention.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import Any

from py_core import facts
from py_core.errors import LessonError, UnknownName
from py_core.inputs import (
    ConfigInput,
    Convention,
    CountedInput,
    FactInput,
    Measurement,
    ScenarioInput,
)
from py_core.inventory import Inventory
from py_core.scenario import DEFAULT, SPECS, Scenario
from py_core.terms import Named, Term, ambiguous
from py_core.units import MOST_DIGITS, Dimension, Unit, check, dimension_name, display, number, unit

FORMULA_DIGITS = 3  # so that a displayed product holds: 1.75 × 55.563 GB = 97.2 GB

Formula = Callable[["At"], Term]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One figure for one Scenario. ``term`` holds the exact value and how it came about.

    ``where`` lists the Scenario fields that were fixed for it, whatever the reader chose:
    the 1,024 cards of "from 8 to 1,024 cards".
    """

    name: str
    says: str
    unit: Unit
    symbol: str
    term: Term
    where: tuple[tuple[str, str], ...] = ()

    @property
    def value(self) -> Fraction:
        """Exact, in base units: bytes, FLOP, seconds, parameters, tokens, counts."""
        return self.term.value

    def display(self, unit_name: str | None = None, digits: int | None = None) -> str:
        """As readers see it. ``unit_name`` must be of the same dimension."""
        shown_in = self.unit
        if unit_name is not None:
            shown_in = unit(unit_name)
            check(self.term.dimension, shown_in, f"unit of {self.name}")
        return display(self.value, shown_in, digits)

    @property
    def formula(self) -> str:
        return self.term.symbolic()

    @property
    def substituted(self) -> str:
        return self.term.substituted()

    @property
    def inputs(self) -> list[Named]:
        return self.term.named()

    @property
    def full(self) -> str:
        """Full precision in base units; fifteen significant digits and … of what has no end."""
        digits = _decimals(self.value.denominator)
        if digits is not None:
            return number(self.value, digits)
        return f"{float(self.value):,.15g}…"

    def record(self, *, tree: bool = True) -> dict[str, Any]:
        """The quantity as JSON: value in ``unit``, display, formula, and the inputs as a tree.

        Without ``tree``, the quantities among the inputs are named and not unfolded.
        """
        scaled = self.value / self.unit.scale
        return {
            "name": self.name,
            "says": self.says,
            **({"where": dict(self.where)} if self.where else {}),
            "value": scaled.numerator if scaled.denominator == 1 else float(scaled),
            "unit": self.unit.name,
            "display": self.display(),
            "exact": f"{self.value} {dimension_name(self.term.dimension)}",
            "formula": self.formula,
            "substituted": self.substituted,
            "inputs": [
                {"symbol": n.symbol, "says": n.source.says, "display": n.shown}
                | _origin(n.source, tree)
                for n in self.inputs
            ],
        }


def _decimals(denominator: int) -> int | None:
    """How many decimals a fraction has; None where they never end, or are too many to read."""
    twos, fives = (_power(denominator, base) for base in (2, 5))
    ends = denominator == 2**twos * 5**fives
    return max(twos, fives) if ends and max(twos, fives) <= MOST_DIGITS else None


def _power(whole: int, base: int) -> int:
    times = 0
    while whole % base == 0:
        whole, times = whole // base, times + 1
    return times


def _origin(source: Any, tree: bool) -> dict[str, Any]:
    if isinstance(source, Quantity):
        return {"kind": "quantity", **(source.record() if tree else {"name": source.name})}
    return dict(source.record())


@dataclass(frozen=True, slots=True)
class Declaration:
    name: str
    unit: Unit
    says: str
    symbol: str
    formula: Formula


_DECLARED: dict[str, Declaration] = {}


def quantity(
    name: str, unit_name: str, says: str, symbol: str | None = None
) -> Callable[[Formula], Formula]:
    """Register a formula under ``name``, shown in ``unit_name``; ``symbol`` names it in others."""

    def register(formula: Formula) -> Formula:
        if name in _DECLARED or name in SPECS:
            raise LessonError("quantity", name, "a name that is not taken")
        _DECLARED[name] = Declaration(name, unit(unit_name), says, symbol or name, formula)
        return formula

    return register


class At:
    """A Scenario in which quantities are evaluated, each once.

    ``at.cards`` (any Scenario field) and ``at("gradient.bytes")`` (any quantity) are
    terms to calculate with; ``at.where(cards=1024)("gradient.bytes")`` is one of another
    Scenario, and its symbol says so.
    """

    def __init__(self, scenario: Scenario, where: tuple[tuple[str, str], ...] = ()) -> None:
        self.scenario = scenario
        self._where = where
        self._evaluated: dict[str, Quantity] = {}
        self._terms: dict[str, Named] = {}
        self._elsewhere: dict[tuple[tuple[str, str], ...], At] = {}

    def where(self, **changes: object) -> At:
        """This evaluation with some Scenario fields fixed, for comparing two Scenarios."""
        key = (*self._where, *((name, str(value)) for name, value in changes.items()))
        if key not in self._elsewhere:
            self._elsewhere[key] = At(self.scenario.with_fields(changes), key)
        return self._elsewhere[key]

    def quantity(self, name: str) -> Quantity:
        """The quantity called ``name`` here. Raises :class:`UnknownName`."""
        if name not in self._evaluated:
            self._evaluated[name] = self._evaluate(name)
        return self._evaluated[name]

    def _evaluate(self, name: str) -> Quantity:
        if name in SPECS and not SPECS[name].choices:
            spec = SPECS[name]
            term: Term = self.field(name)
            return Quantity(name, spec.says, unit(spec.unit), spec.symbol, term, self._where)
        declared = _declared(name)
        if declared is None:
            raise UnknownName("quantity", name, meanings())
        term = declared.formula(self)
        check(term.dimension, declared.unit, f"unit of {name}")
        symbol = ambiguous(term)
        if symbol is not None:
            raise LessonError(f"formula of {name}", symbol, "one symbol for each input")
        return Quantity(name, declared.says, declared.unit, declared.symbol, term, self._where)

    def __call__(self, name: str, symbol: str | None = None) -> Named:
        """The quantity called ``name`` as a term, under its own symbol or ``symbol``."""
        if symbol is None and name in self._terms:
            return self._terms[name]
        q = self.quantity(name)
        written = symbol or q.symbol
        if self._where and symbol is None:
            written += f"（{'，'.join(_fixed(*change) for change in self._where)}）"
        term = Named(written, q.value, q.term.dimension, q, partial(_precise, q.value, q.unit))
        if symbol is None:
            self._terms[name] = term
        return term

    def field(self, name: str) -> Named:
        spec = SPECS[name]
        shown_in = unit(spec.unit)
        value = Fraction(getattr(self.scenario, name)) * shown_in.scale
        shown = partial(display, value, shown_in)
        return Named(spec.symbol, value, shown_in.dimension, ScenarioInput(spec), shown)

    def __getattr__(self, name: str) -> Named:
        if name not in SPECS:
            raise AttributeError(name)
        term = self.field(name)
        setattr(self, name, term)  # the next look-up finds it as an ordinary attribute
        return term

    @cached_property
    def inventory(self) -> Inventory:
        """The model's tensors. Raises ConfigError where the config is at fault."""
        return self.scenario.model.inventory

    def given(self, symbol: str, value: Fraction | int, unit_name: str, says: str) -> Named:
        """A constant with a reason, for example 2 bytes per bf16 number."""
        return self._leaf(symbol, Fraction(value), unit_name, Convention(says))

    def measured(self, symbol: str, value: Fraction | int, unit_name: str, says: str) -> Named:
        """What was measured; ``says`` when and with what."""
        return self._leaf(symbol, Fraction(value), unit_name, Measurement(says))

    def fact(self, fact_id: str, symbol: str, unit_name: str) -> Named:
        """A paper fact that is one number, shown in ``unit_name``.

        Raises :class:`UnknownName`, and :class:`UnitError` where the file states the fact
        in a unit of another dimension.
        """
        fact = facts.fact(fact_id)
        shown_in, stated_in = unit(unit_name), fact.stated_in
        check(stated_in.dimension, shown_in, f"unit of fact {fact_id}")
        value = fact.number * stated_in.scale
        shown = partial(display, value, shown_in)
        return Named(symbol, value, shown_in.dimension, FactInput(fact), shown)

    def printed(self, fact_id: str, symbol: str, value: int, unit_name: str = "count") -> Named:
        """A number out of a printed list or formula: the 34 of ``34sbh/t``.

        Raises :class:`LessonError` where the fact does not hold that number.
        """
        fact = facts.fact(fact_id)
        held = re.findall(r"[0-9]+(?:\.[0-9]+)?", str(fact.value))
        if str(value) not in held:
            raise LessonError(f"fact {fact_id}", value, ", ".join(held) or "a fact with numbers")
        return self._leaf(symbol, Fraction(value), unit_name, FactInput(fact))

    def counted(
        self, symbol: str, value: Fraction | int, says: str, unit_name: str = "params"
    ) -> Named:
        """A count over the model's inventory, parameters as a rule."""
        model = self.scenario.model
        source = CountedInput(model.name, model.file, says)
        return self._leaf(symbol, Fraction(value), unit_name, source)

    def config(self, symbol: str, value: int, unit_name: str, pointer: str, says: str) -> Named:
        """A field of the model's config."""
        model = self.scenario.model
        return self._leaf(
            symbol, Fraction(value), unit_name, ConfigInput(pointer, model.name, model.file, says)
        )

    def _leaf(self, symbol: str, value: Fraction, unit_name: str, source: Any) -> Named:
        shown_in = unit(unit_name)
        exact = value * shown_in.scale
        return Named(symbol, exact, shown_in.dimension, source, partial(display, exact, shown_in))


def _fixed(name: str, value: str) -> str:
    symbol = SPECS[name].symbol if name in SPECS else name
    return f"{symbol} = {int(value):,}" if value.isdecimal() else f"{symbol} = {value}"


def _precise(value: Fraction, shown_in: Unit) -> str:
    """As a formula shows an input: whole values whole, others with three decimals."""
    scaled = value / shown_in.scale
    if scaled.denominator == 1:
        return display(value, shown_in, 0)
    return display(value, shown_in, max(FORMULA_DIGITS, shown_in.digits(scaled)))


# What most figures rest on first, what takes longest to import last.
_MODULES = (
    "model",
    "state",
    "zero",
    "compute",
    "allreduce",
    "schemes",
    "crossovers",
    "communication",
    "timeline",
    "averaging",
    "activations",
    "tensor_parallel",
    "pipeline",
    "zero_bubble",
    "context_parallel",
    "expert_parallel",
    "reports",
)


@lru_cache(maxsize=1)
def _declare_all() -> None:
    for module in _MODULES:
        importlib.import_module(f"py_core.quantities.{module}")


def _declared(name: str) -> Declaration | None:
    """What is registered under ``name``. Modules are imported until one has it: in a browser
    that takes long, and a first frame shows few figures."""
    for module in _MODULES:
        if name in _DECLARED:
            break
        importlib.import_module(f"py_core.quantities.{module}")
    return _DECLARED.get(name)


@lru_cache(maxsize=64)
def at(scenario: Scenario = DEFAULT) -> At:
    """The evaluation of ``scenario``; asking again for the same Scenario is free."""
    return At(scenario)


def names() -> list[str]:
    """Every registered quantity, Scenario fields included."""
    return sorted(meanings())


def meanings() -> dict[str, str]:
    """Every registered quantity with what it is, in the reader's words, whether or not it can
    be computed for a model."""
    _declare_all()
    fields = {name: spec.says for name, spec in SPECS.items() if not spec.choices}
    return fields | {name: declared.says for name, declared in _DECLARED.items()}


def meaning(name: str) -> str:
    """What the quantity called ``name`` is. Raises :class:`UnknownName`."""
    known = meanings()
    if name not in known:
        raise UnknownName("quantity", name, known)
    return known[name]


def evaluate(name: str, scenario: Scenario = DEFAULT) -> Quantity:
    """The quantity called ``name`` for ``scenario``.

    Raises :class:`UnknownName`, or ConfigError where the model's config is at fault.

    >>> evaluate("ring.sent_per_card").display()
    '97.2 GB'
    """
    return at(scenario).quantity(name)


__all__ = ["At", "Dimension", "Quantity", "at", "evaluate", "names", "quantity"]
