"""The stepper's state and frames, without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from py_core.errors import UnknownName
from widgets.ring.widget import FIELDS, walk
from widgets.state import parse


def numbers(html: str, kind: str) -> list[int]:
    return [int(n) for n in re.findall(rf'data-{kind}(?:="\d+")?>(\d+)<', html)]


def full(html: str) -> dict[str, str]:
    found = re.search(r'data-full="([^"]*)"', html)
    assert found
    return dict(parse_qsl(found[1].replace("&amp;", "&")))


@given(
    mode=st.sampled_from(["naive", "ring"]),
    n=st.integers(2, 16),
    seed=st.integers(0, 9999),
    data=st.data(),
)
def test_any_state_survives_its_own_query(mode: str, n: int, seed: int, data) -> None:
    step = data.draw(st.integers(0, 2 * (n - 1)))
    state = parse(FIELDS, urlencode({"mode": mode, "n": n, "seed": seed, "step": step}))
    assert not state.notices
    assert parse(FIELDS, state.full_query()).values == state.values


@given(st.text(max_size=80))
def test_any_query_gives_a_frame(query: str) -> None:
    html = widgets.render("ring", query)
    assert full(html)["mode"] in ("naive", "ring")


@pytest.mark.parametrize(
    "typed", ["1", "0", "-3", "2.5", "abc", "１２", "17", "", " 4", "1_0", "1e1", "999999999999"]
)
def test_a_bad_number_keeps_the_last_good_state(typed: str) -> None:
    was = "mode=naive&n=5&seed=3&step=2"
    html = widgets.render("ring", urlencode({"mode": "naive", "n": typed, "step": 2, "was": was}))
    assert full(html) == dict(parse_qsl(was))
    notice = re.search(r'<p class="lw-notice" id="ring-n-error">([^<]*)<', html)
    assert notice
    assert notice[1].startswith("卡数 N 要填 2 到 16 之间的整数；")
    assert notice[1].endswith("，仍用 5。")
    assert ("没有填" in notice[1]) == (typed == "")
    assert 'aria-invalid="true" aria-describedby="ring-n-error"' in html


def test_a_bad_link_falls_back_to_the_default() -> None:
    html = widgets.render("ring", "n=99&mode=quantum&step=x&bogus=1")
    assert full(html) == {"mode": "ring", "n": "4", "seed": "7", "step": "0"}
    assert html.count('class="lw-notice"') == 4


def test_a_step_that_no_longer_exists_starts_afresh() -> None:
    html = widgets.render("ring", "n=2&was=" + "mode%3Dring%26n%3D16%26step%3D30")
    assert full(html)["step"] == "0"


def test_was_within_was_is_one_level() -> None:
    assert full(widgets.render("ring", "was=" * 1000))["n"] == "4"
    nested = urlencode({"n": "x", "was": urlencode({"n": 6, "was": "n=9"})})
    assert full(widgets.render("ring", nested))["n"] == "6"


def test_what_a_reader_types_is_escaped() -> None:
    html = widgets.render("ring", urlencode({"n": '"><script>alert(1)</script>'}))
    assert "<script" not in html


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_naive_to_the_end(n: int) -> None:
    html = widgets.render("ring", f"mode=naive&n={n}&step={2 * (n - 1)}")
    received = numbers(html, "received")
    assert received == [(n - 1) * n] + [n] * (n - 1)
    assert numbers(html, "largest") == [0]


@pytest.mark.parametrize("n", [2, 4, 8, 16])
def test_the_two_schemes_differ_in_time_and_busiest_card_not_in_total(n: int) -> None:
    end = 2 * (n - 1)
    naive, ring = (widgets.render("ring", f"mode={m}&n={n}&step={end}") for m in ("naive", "ring"))

    def tiles(html: str) -> list[int]:
        return [int(t) for t in re.findall(r"<dd[^>]*>(\d+)<small>", html)]

    assert tiles(naive) == [end * n, (n - 1) * n, (n - 1) * n, end * n]
    assert tiles(ring) == [end, end, end, end * n]


@pytest.mark.parametrize("n", [2, 3, 7, 8, 16])
def test_ring_every_step_is_one_block_each_way(n: int) -> None:
    for step in range(1, 2 * (n - 1) + 1):
        html = widgets.render("ring", f"n={n}&step={step}")
        assert numbers(html, "sent") == numbers(html, "received") == [step] * n
        assert len(re.findall(r'class="ring-cell[^"]* sends', html)) == n
        assert len(re.findall(r'class="ring-cell[^"]* receives', html)) == n
    assert numbers(html, "difference") == [0] * n


def test_difference_is_honest_on_the_way() -> None:
    largest = [numbers(widgets.render("ring", f"step={k}"), "largest")[0] for k in range(7)]
    assert all(d > 0 for d in largest[:-1])
    assert largest[-1] == 0


def test_the_arithmetic_shown_is_the_arithmetic_done() -> None:
    for step in range(1, 4):
        html = widgets.render("ring", f"step={step}")
        shown = re.findall(
            r'ring-value">(\d+)</span>\s*<span class="ring-how">'
            r'<span class="lw-hidden">收到，</span>(\d+) \+ (\d+)',
            html,
        )
        assert len(shown) == 4
        assert all(int(a) + int(b) == int(s) for s, a, b in shown)


class Ids(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen += [v for k, v in attrs if k == "id" and v]


def test_two_copies_share_no_id() -> None:
    ids = Ids()
    ids.feed(widgets.render("ring", "n=x&bogus=1&other=2", "ring"))
    ids.feed(widgets.render("ring", "n=x&bogus=1&other=2", "ring2"))
    assert len(ids.seen) == len(set(ids.seen)) > 0


def test_walk_is_every_step_of_both_modes() -> None:
    assert len(walk()) == len(set(walk())) == 14
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_unknown_widget() -> None:
    with pytest.raises(UnknownName, match="ring"):
        widgets.render("rings")
