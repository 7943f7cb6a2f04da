"""Units: what may be added to what, and how a value is written.

Two layers, kept apart. A *dimension* is what arithmetic checks: bytes, FLOP, seconds,
parameters and tokens, each with an exponent; cards, layers and steps are plain
counts. A *unit* is how a value of one dimension is shown: its scale and its rounding
rule. GB is 10⁹ bytes, MiB is 2²⁰; nothing turns one into the other unasked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from py_core.errors import LessonError, UnitError, UnknownName
from py_core.errors import whole as whole_number

BASES = ("byte", "FLOP", "second", "parameter", "token")
Dimension = tuple[int, ...]

COUNT: Dimension = (0, 0, 0, 0, 0)
BYTE, FLOP, SECOND, PARAMETER, TOKEN = (
    tuple(int(i == base) for i in range(len(BASES))) for base in range(len(BASES))
)


@cache
def times(a: Dimension, b: Dimension) -> Dimension:
    return tuple(x + y for x, y in zip(a, b, strict=True))


@cache
def over(a: Dimension, b: Dimension) -> Dimension:
    return tuple(x - y for x, y in zip(a, b, strict=True))


def dimension_name(dimension: Dimension) -> str:
    """``byte/second``; a plain count is ``1``."""
    above = [b if e == 1 else f"{b}^{e}" for b, e in zip(BASES, dimension, strict=True) if e > 0]
    below = [b if e == -1 else f"{b}^{-e}" for b, e in zip(BASES, dimension, strict=True) if e < 0]
    return "/".join(["·".join(above) or "1", *below])


# Rounding rules: how many decimals a value gets. Rounding is half-even on the exact
# value, so 0.25 to one place is 0.2, in the build and in the browser alike.

Digits = Callable[[Fraction], int]


def fixed(digits: int) -> Digits:
    return lambda _value: digits


def by_magnitude(value: Fraction) -> int:
    """From 1,000 no decimals, from 1 one, below 1 two; tiny values two significant digits."""
    size = abs(value)
    if round(size, 1) >= 1000:
        return 0
    if round(size, 2) >= 1:
        return 1
    digits = 2
    while size and size * 10**digits < 10 and digits < 12:
        digits += 1
    return digits


def seconds(value: Fraction) -> int:
    """Two decimals; below 0.1 two significant digits."""
    return 2 if abs(value) >= Fraction(1, 10) else by_magnitude(value)


def ratio(value: Fraction) -> int:
    """Two decimals, unless that would read 0.00."""
    return 2 if round(abs(value), 2) else by_magnitude(value)


def multiple(value: Fraction) -> int:
    """Multiples (×): 146, 5.6; below 2 two decimals (1.14), unless one says all (1.5)."""
    size = abs(value)
    if round(size, 2) >= 2:
        return 1 if round(size, 1) < 10 else 0
    return 1 if (10 * size).denominator == 1 else ratio(size)


@dataclass(frozen=True, slots=True)
class Unit:
    """How values of one dimension are written: ``shown = value / scale``.

    ``exact``: whole values keep all their digits and are never rounded.
    """

    name: str
    dimension: Dimension
    scale: Fraction
    digits: Digits
    label: str  # what stands behind the number; "" for none
    exact: bool = False


def _unit(
    name: str,
    dimension: Dimension,
    scale: int | Fraction,
    digits: Digits,
    label: str | None = None,
    exact: bool = False,
) -> Unit:
    return Unit(name, dimension, Fraction(scale), digits, name if label is None else label, exact)


_RATE = over(BYTE, SECOND)
_FLOPS = over(FLOP, SECOND)
_PER_PARAMETER = over(BYTE, PARAMETER)
_PER_TOKEN = over(BYTE, TOKEN)
DAY = 24 * 3600
MOST_DIGITS = 100  # decimals; a reader sees a dozen at most

UNITS: dict[str, Unit] = {
    u.name: u
    for u in (
        _unit("B", BYTE, 1, by_magnitude, "字节", exact=True),
        _unit("kB", BYTE, 10**3, by_magnitude, exact=True),
        _unit("MB", BYTE, 10**6, by_magnitude, exact=True),
        _unit("GB", BYTE, 10**9, by_magnitude, exact=True),
        _unit("TB", BYTE, 10**12, by_magnitude, exact=True),
        _unit("MiB", BYTE, 2**20, by_magnitude, exact=True),
        _unit("GiB", BYTE, 2**30, by_magnitude, exact=True),
        _unit("B/param", _PER_PARAMETER, 1, by_magnitude, "字节/参数", exact=True),
        # Coefficients of printed formulas, where a label would only stand in the way.
        _unit("B/token", _PER_TOKEN, 1, by_magnitude, "", exact=True),
        _unit("B/token²", over(_PER_TOKEN, TOKEN), 1, by_magnitude, "", exact=True),
        _unit("FLOP/param/token", over(over(FLOP, PARAMETER), TOKEN), 1, by_magnitude, "", True),
        # The same in a sentence that has said 每个参数 already.
        _unit("bytes each", _PER_PARAMETER, 1, by_magnitude, "字节", exact=True),
        _unit("GB/s", _RATE, 10**9, by_magnitude, exact=True),
        _unit("µs", SECOND, Fraction(1, 10**6), by_magnitude, exact=True),
        _unit("ms", SECOND, Fraction(1, 10**3), by_magnitude, exact=True),
        _unit("s", SECOND, 1, seconds),
        _unit("h", SECOND, 3600, by_magnitude, "小时", exact=True),
        _unit("days", SECOND, DAY, fixed(1), "天"),
        _unit("years", SECOND, 365 * DAY, fixed(0), "年"),
        _unit("FLOP", FLOP, 1, by_magnitude, exact=True),
        _unit("TFLOP", FLOP, 10**12, by_magnitude, exact=True),
        _unit("10²⁴ FLOP", FLOP, 10**24, by_magnitude, "× 10²⁴ FLOP"),
        _unit("TFLOPS", _FLOPS, 10**12, by_magnitude, exact=True),
        _unit("params", PARAMETER, 1, by_magnitude, "", exact=True),
        _unit("B params", PARAMETER, 10**9, by_magnitude, "B 参数", exact=True),
        _unit("tokens", TOKEN, 1, by_magnitude, "", exact=True),
        _unit("pairs", times(TOKEN, TOKEN), 1, by_magnitude, "对", exact=True),
        _unit("count", COUNT, 1, by_magnitude, "", exact=True),
        # Differences of rounding.
        _unit("10⁻³", COUNT, Fraction(1, 10**3), by_magnitude, "× 10⁻³"),
        _unit("10⁻⁷", COUNT, Fraction(1, 10**7), by_magnitude, "× 10⁻⁷"),
        _unit("ratio", COUNT, 1, ratio, ""),
        _unit("×", COUNT, 1, multiple, "倍", exact=True),
        _unit("%", COUNT, Fraction(1, 100), fixed(1)),
    )
}


def unit(name: str) -> Unit:
    """The unit called ``name``. Raises :class:`UnknownName`."""
    if name not in UNITS:
        raise UnknownName("unit", name, UNITS)
    return UNITS[name]


def number(value: Fraction, digits: int) -> str:
    """``value`` with thousands grouped and exactly ``digits`` decimals, half-even, true minus."""
    if type(digits) is not int or not 0 <= digits <= MOST_DIGITS:
        raise LessonError("digits", digits, whole_number(0, MOST_DIGITS))
    rounded = round(value * 10**digits)
    sign = "−" if rounded < 0 else ""
    whole, rest = divmod(abs(rounded), 10**digits)
    return f"{sign}{whole:,}" + (f".{rest:0{digits}d}" if digits else "")


def display(value: Fraction, shown_in: Unit, digits: int | None = None) -> str:
    """``value`` (in base units) as readers see it: ``97.2 GB``, ``1.85``, ``17.9%``."""
    scaled = value / shown_in.scale
    if digits is None:
        keep = shown_in.exact and scaled.denominator == 1
        digits = 0 if keep else shown_in.digits(scaled)
    space = "" if shown_in.name == "%" or not shown_in.label else " "
    return number(scaled, digits) + space + shown_in.label


def check(dimension: Dimension, shown_in: Unit, what: str) -> None:
    """Raise :class:`UnitError` unless ``shown_in`` is a unit of ``dimension``."""
    if dimension != shown_in.dimension:
        fitting = [u.name for u in UNITS.values() if u.dimension == dimension]
        raise UnitError(
            what, shown_in.name, f"a unit of {dimension_name(dimension)}: {', '.join(fitting)}"
        )
