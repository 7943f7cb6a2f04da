"""Claims: what the page states, judged for the lesson and for other people's clusters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from py_core import claims as engine
from py_core import quantity as quantities
from py_core.claims import claims, judge
from py_core.errors import ConfigError, LessonError, ScenarioError, UnknownName
from py_core.quantities import ledger
from py_core.quantities.schemes import SCHEMES as COMPARED
from py_core.quantity import names
from py_core.scenario import DEFAULT, SPECS, parse_scenario
from py_core.schedules import SCHEMES, Step, all_gather

NAMES = [c.name for c in claims()]

# What the lesson states of its own Scenario, or of the one given.
LESSON: dict[str, str] = dict.fromkeys(NAMES, "") | {
    "ring_coefficient_above_1_9": "cards=64",
    "bucket_is_latency_bound": "cards=64",
    "hierarchical_faster_than_flat_ring": "cards=64&cards_per_node=8",
    "backward_covers_comm": "tokens=16384",
    "node_limit_saves_traffic": "model=deepseek-v3",
    "buckets_hide_most": "tokens=16384",
    "absent_leaves_embedding": "tokens=16384",
}

# (claim, Scenario in which it fails, words of what holds instead)
FAILS = [
    ("state_exceeds_card", "model=gpt2", r"状态是 2\.0 GB，一张 80 GB 的卡装得下"),
    ("doubling_hurts_naive_only", "cards=2", r"2 张翻倍，.*涨到 3 倍，.*涨到 1\.5 倍"),
    ("ring_coefficient_above_1_9", "", r"8 张卡时系数是 1\.75，要从 21 张卡起"),
    ("leaf_sends_less_than_ring", "cards=2", r"都发 55\.6 GB"),
    ("root_sends_more_than_ring", "cards=2", r"都发 55\.6 GB"),
    ("switch_beats_the_bound", "cards=2", r"每张卡都要发 55\.6 GB"),
    ("latency_is_negligible", "model=gpt2&cards=1024", r"固定开销是 28\.6 ms，总时间 0\.039 s"),
    ("bucket_is_latency_bound", "", r"固定开销 0\.20 ms，传字节 0\.92 ms"),
    ("ring_faster_than_tree", "model=gpt2&cards=65536", r"二项树用 0\.16 s，环形用 1\.84 s"),
    ("halving_doubling_never_slower", "cards=12", r"12 张卡不是 2 的幂.*环形用 2\.04 s"),
    ("hierarchical_faster_than_flat_ring", "", r"只有 1 张卡参与.*分层就是平铺的环"),
    ("hierarchical_faster_than_flat_ring", "cards_per_node=8", r"1 台机器、每台 8 张卡参与"),
    ("comm_exceeds_backward", "tokens=16384", r"16,384 个 token 时，通信 1\.94 s，反向 4\.20 s"),
    ("backward_covers_comm", "", r"反向 1\.05 s，通信 1\.94 s.*7,590 个 token 起"),
    ("one_node_hides_comm", "tokens=512", r"160 GB/s 的机内带宽，通信也要 0\.61 s，不短于 0\.13 s"),
    ("embedding_tail_outweighs_unused", "model=deepseek-v3", r"要 0\.81 s，不短于"),
    ("zero1_exceeds_card", "model=qwen3-0.6b", r"ZeRO-1 之后每张卡 3\.3 GB，80 GB 的卡装得下"),
    ("zero2_exceeds_card", "model=qwen3-8b&cards=64", r"ZeRO-2 之后每张卡 18\.2 GB"),
    ("zero3_fits_card", "cards=4", r"还有 111\.1 GB，80 GB 的卡仍装不下，至少要 6 张卡"),
    ("zero3_costs_half_more", "gradient=fp32", r"梯度用 fp32 时.*是数据并行的 1 倍"),
    ("activations_exceed_what_zero3_leaves", "sequence=1024", r"激活 11\.4 GB，.*剩下 24\.4 GB"),
    ("tensor_parallel_makes_activations_fit", "tensor_parallel=1", r"切成 1 份的激活还有 45\.6 GB"),
    ("kv_heads_fewer_than_tensor_parallel", "tensor_parallel=4", r"有 4 个头，张量并行 4 张卡"),
    ("tensor_parallel_slower_across_nodes", "bandwidth=160", r"要 0\.12 s，机器之内要 0\.12 s"),
    ("1f1b_keeps_fewer_than_gpipe", "micro_batches=4", r"4 个微批、8 级：.*4 个微批"),
    ("1f1b_keeps_fewer_than_gpipe", "micro_batches=1", r"1 个微批、8 级：.*1 个微批"),
    ("contiguous_cut_is_uneven", "context_parallel=1", r"只有 1 张卡"),
    ("kv_heads_limit_ulysses", "context_parallel=2", r"上下文并行 2 张卡：Ulysses 不复制也切得开"),
    ("kv_heads_limit_ulysses", "context_parallel=4", r"有 4 个头，上下文并行 4 张卡"),
    ("node_limit_saves_traffic", "model=deepseek-v3&expert_parallel=32", r"3\.6 台.*最多 4 台"),
    ("node_limit_saves_traffic", "model=mixtral-8x7b&expert_parallel=8", r"只到 1 台.*最多 1 台"),
    ("buckets_hide_some", "bucket_cap=1048576", r"一点也没藏住：1\.94 s 的通信"),
    ("buckets_hide_most", "", r"只有 51\.3%，还有 0\.95 s 露在外面"),
    ("absent_leaves_embedding", "", r"露在外面的有 0\.89 s，输入嵌入只占 0\.089 s"),
    ("cap_barely_acts", "model=gpt2", r"25 MiB 的上限真在起作用：中等大小的桶是 27\.0 MiB"),
    ("flipped_order_exposes_more", "model=qwen3-8b&tokens=512", r"露在外面 0\.54 s，没有变多"),
]  # fmt: skip

# Identities: true of every Scenario, so they have no "otherwise" to test.
ALWAYS = set(NAMES) - {name for name, _, _ in FAILS}

SCENARIOS = [
    "",
    "cards=2&tokens=1",
    "cards=3",
    "cards=12&gradient=fp32",
    "cards=1000000&latency=0",
    "cards=64&cards_per_node=8&tokens=65536",
    "model=qwen3-8b&cards=100",
    "model=deepseek-v3&cards=128&pipeline_stages=16",
    "model=llama-3.1-405b&cards=128&tensor_parallel=8",
    "model=gpt2&cards=5&pipeline_stages=2&micro_batches=1&interleave=1",
    "model=mixtral-8x7b&card_memory=10000",
]


def test_there_are_enough() -> None:
    assert len(NAMES) >= 25
    assert len(set(NAMES)) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_lesson_is_right(name: str) -> None:
    verdict = judge(name, parse_scenario(LESSON[name]))
    assert verdict.holds, [c.substituted() for c in verdict.comparisons]
    assert verdict.instead == ""
    assert all(c.holds for c in verdict.comparisons)


@pytest.mark.parametrize(("name", "query", "words"), FAILS)
def test_and_wrong_where_it_does_not_hold(name: str, query: str, words: str) -> None:
    verdict = judge(name, parse_scenario(query))
    assert not verdict.holds
    assert re.search(words, verdict.instead), verdict.instead
    assert not all(c.holds for c in verdict.comparisons)


def test_the_lessons_two_token_counts() -> None:
    for tokens, exceeds in ((4096, True), (7589, True), (7590, False), (16384, False)):
        assert judge("comm_exceeds_backward", parse_scenario(f"tokens={tokens}")).holds is exceeds
        assert (
            judge("backward_covers_comm", parse_scenario(f"tokens={tokens}")).holds is not exceeds
        )


@pytest.mark.parametrize("query", SCENARIOS)
@pytest.mark.parametrize("name", NAMES)
def test_every_claim_is_judged_or_refused(name: str, query: str) -> None:
    try:
        verdict = judge(name, parse_scenario(query))
    except (ScenarioError, ConfigError):
        return
    assert verdict.holds == (verdict.instead == "")
    assert verdict.holds or name not in ALWAYS
    assert "{" not in verdict.instead
    assert not re.search(r"[\u4e00-\u9fff][,;:]|[,;:][\u4e00-\u9fff]", verdict.instead)


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_rest_on_known_quantities_and_are_json(name: str) -> None:
    verdict = judge(name, parse_scenario(LESSON[name]))
    assert verdict.rests_on
    assert set(verdict.rests_on) <= set(names())
    record = json.loads(json.dumps(verdict.record(), ensure_ascii=False))
    assert record["holds"] is True
    assert record["comparisons"]
    for c in record["comparisons"]:
        assert not re.search(r"[a-z0-9_-]+\.[a-z]", c["formula"]), c["formula"]


@pytest.mark.parametrize("claim", claims(), ids=lambda c: c.name)
def test_texts(claim: engine.Claim) -> None:
    assert re.fullmatch(r"[a-z0-9_]+", claim.name)
    assert re.search(r"[\u4e00-\u9fff]", claim.says)
    assert len(claim.says) <= 55
    assert not claim.says.endswith("。")
    for text in (claim.says, claim.otherwise):
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z0-9{]|[A-Za-z0-9}%][\u4e00-\u9fff]", text)
    known = {*names(), *SPECS}
    assert set(re.findall(r"\{([^{}]+)\}", claim.otherwise)) <= known
    assert claim.otherwise or claim.name in ALWAYS


@pytest.mark.parametrize("query", ["", "cards_per_node=8", "cards=4&cards_per_node=8"])
def test_a_hierarchy_that_is_the_flat_ring_is_not_compared_with_itself(query: str) -> None:
    verdict = judge("hierarchical_faster_than_flat_ring", parse_scenario(query))
    assert not verdict.holds
    assert [c.symbolic() for c in verdict.comparisons] == ["g > 1", "N > g"]


def test_the_busiest_card_has_a_symbol_that_says_which() -> None:
    for claim_, left in (
        ("ring_reaches_the_bound", "A_ring"),
        ("root_sends_more_than_ring", "A_root"),
        ("switch_beats_the_bound", "A_switch"),
    ):
        assert judge(claim_).comparisons[0].left.symbolic() == left


def test_verdict_shows_its_arithmetic() -> None:
    verdict = judge("comm_exceeds_backward")
    (comparison,) = verdict.comparisons
    assert comparison.symbolic() == "t_comm > t_bwd"
    assert comparison.substituted() == "1.945 s > 1.050 s"
    assert verdict.rests_on == ("communication.seconds", "backward.seconds")


def test_unknown_claims_come_with_near_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        judge("comm_exceeds_backwards")
    assert caught.value.close[0] == "comm_exceeds_backward"


# What a wrong formula would do: a claim that survives any of them says nothing.


@pytest.fixture
def _fresh() -> Iterator[None]:
    """No evaluation from before, and none of this test's left behind."""
    quantities.at.cache_clear()
    yield
    quantities.at.cache_clear()


def slips(monkeypatch: pytest.MonkeyPatch, quantity: str) -> Iterator[None]:
    """The formula of ``quantity`` wrong in two ways, each growing with cards and tokens."""
    right = quantities._DECLARED[quantity]
    for wrong in (
        lambda at: right.formula(at) * (at.scenario.cards * at.scenario.tokens),
        lambda at: right.formula(at) / (at.scenario.cards * at.scenario.tokens),
    ):
        with monkeypatch.context() as patch:
            patch.setitem(quantities._DECLARED, quantity, replace(right, formula=wrong))
            quantities.at.cache_clear()
            yield


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_formula_makes_the_claim_false(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = parse_scenario(LESSON[name])
    rests_on = [q for q in judge(name, scenario).rests_on if q not in (*SPECS, "run.cards")]
    verdicts = [judge(name, scenario).holds for q in rests_on for _ in slips(monkeypatch, q)]
    assert not all(verdicts)


@pytest.mark.usefixtures("_fresh")
@pytest.mark.parametrize(
    ("name", "quantity"),
    [
        ("naive_loads_card0", "naive.received_by_card0"),
        ("naive_loads_card0", "naive.ledger_card0"),
        ("naive_over_ring_is_half_n", "ring.sent_per_card"),
        ("naive_over_ring_is_half_n", "ring.ledger_card0"),
        ("halves_make_ring", "reduce-scatter.sent_by_busiest"),
        ("halves_make_ring", "all-gather.ledger_busiest"),
        ("ring_reaches_the_bound", "allreduce.transfers_per_element"),
        ("ring_reaches_the_bound", "ring.ledger_busiest"),
        ("totals_are_equal", "tree.sent_in_total"),
        ("totals_are_equal", "halving-doubling.ledger_total"),
        ("copies_stay_whole", "state.bytes"),
        ("comm_ignores_tokens", "ring.sent_per_card"),
        ("comm_ignores_tokens", "backward.flops"),
        ("zigzag_is_even", "context_parallel.example_zigzag_card2"),
        ("dsv3_product_is_its_cards", "dsv3.cards_per_replica"),
        ("dsv3_experts_fill_their_nodes", "dsv3.expert_parallel_cards"),
    ],
)
def test_identities_rest_on_two_sides(
    name: str, quantity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = [judge(name).holds for _ in slips(monkeypatch, quantity)]
    assert verdicts == [False, False]


@pytest.mark.usefixtures("_fresh")
def test_the_ledger_of_a_wrong_schedule_makes_the_claim_false(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A ring that goes all the way round in its first half sends N blocks where N−1 do."""

    def once_too_often(n: int, g: int) -> Iterator[Step]:
        yield from all_gather(n, g)
        yield from all_gather(n, g)
        yield from all_gather(n, g)

    ledger._ledger.cache_clear()
    monkeypatch.setitem(SCHEMES, "ring", once_too_often)
    for name in ("halves_make_ring", "ring_reaches_the_bound", "totals_are_equal"):
        assert not judge(name).holds, name
    ledger._ledger.cache_clear()


@pytest.mark.parametrize("cards", [2, 3, 8, 16, 17, 1_048_576])
def test_identities_hold_for_any_number_of_cards(cards: int) -> None:
    for name in ("naive_loads_card0", "naive_over_ring_is_half_n", "halves_make_ring",
                 "totals_are_equal", "ring_reaches_the_bound", "copies_stay_whole",
                 "nothing_beats_ring_on_bytes"):  # fmt: skip
        assert judge(name, parse_scenario(f"cards={cards}")).holds, name
    assert judge("comm_ignores_tokens", parse_scenario("tokens=1000000000")).holds


def test_the_ring_is_compared_with_every_other_all_reduce() -> None:
    left_out = {"ring", "reduce-scatter", "all-gather", "in-network"}
    compared = {f"{s}.sent_by_busiest" for s in COMPARED if s not in left_out}
    for query, cannot_run in (("", set()), ("cards=6&cards_per_node=4", {"hierarchical"})):
        verdict = judge("nothing_beats_ring_on_bytes", parse_scenario(query))
        expected = compared - {f"{s}.sent_by_busiest" for s in cannot_run}
        assert set(verdict.rests_on) == {"ring.sent_per_card", *expected}


@pytest.mark.parametrize(
    ("name", "query", "field"),
    [
        ("kv_heads_limit_ulysses", "context_parallel=3", "context_parallel"),
        ("kv_heads_limit_ulysses", "context_parallel=6", "context_parallel"),
        ("kv_heads_fewer_than_tensor_parallel", "tensor_parallel=3", "tensor_parallel"),
        ("kv_heads_fewer_than_tensor_parallel", "tensor_parallel=6", "tensor_parallel"),
        ("tensor_parallel_slower_across_nodes", "tensor_parallel=7", "tensor_parallel"),
        ("interleaving_divides_bubble", "micro_batches=12", "micro_batches"),
        ("zb_h1_is_a_third", "micro_batches=7", "micro_batches"),
        ("node_limit_saves_traffic", "model=deepseek-v3&expert_parallel=48", "expert_parallel"),
    ],
)
def test_claims_about_what_cannot_run_are_refused(name: str, query: str, field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        judge(name, parse_scenario(query))
    assert caught.value.field == field


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    registry = dict(engine._DECLARED)
    monkeypatch.setattr(engine, "_DECLARED", registry)
    return registry


@pytest.mark.usefixtures("scratch")
def test_a_claim_without_otherwise_writes_out_what_failed() -> None:
    engine.claim("test_more", "测试")(lambda at: [at.cards < 8, at.cards > 100])
    assert judge("test_more").instead == "实际上 8 ≥ 8"
    assert judge("test_more", parse_scenario("cards=4")).instead == "实际上 4 ≤ 100"


@pytest.mark.usefixtures("scratch")
def test_ambiguous_comparisons_and_taken_names_are_refused() -> None:
    engine.claim("test_two", "测试")(lambda at: [at.cards > at.given("N", 3, "count", "另一个 N")])
    with pytest.raises(LessonError, match="one symbol"):
        judge("test_two", DEFAULT)
    with pytest.raises(LessonError, match="not taken"):
        engine.claim("comm_exceeds_backward", "测试")(lambda at: [])
