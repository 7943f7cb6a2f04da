"""The formula that readers click, without a browser."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from py_core import evaluate, parse_scenario
from tests.core.frames import full, ids, same_in_pyodide
from widgets.formula.widget import FACTORS, FIELDS, GUESSES, STOPS, TASKS, walk
from widgets.state import parse

SEEN = "guess=skip&"


def shown(query: str) -> dict[str, str]:
    """The figures of a frame before its panels, by name."""
    html = widgets.render("formula", SEEN + query).split('<section class="panels"')[0]
    return dict(re.findall(r'<button [^>]*data-q="([^"]*)"[^>]*>([^<]*)</button>', html))


@pytest.mark.parametrize("cards", [2, 3, 8, 21, 64, 1024])
@pytest.mark.parametrize("model", ["qwen3.8-27b", "qwen3-8b", "deepseek-v3"])
def test_every_figure_is_the_quantity(cards: int, model: str) -> None:
    where = f"cards={cards}&model={model}&gradient=fp32"
    scenario = parse_scenario(where)
    for term in [f.term for f in FACTORS]:
        figures = shown(f"{where}&term={term}&time=on")
        assert {name: evaluate(name, scenario).display() for name in figures} == figures
        assert {f.figure for f in FACTORS if f.figure} <= figures.keys()


def test_the_factors_multiply_to_the_result() -> None:
    for cards in STOPS:
        scenario = parse_scenario(f"cards={cards}")
        values = {f.term: evaluate(f.figure, scenario).value for f in FACTORS if f.figure}
        product = 2 * values["steps"] / values["block"] * values["whole"]
        assert product == evaluate("ring.sent_per_card", scenario).value


def test_goldens() -> None:
    assert shown("cards=8")["ring.sent_per_card"] == "97.2 GB"
    assert shown("cards=64")["ring.coefficient"] == "1.97"
    assert shown("cards=8&model=qwen3-8b")["ring.sent_per_card"] == "28.7 GB"
    assert evaluate("ring.cards_above_coefficient").value == 21


def test_the_prompt_comes_first_and_time_behind_a_switch() -> None:
    prompt = widgets.render("formula")
    assert "先猜" in prompt
    assert "formula-line" not in prompt
    assert not any(name.endswith("seconds") for name in shown("time=off"))
    assert shown("time=on")["ring.seconds"] == "1.94 s"


def test_the_right_guess_and_no_other() -> None:
    right = [g for g in GUESSES if "猜中了" in widgets.render("formula", f"guess={g}")]
    assert right == ["near-two"]


@pytest.mark.parametrize("term", [f.term for f in FACTORS])
def test_a_factor_is_a_button_that_opens_and_closes(term: str) -> None:
    html = widgets.render("formula", f"{SEEN}term={term}")
    (opened,) = re.findall(
        r'<button[^>]*value="none" aria-label="([^"]*)" aria-expanded="true"', html
    )
    assert opened == next(f.read for f in FACTORS if f.term == term)
    assert html.count('aria-expanded="false"') == len(FACTORS) - 1
    (region,) = set(re.findall(r'aria-controls="([^"]*)"', html))
    assert f'id="{region}"' in html
    assert 'class="formula-arrow on"' in html or 'class="formula-block on"' in html


@pytest.mark.parametrize("cards", [2, 5, 8])
def test_the_picture_lights_what_the_factor_counts(cards: int) -> None:
    arrows = widgets.render("formula", f"{SEEN}term=steps&cards={cards}").count("formula-arrow on")
    assert arrows == cards - 1
    both = widgets.render("formula", f"{SEEN}term=phases&cards={cards}").count("formula-arrow on")
    assert both == 2 * cards
    html = widgets.render("formula", f"{SEEN}term=block&cards={cards}")
    assert (html.count("formula-block on"), html.count("formula-block")) == (1, cards)


@pytest.mark.parametrize("typed", ["1", "0", "-3", "2.5", "abc", "１２", "1025", ""])
def test_a_bad_number_keeps_the_last_good_one(typed: str) -> None:
    query = urlencode({"cards": typed, "was": "cards=21&guess=skip"})
    html = widgets.render("formula", query)
    assert "2 到 1,024 之间的整数" in html
    assert "仍用 21" in html
    assert "cards=21" in html


def test_tasks_are_reached_where_they_should_be() -> None:
    for name, there, short in [
        ("guess", "guess=same&cards=64", "guess=skip&cards=64"),
        ("above", "guess=skip&cards=21", "guess=skip&cards=22"),
        ("other", "guess=skip&model=qwen3-8b", "guess=ask&model=qwen3-8b"),
    ]:
        seen = TASKS[name].seen
        assert seen(parse(FIELDS, there))
        assert not seen(parse(FIELDS, short))
        assert not seen(parse(FIELDS, TASKS[name].start))


@given(st.text(max_size=80))
def test_any_query_gives_a_frame_that_survives_its_own_query(query: str) -> None:
    html = widgets.render("formula", query)
    again = widgets.render("formula", urlencode(full(html)))
    assert full(again) == full(html)


def test_two_copies_share_no_id() -> None:
    one, two = (widgets.render("formula", SEEN, name) for name in ("formula", "other"))
    assert not set(ids(one)) & set(ids(two))
    assert len(set(ids(one))) == len(ids(one))
    assert "style=" not in one


def test_walk() -> None:
    assert len(walk()) == len(set(walk())) == 1 + len(FACTORS) + len(STOPS)
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_frames_are_the_same_bytes_in_pyodide(browser_python: dict[str, Any]) -> None:
    more = ["guess=same&cards=x&term=whole&bogus=<b>", "guess=skip&cards=99&time=on&model=gpt2"]
    same_in_pyodide("formula", more, browser_python)
