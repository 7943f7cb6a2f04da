"""Units and rounding: half-even on the exact value, and nothing changes its unit system."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.errors import UnitError, UnknownName
from py_core.units import (
    BYTE,
    COUNT,
    FLOP,
    PARAMETER,
    SECOND,
    TOKEN,
    UNITS,
    check,
    dimension_name,
    display,
    number,
    over,
    times,
    unit,
)


def shown(value: str, name: str) -> str:
    """``value``, in unit ``name``, as readers see it."""
    return display(Fraction(value) * unit(name).scale, unit(name))


ROUNDING = [
    # bytes and billions: from 1,000 no decimals, from 1 one, below two
    ("97.234997832", "GB", "97.2 GB"),
    ("3500.459921952", "GB", "3,500 GB"),
    ("999.94", "GB", "999.9 GB"),
    ("999.95", "GB", "1,000 GB"),
    ("999.96", "GB", "1,000 GB"),
    ("1000.5", "GB", "1,000 GB"),  # half to even
    ("1001.5", "GB", "1,002 GB"),
    ("0.994", "GB", "0.99 GB"),
    ("0.996", "GB", "1.0 GB"),
    ("0.469762048", "GB", "0.47 GB"),
    ("27.781427952", "B params", "27.8 B 参数"),
    ("653.90877", "B params", "653.9 B 参数"),
    # half-even
    ("1.25", "GB", "1.2 GB"),
    ("1.35", "GB", "1.4 GB"),
    ("0.125", "GB", "0.12 GB"),
    ("0.135", "GB", "0.14 GB"),
    ("0.25", "%", "0.2%"),
    ("0.35", "%", "0.4%"),
    # tiny values keep two significant digits
    ("0.0154", "GB", "0.015 GB"),
    ("0.000123", "GB", "0.00012 GB"),
    ("0.0996", "GB", "0.100 GB"),
    # exact integers stay integers
    ("80", "GB", "80 GB"),
    ("0", "GB", "0 GB"),
    ("26214400", "B", "26,214,400 字节"),
    ("25", "MiB", "25 MiB"),
    ("27781427952", "params", "27,781,427,952"),
    ("8", "count", "8"),
    ("9.75", "count", "9.8"),
    # seconds and ratios two decimals, and never 0.00 for something
    ("1.944699957", "s", "1.94 s"),
    ("2", "s", "2.00 s"),
    ("0.851", "s", "0.85 s"),
    ("0.089", "s", "0.089 s"),
    ("0.0004", "s", "0.00040 s"),
    ("70.009198", "s", "70.01 s"),
    ("1.96875", "ratio", "1.97"),
    ("0.125", "ratio", "0.12"),
    ("0.3125", "ratio", "0.31"),
    ("0.004", "ratio", "0.0040"),
    ("0.05", "ratio", "0.05"),
    # percent and days one, years none
    ("21.875", "%", "21.9%"),
    ("17.948717948", "%", "17.9%"),
    ("54.1992", "days", "54.2 天"),
    ("304.1096", "years", "304 年"),
    ("0.5", "years", "0 年"),
    ("1.5", "years", "2 年"),
    # multiples: from ten none, from two one
    ("5.55629", "×", "5.6 倍"),
    ("146.142857", "×", "146 倍"),
    ("9.94", "×", "9.9 倍"),
    ("9.96", "×", "10 倍"),
    ("4", "×", "4 倍"),
    # below two: two decimals, unless one says it all
    ("1.142857", "×", "1.14 倍"),
    ("1.5", "×", "1.5 倍"),
    ("1.75", "×", "1.75 倍"),
    ("1", "×", "1 倍"),
    ("1.994", "×", "1.99 倍"),
    ("1.996", "×", "2.0 倍"),
    ("0.9999", "×", "1.00 倍"),
    ("0.004", "×", "0.0040 倍"),
    # negatives, with a true minus
    ("-21.196883424", "GB", "−21.2 GB"),
    ("-0.25", "%", "−0.2%"),
    ("-0.04", "%", "0.0%"),
    ("-1000.5", "GB", "−1,000 GB"),
    ("-9.96", "×", "−10 倍"),
]


@pytest.mark.parametrize(("value", "name", "expected"), ROUNDING)
def test_rounding(value: str, name: str, expected: str) -> None:
    assert shown(value, name) == expected


@given(st.fractions(-(10**12), 10**12, max_denominator=10**6), st.integers(0, 6))
def test_number_rounds_as_decimal_does(value: Fraction, digits: int) -> None:
    with localcontext(prec=60):  # far finer than any fraction's distance from a tie
        exact = Decimal(value.numerator) / Decimal(value.denominator)
        theirs = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
    assert Decimal(number(value, digits).replace(",", "").replace("−", "-")) == theirs


def test_a_scaled_unit_never_changes_the_system() -> None:
    assert display(Fraction(2**30), UNITS["GiB"]) == "1 GiB"
    assert display(Fraction(2**30), UNITS["GB"]) == "1.1 GB"
    assert display(Fraction(2**20), UNITS["MB"]) == "1.0 MB"


def test_given_digits_win() -> None:
    assert display(Fraction(55_562_855_904), UNITS["GB"], 3) == "55.563 GB"
    assert display(Fraction(10**9), UNITS["GB"], 2) == "1.00 GB"


@pytest.mark.parametrize(
    ("dimension", "text"),
    [
        (COUNT, "1"),
        (BYTE, "byte"),
        (over(BYTE, SECOND), "byte/second"),
        (over(COUNT, SECOND), "1/second"),
        (times(TOKEN, TOKEN), "token^2"),
        (over(over(FLOP, PARAMETER), TOKEN), "FLOP/parameter/token"),
        (over(BYTE, times(TOKEN, TOKEN)), "byte/token^2"),
    ],
)
def test_dimension_names(dimension: tuple[int, ...], text: str) -> None:
    assert dimension_name(dimension) == text


def test_a_unit_of_another_dimension_is_refused_with_those_that_fit() -> None:
    with pytest.raises(UnitError, match=r"unit of x.*'GB'.*second.*ms"):
        check(SECOND, UNITS["GB"], "unit of x")
    check(BYTE, UNITS["MiB"], "unit of x")


def test_unknown_unit() -> None:
    with pytest.raises(UnknownName) as caught:
        unit("Gb/s")
    assert "GB/s" in caught.value.close


def test_labels_keep_b_for_billions_of_parameters() -> None:
    """And say so: "0.43 B" alone, or "0 B", would read as bytes."""
    assert [u.name for u in UNITS.values() if re.match(r"B\b", u.label)] == ["B params"]
    assert unit("B params").label == "B 参数"
    for u in UNITS.values():
        assert u.scale > 0
        assert len(u.dimension) == len(COUNT)
