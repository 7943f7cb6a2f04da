"""Arithmetic that remembers how it was done.

A quantity is written once, as ordinary Python over terms; out of it come the exact
value, the check of its units and the formula a reader sees. So a formula on the page
cannot disagree with the number beside it.

>>> n = Named("N", Fraction(8), COUNT, None)
>>> coefficient = 2 * (n - 1) / n
>>> coefficient.value, coefficient.symbolic(), coefficient.substituted()
(Fraction(7, 4), '2 × (N − 1) ÷ N', '2 × 7 ÷ 8')
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, floor
from typing import Any

from py_core.errors import UnitError
from py_core.units import COUNT, Dimension, dimension_name, number, over, times

_SUM, _PRODUCT, _ATOM = 1, 2, 3  # how tightly an operator binds
_SIGNS = {"+": _SUM, "−": _SUM, "×": _PRODUCT, "÷": _PRODUCT}

Exact = int | Fraction


class Term:
    """A node of a formula: exact ``value`` in base units, ``dimension``, and how it was made."""

    __slots__ = ("dimension", "value")

    value: Fraction
    dimension: Dimension
    binds = _ATOM

    def symbolic(self) -> str:
        raise NotImplementedError

    def substituted(self) -> str:
        raise NotImplementedError

    def named(self) -> list[Named]:
        """The named terms it was made from, each once, in the order of the formula."""
        return []

    def __add__(self, other: Term | Exact) -> Term:
        return _Operation("+", self, _term(other))

    def __radd__(self, other: Exact) -> Term:
        return _Operation("+", _term(other), self)

    def __sub__(self, other: Term | Exact) -> Term:
        return _Operation("−", self, _term(other))

    def __rsub__(self, other: Exact) -> Term:
        return _Operation("−", _term(other), self)

    def __mul__(self, other: Term | Exact) -> Term:
        return _Operation("×", self, _term(other))

    def __rmul__(self, other: Exact) -> Term:
        return _Operation("×", _term(other), self)

    def __truediv__(self, other: Term | Exact) -> Term:
        return _Operation("÷", self, _term(other))

    def __rtruediv__(self, other: Exact) -> Term:
        return _Operation("÷", _term(other), self)

    # Claims are comparisons of terms; they remember both sides, as formulas do.

    def __gt__(self, other: Term | Exact) -> Comparison:
        return Comparison(self, ">", _term(other))

    def __ge__(self, other: Term | Exact) -> Comparison:
        return Comparison(self, "≥", _term(other))

    def __lt__(self, other: Term | Exact) -> Comparison:
        return Comparison(self, "<", _term(other))

    def __le__(self, other: Term | Exact) -> Comparison:
        return Comparison(self, "≤", _term(other))

    def equals(self, other: Term | Exact) -> Comparison:
        return Comparison(self, "=", _term(other))


class Comparison:
    """Two terms of one dimension compared: true or false, and what it rests on."""

    __slots__ = ("holds", "left", "right", "sign")

    def __init__(self, left: Term, sign: str, right: Term) -> None:
        _same_dimension(sign, left, right)
        self.left, self.sign, self.right = left, sign, right
        a, b = left.value, right.value
        self.holds = {">": a > b, "≥": a >= b, "<": a < b, "≤": a <= b, "=": a == b}[sign]

    def __bool__(self) -> bool:
        return self.holds

    def symbolic(self) -> str:
        return f"{self.left.symbolic()} {self.sign} {self.right.symbolic()}"

    def substituted(self) -> str:
        return f"{self.left.substituted()} {self.sign} {self.right.substituted()}"

    def named(self) -> list[Named]:
        return _unique(self.left.named() + self.right.named())


class _Number(Term):
    __slots__ = ()

    def __init__(self, value: Exact) -> None:
        self.value, self.dimension = Fraction(value), COUNT

    def symbolic(self) -> str:
        if self.value.denominator == 1:
            return number(self.value, 0)
        return f"{self.value.numerator}/{self.value.denominator}"

    substituted = symbolic


class Named(Term):
    """A symbol of a formula and what it stands for.

    ``source`` is whatever the provenance panel opens for it: a quantity, a Scenario
    field, a config field, a paper fact. ``shown``, text or a function that writes it
    when somebody looks, is how its value reads.
    """

    __slots__ = ("_shown", "source", "symbol")

    def __init__(
        self,
        symbol: str,
        value: Fraction,
        dimension: Dimension,
        source: Any,
        shown: str | Callable[[], str] | None = None,
    ) -> None:
        self.symbol, self.value, self.dimension, self.source = symbol, value, dimension, source
        self._shown = shown

    @property
    def shown(self) -> str:
        if not isinstance(self._shown, str):
            self._shown = _plain(self.value) if self._shown is None else self._shown()
        return self._shown

    def symbolic(self) -> str:
        return self.symbol

    def substituted(self) -> str:
        return self.shown

    def named(self) -> list[Named]:
        return [self]

    def stands_for_the_same(self, other: Named) -> bool:
        """Whether both mean one thing, so that a formula may write one symbol for them."""
        return self is other or (
            self.value == other.value
            and self.dimension == other.dimension
            and (self.source is other.source or bool(self.source == other.source))
        )


class _Operation(Term):
    __slots__ = ("binds", "left", "right", "sign")

    def __init__(self, sign: str, left: Term, right: Term) -> None:
        self.sign, self.left, self.right = sign, left, right
        self.binds = _SIGNS[sign]
        a, b = left.value, right.value
        match sign:
            case "×":
                self.value, self.dimension = a * b, times(left.dimension, right.dimension)
            case "÷":
                self.value, self.dimension = a / b, over(left.dimension, right.dimension)
            case _:
                _same_dimension(sign, left, right)
                self.value, self.dimension = (a + b if sign == "+" else a - b), left.dimension

    def symbolic(self) -> str:
        return self._written(lambda t: t.symbolic(), fold=False)

    def substituted(self) -> str:
        return self._written(lambda t: t.substituted(), fold=True)

    def _written(self, write: Any, fold: bool) -> str:
        def part(term: Term, bracket: bool) -> str:
            # With numbers put in, a bracket of plain counts is worked out: (8 − 1) reads 7.
            if bracket and fold and term.dimension == COUNT and term.value.denominator == 1:
                text, bracket = number(term.value, 0), False
            else:
                text = str(write(term))
            negative = term is self.right and text.startswith("−")
            return f"({text})" if bracket or negative else text

        tight = self.sign in "−÷"
        left = part(self.left, self.left.binds < self.binds)
        right = part(
            self.right, self.right.binds < self.binds or (tight and self.right.binds == self.binds)
        )
        return f"{left} {self.sign} {right}"

    def named(self) -> list[Named]:
        return _unique(self.left.named() + self.right.named())


class Applied(Term):
    """A function or a choice: ⌈log₂ N⌉, min(a, b). ``written`` has one ``{}`` per argument.

    The result has the dimension of its arguments, which share one.
    """

    __slots__ = ("arguments", "written")

    def __init__(self, written: str, value: Fraction | int, *arguments: Term) -> None:
        self.written, self.value, self.arguments = written, Fraction(value), arguments
        self.dimension = arguments[0].dimension
        for other in arguments[1:]:
            _same_dimension(written, arguments[0], other)

    def symbolic(self) -> str:
        return self.written.format(*(a.symbolic() for a in self.arguments))

    def substituted(self) -> str:
        return self.written.format(*(a.substituted() for a in self.arguments))

    def named(self) -> list[Named]:
        return _unique([n for a in self.arguments for n in a.named()])


class _Power(Term):
    __slots__ = ("base",)

    def __init__(self, base: Term) -> None:
        self.base = base
        self.value, self.dimension = base.value**2, times(base.dimension, base.dimension)

    def _written(self, text: str) -> str:
        return f"{text}²" if self.base.binds == _ATOM and " " not in text else f"({text})²"

    def symbolic(self) -> str:
        return self._written(self.base.symbolic())

    def substituted(self) -> str:
        return self._written(self.base.substituted())

    def named(self) -> list[Named]:
        return self.base.named()


def square(a: Term) -> Term:
    return _Power(a)


def ceil_log2(n: Term) -> Term:
    """⌈log₂ n⌉ of a whole count."""
    return Applied("⌈log₂ {}⌉", (int(n.value) - 1).bit_length(), n)


def floor_log2(n: Term) -> Term:
    """⌊log₂ n⌋ of a whole count; where n is a power of two, the brackets are left out."""
    k = int(n.value).bit_length() - 1
    return Applied("log₂({})" if 1 << k == n.value else "⌊log₂ {}⌋", k, n)


def whole_part(a: Term) -> Term:
    """⌊a⌋ of a count, or of a value whose base unit is indivisible, such as tokens."""
    return Applied("⌊{}⌋", floor(a.value), a)


def rounded_up(a: Term) -> Term:
    """⌈a⌉, as :func:`whole_part`."""
    return Applied("⌈{}⌉", -floor(-a.value), a)


def choose(n: Term, k: Term) -> Term:
    """C(n, k): the ways of picking k out of n, whole counts."""
    return Applied("C({}, {})", comb(int(n.value), int(k.value)), n, k)


def smaller(a: Term, *others: Term) -> Term:
    """min(a, b, …)."""
    listed = ", ".join(["{}"] * (1 + len(others)))
    return Applied(f"min({listed})", min(t.value for t in (a, *others)), a, *others)


def total(terms: list[Term]) -> Term:
    """a + b + c …, at least one."""
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def _term(value: Term | Exact) -> Term:
    if isinstance(value, Term):
        return value
    if isinstance(value, float):
        raise TypeError(f"terms are exact: write {value} as a whole number or a Fraction")
    return _Number(value)


def _same_dimension(sign: str, left: Term, right: Term) -> None:
    if left.dimension != right.dimension:
        raise UnitError(
            f"{left.symbolic()} {sign} {right.symbolic()}",
            dimension_name(right.dimension),
            dimension_name(left.dimension),
        )


def _plain(value: Fraction) -> str:
    digits = 0
    while digits < 6 and (value * 10**digits).denominator != 1:
        digits += 1
    return number(value, digits)


def _unique(named: list[Named]) -> list[Named]:
    """Each input once. Two inputs under one symbol both stay, for :func:`ambiguous` to find."""
    kept: list[Named] = []
    for n in named:
        if not any(n.symbol == k.symbol and n.stands_for_the_same(k) for k in kept):
            kept.append(n)
    return kept


def ambiguous(term: Term | Comparison) -> str | None:
    """A symbol that the formula uses for two different things, if there is one."""
    seen: set[str] = set()
    for n in term.named():
        if n.symbol in seen:
            return n.symbol
        seen.add(n.symbol)
    return None
