"""Sliders over a list of values."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.slider import Slider, doublings, nearest


def test_doublings() -> None:
    assert doublings(8, 100) == (8, 16, 32, 64)
    assert doublings(512, 2048, halfway=True) == (512, 768, 1024, 1536, 2048)


@given(
    st.lists(st.integers(1, 10**12), min_size=1, max_size=20, unique=True).map(sorted),
    st.integers(1, 10**12),
)
def test_nearest_is_nearest_on_a_log_scale(stops: list[int], value: int) -> None:
    place = nearest(stops, value)
    apart = [abs(log(stop) - log(value)) for stop in stops]
    assert apart[place] == pytest.approx(min(apart))


def test_every_stop_is_at_its_own_place() -> None:
    stops = (0, *doublings(1, 4096))
    assert [nearest(stops, stop) for stop in stops] == [*range(len(stops))]
    assert all(a < b for a, b in pairwise(stops))


def test_values_are_as_a_reader_would_type_them() -> None:
    assert Slider("b", (Fraction(1, 4), Fraction(25, 2), 1000), 25).values == "0.25 12.5 1000"
    with pytest.raises(ValueError, match="1/3"):
        _ = Slider("b", (Fraction(1, 3),), 1).values
