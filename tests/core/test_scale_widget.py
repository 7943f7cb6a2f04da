"""The real-scale panel: state, table and pictures, without a browser."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import widgets
from py_core import evaluate, parse_scenario
from tests.core.frames import full, ids, same_in_pyodide
from widgets.scale.widget import FIELDS, GUESSES, SCHEMES, STOPS, walk
from widgets.state import parse

SEEN = "guess=skip&"
SCENARIOS = [
    f"cards={cards}&model={model}&gradient={gradient}&cards_per_node={per_node}"
    for cards, model in [
        (8, "qwen3.8-27b"),
        (64, "qwen3-8b"),
        (100, "deepseek-v3"),
        (1024, "llama-3.1-405b"),
        (2, "gpt2"),
    ]
    for gradient in ("bf16", "fp32")
    for per_node in (1, 8)
]


def figures(html: str) -> list[tuple[str, str]]:
    """Name and text of every figure before the panels."""
    shown = html.split('<section class="panels"', maxsplit=1)[0]
    return re.findall(r'<button [^>]*data-q="([^"]*)">([^<]*)</button>', shown)


@pytest.mark.parametrize("query", SCENARIOS)
def test_every_figure_is_the_quantity(query: str) -> None:
    html = widgets.render("scale", f"{SEEN}time=on&{query}")
    assert "lw-notice" not in html
    scenario = parse_scenario(query)
    shown = dict(figures(html))
    assert {name: evaluate(name, scenario).display() for name in shown} == shown
    layered = scenario.cards_per_node == 8 and scenario.cards > 8 and scenario.cards % 8 == 0
    rows = [*SCHEMES] if layered else [*SCHEMES][:-1]
    kinds = ("sent_by_busiest", "steps", "seconds", "latency_seconds", "bandwidth_seconds")
    assert {f"{scheme}.{kind}" for scheme in rows for kind in kinds} <= shown.keys()
    assert "naive.sent_in_total" in shown
    assert f"{len(rows)} 种做法" in html


@pytest.mark.parametrize("query", SCENARIOS)
def test_the_schemes_send_the_same_in_total(query: str) -> None:
    """What the table says in one cell for all rows."""
    totals = {evaluate(f"{s}.sent_in_total", parse_scenario(query)).value for s in SCHEMES}
    assert len(totals) == 1


def test_time_stands_behind_a_switch() -> None:
    off = widgets.render("scale", f"{SEEN}cards=64")
    assert "每条消息先花一份固定开销 α，再花字节 ÷ 带宽" in off
    assert not [name for name, _ in figures(off) if name.endswith("seconds")]
    assert off.count("<svg") == 1
    assert widgets.render("scale", f"{SEEN}cards=64&time=on").count("<svg") == 3


def test_a_scheme_that_refuses_says_so() -> None:
    html = widgets.render("scale", f"{SEEN}cards=100&cards_per_node=8&time=on")
    assert "100 张卡分不成每台 8 张" in html
    assert not [name for name, _ in figures(html) if name.startswith("hierarchical")]
    assert "每台只有 1 张卡" in widgets.render("scale", SEEN)
    assert "8 张卡都在一台机器里" in widgets.render("scale", f"{SEEN}cards_per_node=8")


def test_the_prompt_comes_first_and_the_guess_stays() -> None:
    asked = widgets.render("scale", "")
    assert "scale-table" not in asked
    assert "<svg" not in asked
    for guess in set(GUESSES) - {"ask", "skip"}:
        html = widgets.render("scale", f"guess={guess}&cards=64&model=gpt2")
        assert full(html)["guess"] == guess
        assert f"你猜的是「{GUESSES[guess]}」" in html
        shown = dict(figures(html))
        assert shown["naive.growth_8_to_1024"] == evaluate("naive.growth_8_to_1024").display()
        assert shown["ring.growth_8_to_1024"] == evaluate("ring.growth_8_to_1024").display()
        assert ("没猜中" in html) == (guess != "ring-stays")
    assert "你猜的是" not in widgets.render("scale", SEEN)


def test_slider_and_box_say_the_same() -> None:
    for place, cards in enumerate(STOPS):
        html = widgets.render("scale", f"{SEEN}cards={cards}")
        assert 'data-field="cards" data-values="8 16 32 64 128 256 512 1024"' in html
        assert f'value="{place}" aria-valuetext="{cards:,} 张卡"' in html
        assert f'<span class="now">{cards:,}</span>' in html
    between = widgets.render("scale", f"{SEEN}cards=100")
    assert 'value="4" aria-valuetext="100 张卡"' in between
    assert '<span class="now">' not in between


@pytest.mark.parametrize("typed", ["1", "0", "-3", "2.5", "abc", "１２", "1025", "", " 4", "1e3"])
def test_a_bad_number_keeps_the_last_good_one(typed: str) -> None:
    was = "guess=skip&cards=100"
    html = widgets.render("scale", urlencode({"guess": "skip", "cards": typed, "was": was}))
    assert full(html)["cards"] == "100"
    assert 'aria-invalid="true" aria-describedby="scale-cards-error"' in html
    notice = re.search(r'<p class="lw-notice" id="scale-cards-error">([^<]*)<', html)
    assert notice
    assert notice[1].startswith("卡数要填 2 到 1,024 之间的整数；")
    assert notice[1].endswith("，仍用 100。")


QUERIES = st.one_of(
    st.text(max_size=80),
    st.fixed_dictionaries(
        {},
        optional={
            f.name: st.one_of(st.text(max_size=6), st.integers(-2, 1030).map(str))
            if not hasattr(f, "options")
            else st.one_of(st.text(max_size=6), st.sampled_from([*f.options]))
            for f in FIELDS
        },
    ).map(urlencode),
)


@settings(deadline=None, max_examples=200)
@given(QUERIES)
def test_any_query_gives_a_frame_that_survives_its_own_query(query: str) -> None:
    html = widgets.render("scale", query)
    state = full(html)
    assert 2 <= int(state["cards"]) <= 1024
    again = widgets.render("scale", urlencode(state))
    assert full(again) == state
    if "lw-notice" not in html:
        assert again == html


@pytest.mark.parametrize("field", [f.name for f in FIELDS] + ["bogus"])
def test_what_a_reader_types_is_escaped(field: str) -> None:
    html = widgets.render("scale", SEEN + urlencode({field: '"><script>alert(1)</script>'}))
    assert "<script" not in html


def test_nothing_is_styled_inline() -> None:
    for query in (*walk(), f"{SEEN}time=on&cards_per_node=8&cards=100"):
        assert not re.search(r"\sstyle\s*=", widgets.render("scale", query))


@pytest.mark.parametrize(
    "query",
    [*SCENARIOS, "cards=1000&model=gpt2&cards_per_node=8", "cards=3&model=kimi-k2&gradient=fp32"],
)
def test_pictures_are_whole_and_within_their_frame(query: str) -> None:
    html = widgets.render("scale", f"{SEEN}time=on&{query}")
    pictures = re.findall(r"<svg.*?</svg>", html)
    assert len(pictures) == 3
    for text in pictures:
        svg = ElementTree.fromstring(text)
        assert svg.get("role") == "img"
        title, desc = svg[0], svg[1]
        assert (svg.get("aria-labelledby"), svg.get("aria-describedby")) == (
            title.get("id"),
            desc.get("id"),
        )
        assert title.text
        assert desc.text
        width, height = map(int, svg.attrib["viewBox"].split()[2:])
        for dot in svg.iter("circle"):
            assert 0 <= float(dot.attrib["cx"]) <= width
            assert 0 <= float(dot.attrib["cy"]) <= height
        names = [t for t in svg.iter("text") if "scale-name" in t.get("class", "")]
        heights = sorted(float(t.attrib["y"]) for t in names)
        assert all(b - a >= 14 for a, b in pairwise(heights))
        assert 0 < heights[0] < heights[-1] < height
        # One decimal everywhere: the same bytes from any Python.
        assert not re.search(r"\d\.\d\d", re.sub(r"<(title|desc|text)\b.*?</\1>", "", text))


def test_lines_that_cross_are_marked() -> None:
    turn = re.findall(r"<svg.*?</svg>", widgets.render("scale", f"{SEEN}time=on&cards=64"))[2]
    # A bucket meets S* between 32 and 64 cards, and the tree's line between 256 and 512.
    where = [float(x) for x in re.findall(r'scale-cross" cx="([\d.]+)"', turn)]
    ticks = dict(re.findall(r'<text[^>]* x="([\d.]+)" y="[\d.]+">([\d,]+)<', turn))
    at = {int(n.replace(",", "")): float(x) for x, n in ticks.items()}
    assert len(where) == 2
    assert at[32] < where[0] < at[64]
    assert at[256] < where[1] < at[1024]


def test_two_copies_share_no_id() -> None:
    query = "guess=neither&cards=x&time=on&cards_per_node=8&bogus=1&other=2"
    seen = ids(*(widgets.render("scale", query, name) for name in ("scale", "scale2")))
    assert len(seen) == len(set(seen)) > 50


def test_walk() -> None:
    assert len(walk()) == len(set(walk())) == 9
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_frames_are_the_same_bytes_in_pyodide(browser_python: dict[str, Any]) -> None:
    more = [f"{SEEN}time=on&{q}" for q in SCENARIOS] + ["guess=neither&cards=x&bogus=<b>"]
    same_in_pyodide("scale", more, browser_python)
