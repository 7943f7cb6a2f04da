"""The stepper's state and frames, without a browser."""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import widgets
from py_core.errors import UnknownName
from py_core.executor import run
from py_core.schedules import SCHEMES, schedule
from tests.core.frames import full, ids
from widgets.ring.picture import picture, pips_path, places
from widgets.ring.story import MODES
from widgets.ring.widget import FIELDS, steps_of, walk
from widgets.state import parse


def numbers(html: str, kind: str) -> list[int]:
    return [int(n) for n in re.findall(rf'data-{kind}(?:="\d+")?>(\d+)<', html)]


@given(
    mode=st.sampled_from(list(MODES)),
    other=st.sampled_from(["", *SCHEMES]),
    n=st.integers(2, 16),
    seed=st.integers(0, 9999),
    predict=st.sampled_from(["on", "off"]),
    data=st.data(),
)
def test_any_state_survives_its_own_query(
    mode: str, other: str, n: int, seed: int, predict: str, data
) -> None:
    fields = {"mode": mode, "with": other, "n": n, "seed": seed, "predict": predict, "g": 0}
    fields["elements"] = data.draw(st.one_of(st.just(0), st.integers(n, 96)))
    fields["step"] = data.draw(st.integers(0, steps_of(fields)))
    fields["guess"] = data.draw(st.integers(0, n))
    state = parse(FIELDS, urlencode(fields))
    assert not state.notices
    assert "data-full" in widgets.render("ring", urlencode(fields))
    assert parse(FIELDS, state.full_query()).values == state.values


@given(st.text(max_size=80))
def test_any_query_gives_a_frame(query: str) -> None:
    html = widgets.render("ring", query)
    assert full(html)["mode"] in MODES


PARTS = st.sampled_from(
    [*(f.name for f in FIELDS), "was", "go", "=", "&", "%", "ring", "tree", "-1", "0", "16", "１"]
)


@settings(max_examples=200)
@given(st.lists(PARTS, max_size=14))
def test_random_queries_clamp_or_explain(parts: list[str]) -> None:
    html = widgets.render("ring", "".join(parts))
    values = full(html)
    assert not parse(FIELDS, urlencode(values)).notices


@pytest.mark.parametrize(
    "typed", ["1", "0", "-3", "2.5", "abc", "１２", "17", "", " 4", "1_0", "1e1", "999999999999"]
)
def test_a_bad_number_keeps_the_last_good_state(typed: str) -> None:
    was = "mode=naive&n=5&seed=3&step=2"
    html = widgets.render("ring", urlencode({"mode": "naive", "n": typed, "step": 2, "was": was}))
    assert full(html).items() >= dict(parse_qsl(was)).items()
    notice = re.search(r'<p class="lw-notice" id="ring-n-error">([^<]*)<', html)
    assert notice
    assert notice[1].startswith("卡数 N 要填 2 到 16 之间的整数；")
    assert notice[1].endswith("，仍用 5。")
    assert ("没有填" in notice[1]) == (typed == "")
    assert 'aria-invalid="true" aria-describedby="ring-n-error"' in html


def test_a_bad_link_falls_back_to_the_default() -> None:
    html = widgets.render("ring", "n=99&mode=quantum&step=x&bogus=1")
    assert full(html).items() >= {"mode": "ring", "n": "4", "seed": "7", "step": "0"}.items()
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
        return [int(t) for t in re.findall(r"<dd[^>]*>(\d+)<", html)]

    assert tiles(naive) == [end * n, (n - 1) * n, (n - 1) * n, end * n, end]
    assert tiles(ring) == [end, end, end, end * n, end]


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


def test_two_copies_share_no_id() -> None:
    query = "n=x&bogus=1&other=2&mode=tree&with=ring"
    seen = ids(*(widgets.render("ring", query, name) for name in ("ring", "ring2")))
    assert len(seen) == len(set(seen)) > 50


def test_walk_is_every_step_of_the_story_and_its_halves() -> None:
    assert len(walk()) == len(set(walk())) == 7 + 1 + 7 + 4 + 4 + 2
    assert all(not parse(FIELDS, q).notices for q in walk())


def test_unknown_widget() -> None:
    with pytest.raises(UnknownName, match="ring"):
        widgets.render("rings")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("n", [2, 3, 6, 8, 13, 16])
def test_every_scheme_shows_its_own_ledger_at_the_end(scheme: str, n: int) -> None:
    plan = schedule(scheme, n)
    html = widgets.render("ring", f"mode={scheme}&n={n}&step={len(plan.steps)}")
    ledger = run(plan, n, 7).finish().ledger
    assert numbers(html, "sent") == ledger.sent
    assert numbers(html, "received") == ledger.received
    assert numbers(html, "largest") == [0]
    assert "验算通过" in html


def test_reduce_scatter_checks_each_cards_own_block_only() -> None:
    html = widgets.render("ring", "mode=reduce-scatter&n=5&step=4")
    assert "验算通过：每张卡自己那一块等于直接相加" in html
    assert html.count(" whole") == 5


def test_all_gather_starts_with_one_whole_block_each_and_the_rest_empty() -> None:
    html = widgets.render("ring", "mode=all-gather&n=5")
    assert html.count(" whole") == 5
    assert html.count('<span class="ring-value">空</span>') == 20


def test_two_schemes_on_the_same_data_stepped_together() -> None:
    html = widgets.render("ring", "mode=naive&with=tree&n=8&step=9")
    sums = re.findall(r"<tfoot>.*?</tfoot>", html, re.S)
    assert len(sums) == 2
    answers = [re.findall(r'ring-sum">(\d+)<', s) for s in sums]
    assert answers[0] == answers[1]
    # The tree is done after 6 of the 14 steps and stays there.
    assert numbers(html, "sent")[8:] == [24, 8, 16, 8, 24, 8, 16, 8]
    assert full(html)["step"] == "9"


def guess_buttons(html: str) -> dict[int, str]:
    return {
        int(b): v for b, v in re.findall(r'id="ring-guess-(\d+)" name="go" value="([^"]+)"', html)
    }


@pytest.mark.parametrize("mode", ["ring", "reduce-scatter", "all-gather"])
@pytest.mark.parametrize("n", [2, 4, 7, 16])
def test_predictions_are_judged_by_the_schedule(mode: str, n: int) -> None:
    query, right = f"mode={mode}&n={n}&predict=on", 0
    plan = schedule(mode, n)
    for step, planned in enumerate(plan.steps):
        html = widgets.render("ring", query)
        source, _ = map(int, re.search(r"(\d+) 号卡会把哪一块发给 (\d+) 号卡", html).groups())
        (truth,) = (t.blocks[0] for t in planned.transfers if t.source == source)
        guess = truth if step % 2 == 0 else (truth + 1) % n
        right += guess == truth
        answered = widgets.render("ring", urlencode({**full(html), "go": f"guess={guess + 1}"}))
        assert ("对了" in answered) == (guess == truth)
        assert guess == truth or f"其实是块 {truth}：" in answered
        go = re.search(r'id="ring-next" name="go" value="([^"]+)"', answered)[1]
        query = urlencode({**full(answered), "go": go.replace("&amp;", "&")})
    done = full(widgets.render("ring", query))
    assert (done["right"], done["asked"], done["guess"]) == (str(right), str(len(plan.steps)), "0")


def test_a_guess_that_is_skipped_costs_nothing() -> None:
    html = widgets.render("ring", "predict=on")
    go = re.search(r'id="ring-next" name="go" value="([^"]+)"', html)[1]
    after = full(widgets.render("ring", urlencode({**full(html), "go": go.replace("&amp;", "&")})))
    assert (after["step"], after["right"], after["asked"]) == ("1", "0", "0")


@pytest.mark.parametrize("g", ["3", "5", "17", "x"])
def test_a_node_size_that_does_not_divide_is_explained(g: str) -> None:
    html = widgets.render("ring", urlencode({"mode": "hierarchical", "n": 8, "g": g}))
    assert "N 的约数，空着就是自动" in html
    assert full(html)["g"] == "0"


def test_hierarchical_says_where_a_step_runs() -> None:
    says = [widgets.render("ring", f"mode=hierarchical&n=8&g=4&step={k}") for k in (1, 4, 6)]
    assert "机器之内 reduce-scatter" in says[0]
    assert "机器之间" in says[1]
    assert "机器之内 all-gather" in says[2]


def test_the_limits_are_executed() -> None:
    html = widgets.render("ring", "mode=limits")
    for n in (2, 4, 8, 16):
        received = run(schedule("naive", n), n, 0).finish().ledger.received
        assert received[0] == (n - 1) * n
        assert received[1] == n  # a block is an n-th of a gradient
        label = f"{n} 张卡：0 号卡收 {n - 1} 份梯度，别的每张卡收 1 份梯度"
        assert f'aria-label="{label}"' in html


@pytest.mark.parametrize("n", range(2, 17))
def test_cards_do_not_overlap_in_the_picture(n: int) -> None:
    drawn = picture(n, None)
    at = places(n)
    for i, a in enumerate(at):
        for b in at[i + 1 :]:
            apart_x = abs(a.x - b.x) >= drawn["card_width"]
            apart_y = abs(a.y - b.y) >= drawn["card_height"]
            assert apart_x or apart_y
        assert a.x - drawn["card_width"] / 2 >= 0
        assert a.x + drawn["card_width"] / 2 <= drawn["width"]


@pytest.mark.parametrize("n", range(2, 17))
def test_in_every_ring_step_the_picture_has_n_arrows_and_parcels(n: int) -> None:
    for step in schedule("ring", n).steps:
        drawn = picture(n, step)
        assert len(drawn["arrows"]) == len(drawn["parcels"]) == n


def test_pips_of_runs() -> None:
    assert pips_path([True, True, False, True] + [False] * 12) == "M0 2h9M15 2h4"
    assert pips_path([False] * 8 + [True] * 8) == "M0 7h39"
    assert pips_path([False] * 16) == ""


# Blocks of several numbers


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("ring", [27, 28, 28, 27, 26]),
        ("naive", [68, 17, 17, 17, 17]),
        ("reduce-scatter", None),
        ("hierarchical", None),
    ],
)
def test_the_ledger_counts_the_numbers_of_uneven_blocks(mode: str, sent: list[int] | None) -> None:
    plan = schedule(mode, 5)
    html = widgets.render("ring", f"mode={mode}&n=5&elements=17&step={len(plan.steps)}")
    ledger = run(plan, 17, 7).finish().ledger
    assert numbers(html, "sent") == ledger.sent == (sent or ledger.sent)
    assert numbers(html, "total") == [68 if mode == "reduce-scatter" else 136]
    assert numbers(html, "largest") == [0]
    assert "验算通过" in html
    assert html.count("<small> 个数</small>") == 3
    assert html.count("（传一个数记作 1）") == 1
    assert "<small> 块</small>" not in html


def test_blocks_show_their_numbers_or_how_many() -> None:
    start = widgets.render("ring", "n=5&elements=17")
    assert "17 个数切成 5 块：前 2 块各 4 个，后 3 块各 3 个。" in start
    shown = re.findall(r'ring-value">([^<]*)<', start)
    assert [len(s.split()) for s in shown] == [4, 4, 3, 3, 3] * 5
    assert "把块 0（4 个数）发给" in widgets.render("ring", "n=5&elements=17&step=1")
    assert "加 0 号" in widgets.render("ring", "n=5&elements=17&step=1")
    many = widgets.render("ring", "n=4&elements=33")
    assert re.findall(r'ring-value">([^<]*)<', many) == ["9 个数", *["8 个数"] * 3] * 4
    assert "块 0 有 9 个，后 3 块各 8 个。" in many
    assert "12 个数切成 4 块，每块 3 个。" in widgets.render("ring", "n=4&elements=12")


def test_left_empty_every_block_is_one_number() -> None:
    assert widgets.render("ring", "elements=&g=") == widgets.render("ring", "")
    too_few = widgets.render("ring", "n=8&elements=7")
    assert "N 到 96 之间的整数，空着就是每块一个数；「7」不行，仍用每块一个数。" in too_few
    assert full(too_few)["elements"] == "0"


def test_tasks_are_seen_at_the_end_of_their_run() -> None:
    def seen(query: str) -> str:
        return re.search(r'data-reached="([^"]*)"', widgets.render("ring", query))[1]

    assert seen("") == seen("mode=naive&step=5") == seen("mode=tree&step=4") == ""
    assert seen("mode=naive&step=6") == "naive"
    assert seen("mode=naive&n=8&step=14") == "naive naive-8"
    assert seen("n=3&step=4") == "ring"
