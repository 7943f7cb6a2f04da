"""Terms: exact arithmetic that writes its own formula."""

from __future__ import annotations

import doctest
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core import terms
from py_core.errors import UnitError
from py_core.terms import (
    Applied,
    Comparison,
    Named,
    Term,
    ambiguous,
    ceil_log2,
    choose,
    floor_log2,
    rounded_up,
    smaller,
    square,
    total,
    whole_part,
)
from py_core.units import BYTE, COUNT, SECOND, over, times


def count(symbol: str, value: Fraction | int) -> Named:
    return Named(symbol, Fraction(value), COUNT, None)


N, A, B = count("N", 8), count("a", 3), count("b", 5)
SIZE = Named("G", Fraction(100), BYTE, None, "100 B")
TIME = Named("t", Fraction(4), SECOND, None, "4 s")


def test_the_examples_in_the_docstring() -> None:
    assert doctest.testmod(terms).failed == 0


@pytest.mark.parametrize(
    ("term", "formula", "put_in", "value"),
    [
        (2 * (N - 1) / N, "2 × (N − 1) ÷ N", "2 × 7 ÷ 8", Fraction(7, 4)),
        (A - (B - N), "a − (b − N)", "3 − (−3)", 6),
        (A - (B + N), "a − (b + N)", "3 − 13", -10),
        (A + B - N, "a + b − N", "3 + 5 − 8", 0),
        (A / (B * N), "a ÷ (b × N)", "3 ÷ 40", Fraction(3, 40)),
        (A / (B / N), "a ÷ (b ÷ N)", "3 ÷ (5 ÷ 8)", Fraction(24, 5)),
        (A / B / N, "a ÷ b ÷ N", "3 ÷ 5 ÷ 8", Fraction(3, 40)),
        (A * (B / N), "a × b ÷ N", "3 × 5 ÷ 8", Fraction(15, 8)),
        ((A + B) * N, "(a + b) × N", "8 × 8", 64),
        (1 - 1 / N, "1 − 1 ÷ N", "1 − 1 ÷ 8", Fraction(7, 8)),
        (A * Fraction(1, 2), "a × 1/2", "3 × 1/2", Fraction(3, 2)),
        (square(A), "a²", "3²", 9),
        (square(A + 1), "(a + 1)²", "(3 + 1)²", 16),
        (ceil_log2(B), "⌈log₂ b⌉", "⌈log₂ 5⌉", 3),
        (floor_log2(B), "⌊log₂ b⌋", "⌊log₂ 5⌋", 2),
        (floor_log2(N) * A, "log₂(N) × a", "log₂(8) × 3", 9),
        (whole_part(N / A), "⌊N ÷ a⌋", "⌊8 ÷ 3⌋", 2),
        (rounded_up(N / A), "⌈N ÷ a⌉", "⌈8 ÷ 3⌉", 3),
        (choose(N, A), "C(N, a)", "C(8, 3)", 56),
        (smaller(A, B), "min(a, b)", "min(3, 5)", 3),
        (smaller(N, B, A), "min(N, b, a)", "min(8, 5, 3)", 3),
        (total([A, B, N]), "a + b + N", "3 + 5 + 8", 16),
    ],
)
def test_written_and_worked_out(term: Term, formula: str, put_in: str, value: Fraction) -> None:
    assert (term.symbolic(), term.value) == (formula, value)
    assert term.substituted() == put_in


def test_a_negative_number_put_in_is_bracketed() -> None:
    low = Named("x", Fraction(-3), COUNT, None)
    assert (A - low).substituted() == "3 − (−3)"
    assert (low + A).substituted() == "−3 + 3"
    assert (A * low).substituted() == "3 × (−3)"


def test_brackets_of_plain_counts_are_worked_out_others_kept() -> None:
    rate = SIZE / TIME
    assert (SIZE / (TIME + TIME)).substituted() == "100 B ÷ (4 s + 4 s)"
    assert (2 * (N - 1) * rate).substituted() == "2 × 7 × 100 B ÷ 4 s"


def test_dimensions_multiply_and_divide() -> None:
    assert (SIZE / TIME).dimension == over(BYTE, SECOND)
    assert (SIZE * TIME).dimension == times(BYTE, SECOND)
    assert square(SIZE).dimension == times(BYTE, BYTE)
    assert (SIZE / SIZE).dimension == COUNT


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: SIZE + TIME,
        lambda: SIZE - 1,
        lambda: 1 - SIZE,
        lambda: smaller(SIZE, TIME),
        lambda: SIZE > TIME,
        lambda: SIZE.equals(3),
    ],
)
def test_adding_bytes_to_seconds_is_refused(wrong: object) -> None:
    with pytest.raises(UnitError):
        wrong()  # type: ignore[operator]


def test_the_refusal_names_formula_and_dimensions() -> None:
    with pytest.raises(UnitError) as caught:
        _ = SIZE + TIME
    assert str(caught.value) == "G + t: got 'second', accepted is byte"


def test_floats_are_refused() -> None:
    with pytest.raises(TypeError, match="exact"):
        _ = N * 0.5  # type: ignore[operator]


def test_division_by_zero_is_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        _ = A / (N - 8)


@pytest.mark.parametrize(
    ("comparison", "holds", "text"),
    [
        (A < B, True, "3 < 5"),
        (A > B, False, "3 > 5"),
        (A <= 3, True, "3 ≤ 3"),
        (A >= 4, False, "3 ≥ 4"),
        ((A + B).equals(N), True, "3 + 5 = 8"),
    ],
)
def test_comparisons_remember_both_sides(comparison: Comparison, holds: bool, text: str) -> None:
    assert comparison.holds is holds
    assert bool(comparison) is holds
    assert comparison.substituted() == text


def test_named_inputs_come_once_in_order() -> None:
    assert [n.symbol for n in (N * A + N / B).named()] == ["N", "a", "b"]


def test_one_symbol_for_two_things_is_found() -> None:
    other = Named("N", Fraction(9), COUNT, None)
    assert ambiguous(N + A) is None
    assert ambiguous(N + N) is None
    assert ambiguous(N + other) == "N"
    assert ambiguous(Applied("f({}, {})", 1, N, other)) == "N"
    assert ambiguous(other < N) == "N"
    elsewhere = Named("N", Fraction(8), COUNT, "another source")
    assert ambiguous(N + elsewhere) == "N"


def test_shown_is_written_only_when_asked() -> None:
    asked = []

    def write() -> str:
        asked.append(1)
        return "one"

    lazy = Named("x", Fraction(1), COUNT, None, write)
    _ = lazy + A
    assert not asked
    assert (lazy.shown, lazy.shown, len(asked)) == ("one", "one", 1)


leaf = st.sampled_from([N, A, B, count("c", Fraction(7, 2))])


@given(
    st.recursive(
        leaf,
        lambda inner: st.tuples(st.sampled_from("+-*/"), inner, inner).map(
            lambda t: _apply(t[0], t[1], t[2])
        ),
        max_leaves=8,
    )
)
def test_the_formula_read_back_gives_the_value(term: Term) -> None:
    text = term.symbolic()
    for sign, python in (("×", "*"), ("÷", "/"), ("−", "-")):
        text = text.replace(sign, python)
    values = {n.symbol: n.value for n in (N, A, B, count("c", Fraction(7, 2)))}
    assert eval(text, {}, values) == term.value


def _apply(sign: str, a: Term, b: Term) -> Term:
    if sign == "/":
        return a / b if b.value else a
    return {"+": a + b, "-": a - b, "*": a * b}[sign]
