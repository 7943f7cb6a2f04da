"""Two means over unequal numbers of tokens: the problem itself, and its widget."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from py_core import evaluate, parse_scenario
from py_core.claims import judge
from py_core.errors import ScenarioError
from py_core.least_squares import LEAST, MOST, SLOPES, _running, sums
from tests.core.frames import full, ids, same_in_pyodide
from widgets.average.widget import FIELDS, GUESSES, TASKS, walk
from widgets.state import parse

SEEN = "guess=skip&"
LENGTHS = [(30_000, 20_000), (20_000, 30_000), (25_000, 25_000), (MOST, LEAST), (LEAST, MOST)]


def data(card: int, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    """Σx² and Σxy token by token, told apart again: x² and xy of each token."""
    squares, products = (np.diff(np.array(r[: tokens + 1])) for r in _running(card))
    return squares, products


@pytest.mark.parametrize("lengths", LENGTHS)
def test_the_means_are_numpys(lengths: tuple[int, int]) -> None:
    scenario = parse_scenario(f"tokens_card0={lengths[0]}&tokens_card1={lengths[1]}")

    def value(name: str) -> Fraction:
        return evaluate(f"averaging.{name}", scenario).value

    cards = [data(card, n) for card, n in enumerate(lengths)]
    means = [float(products.mean()) for _, products in cards]
    whole = np.concatenate([products for _, products in cards])
    assert float(value("gradient_card0")) == pytest.approx(means[0], rel=1e-12)
    assert float(value("mean_of_means")) == pytest.approx(np.mean(means), rel=1e-12)
    assert float(value("weighted")) == pytest.approx(whole.mean(), rel=1e-12)
    # The w at which the gradient vanishes, by lstsq on all tokens.
    x = np.sqrt(np.concatenate([squares for squares, _ in cards]))
    best = np.linalg.lstsq(x[:, None], whole / x, rcond=None)[0][0]
    assert float(value("best_weighted")) == pytest.approx(best, rel=1e-9)
    # ... and with each card's tokens weighted so that both cards count the same.
    weight = np.sqrt(np.concatenate([np.full(n, 1 / n) for n in lengths]))
    skewed = np.linalg.lstsq((x * weight)[:, None], whole / x * weight, rcond=None)[0][0]
    assert float(value("best_mean_of_means")) == pytest.approx(skewed, rel=1e-9)
    exact = value("mean_of_means") / value("weighted") - 1
    assert value("error") == exact
    assert judge("weighting_by_tokens_is_exact", scenario).holds


def test_both_means_agree_where_lengths_do_and_only_there() -> None:
    for n0, n1 in LENGTHS:
        scenario = parse_scenario(f"tokens_card0={n0}&tokens_card1={n1}")
        error = evaluate("averaging.error", scenario).value
        assert (error == 0) == (n0 == n1)
        assert (error > 0) == (n0 > n1)  # card 1 is the steeper one
    assert SLOPES[0] < SLOPES[1]


def test_goldens() -> None:
    assert evaluate("averaging.overweight").display() == "1.5 倍"
    assert evaluate("averaging.best_weighted").display() == "1.80"
    assert evaluate("averaging.best_mean_of_means").display() == "2.00"


@pytest.mark.parametrize("tokens", [LEAST - 1, MOST + 1])
def test_out_of_range(tokens: int) -> None:
    with pytest.raises(ScenarioError, match="tokens_card1"):
        sums(1, tokens)
    with pytest.raises(ScenarioError, match="tokens_card0"):
        parse_scenario(f"tokens_card0={tokens}")


@pytest.mark.parametrize("lengths", LENGTHS)
def test_every_figure_is_the_quantity(lengths: tuple[int, int]) -> None:
    query = f"tokens0={lengths[0]}&tokens1={lengths[1]}"
    html = widgets.render("average", SEEN + query).split('<section class="panels"')[0]
    scenario = parse_scenario(f"tokens_card0={lengths[0]}&tokens_card1={lengths[1]}")
    figures = dict(re.findall(r'<button [^>]*data-q="([^"]*)"[^>]*>([^<]*)</button>', html))
    assert {name: evaluate(name, scenario).display() for name in figures} == figures
    assert {"averaging.mean_of_means", "averaging.weighted"} <= figures.keys()
    assert ("两种平均也一样" in html) == (lengths[0] == lengths[1])


def test_guess() -> None:
    assert "先猜" in widgets.render("average")
    right = [g for g in GUESSES if "猜中了" in widgets.render("average", f"guess={g}")]
    assert right == ["card1"]


def test_tasks() -> None:
    reached = {
        "example": "guess=card0",
        "agree": "guess=skip&tokens0=700&tokens1=700",
        "worst": f"guess=skip&tokens0={LEAST}&tokens1={MOST}",
    }
    for name, query in reached.items():
        assert [t for t in TASKS if TASKS[t].seen(parse(FIELDS, query))] == [name]
        assert not TASKS[name].seen(parse(FIELDS, TASKS[name].start))


@pytest.mark.parametrize("typed", ["99", "0", "-3", "2.5", "abc", "１２", "32769", ""])
def test_a_bad_number_keeps_the_last_good_one(typed: str) -> None:
    html = widgets.render("average", urlencode({"tokens1": typed, "was": "tokens1=700&guess=skip"}))
    assert "100 到 32,768 之间的整数" in html
    assert full(html)["tokens1"] == "700"


@given(st.text(max_size=80))
def test_any_query_gives_a_frame_that_survives_its_own_query(query: str) -> None:
    html = widgets.render("average", query)
    assert full(widgets.render("average", urlencode(full(html)))) == full(html)


def test_two_copies_share_no_id() -> None:
    one, two = (widgets.render("average", SEEN, name) for name in ("average", "other"))
    assert not set(ids(one)) & set(ids(two))
    assert len(set(ids(one))) == len(ids(one))
    assert "style=" not in one


def test_walk() -> None:
    assert len(walk()) == len(set(walk())) == 4
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_frames_are_the_same_bytes_in_pyodide(browser_python: dict[str, Any]) -> None:
    more = ["guess=same&tokens0=x&bogus=<b>", "guess=skip&tokens0=123&tokens1=39999"]
    same_in_pyodide("average", more, browser_python)
