"""Quantities: the engine's promises, and byte formulas against the executor's ledgers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_core import quantity as engine
from py_core.errors import ConfigError, LessonError, ScenarioError, UnitError, UnknownName
from py_core.executor import Run, block_bounds, run
from py_core.model import Model
from py_core.quantities.schemes import SCHEMES as COMPARED
from py_core.quantity import At, Quantity, at, evaluate, names
from py_core.scenario import DEFAULT, SPECS, Scenario, parse_scenario
from py_core.schedules import SCHEMES, Schedule, Step, Transfer, schedule
from py_core.terms import Named, Term, ambiguous
from py_core.units import UNITS

SCENARIOS = [
    "",
    "model=qwen3-8b",
    "model=deepseek-v3&pipeline_stages=16",
    "model=llama-3.1-405b&cards=128&gradient=fp32",
    "model=gpt2&cards=2&micro_batches=1",
    "model=mixtral-8x7b&expert_parallel=8&cards=12&cards_per_node=4",
    "model=kimi-k2&cards=7&sequence=131072&context_parallel=16",
    "model=falcon-7b&cards=1000000&tokens=1000000000",
    "model=qwen3-next-80b-a3b&latency=0&node_latency=0",
    "cards=64&cards_per_node=8&tokens=16384",
    "cards=6&cards_per_node=4&pipeline_stages=1&tensor_parallel=1&context_parallel=1&interleave=1",
    "cards=1048576&sequence=1&bandwidth=0.001&flops=0.001&card_memory=1&bucket_cap=0.001",
]


def evaluated(query: str) -> Iterator[Quantity]:
    """All quantities that the Scenario has; the others refuse in the project's own words."""
    here = at(parse_scenario(query))
    for name in names():
        try:
            yield here.quantity(name)
        except (ScenarioError, ConfigError):
            continue


@pytest.mark.parametrize("query", SCENARIOS)
def test_every_quantity_evaluates_or_refuses(query: str) -> None:
    assert sum(1 for _ in evaluated(query)) > 0.85 * len(names())


def test_what_the_anchor_lacks_is_only_experts() -> None:
    missing = set(names()) - {q.name for q in evaluated("")}
    assert {n.partition(".")[0] for n in missing} == {"expert_parallel"}
    assert not set(names()) - {
        q.name for q in evaluated("model=qwen3-next-80b-a3b&tensor_parallel=4")
    }


@pytest.mark.parametrize("query", SCENARIOS)
def test_symbols_are_unique_and_readable(query: str) -> None:
    for q in evaluated(query):
        assert ambiguous(q.term) is None, q.name
        assert q.inputs, q.name
        for n in q.inputs:
            assert not re.match(r"[a-z0-9_-]+\.[a-z]", n.symbol), (q.name, n.symbol)


def test_readers_texts_are_short_chinese() -> None:
    for q in evaluated("model=deepseek-v3&pipeline_stages=16"):
        assert re.search(r"[\u4e00-\u9fff]", q.says), q.name
        assert len(q.says) <= 56, (q.name, len(q.says))
        assert not re.search(r"[\u4e00-\u9fff][,;:?!]|[,;:?!][\u4e00-\u9fff]", q.says), q.name
        assert not re.search(r"增长 \S+ 倍", q.says), q.name
        assert not re.search(r"：.*：", q.says), q.name
        # Words that a reader may take for something else.
        assert not re.search(r"对数|搬|多少倍|每步|(?<!通信)步数", q.says) or q.name in SPECS, (
            q.name
        )
        # 几倍 is answered by 倍, and by nothing else.
        assert ("几倍" in q.says) == (q.unit.name == "×"), q.name
        for text in (q.says, *(n.source.says for n in q.inputs)):
            glued = r"[\u4e00-\u9fff][A-Za-z0-9]|[A-Za-z0-9%][\u4e00-\u9fff]"
            assert not re.search(glued, text), (q.name, text)


LEAVES = {"scenario", "config", "inventory", "fact", "convention", "measured"}


def leaves(record: dict[str, Any]) -> Iterator[str]:
    for given_ in record["inputs"]:
        if given_["kind"] == "quantity":
            yield from leaves(given_)
        else:
            yield given_["kind"]


@pytest.mark.parametrize("query", SCENARIOS[:4])
def test_records_are_json_and_end_in_leaves(query: str) -> None:
    for q in evaluated(query):
        record = json.loads(json.dumps(q.record(), ensure_ascii=False))
        found = set(leaves(record))
        assert found, q.name
        assert found <= LEAVES, q.name
        assert record["display"] == q.display()
        assert record["unit"] in UNITS


def test_config_inputs_point_into_the_config() -> None:
    scenario = parse_scenario("model=deepseek-v3")
    for name in ("model.layers", "model.hidden", "model.kv_heads", "model.experts"):
        (given_,) = at(scenario).quantity(name).record()["inputs"]
        assert given_["file"] == "models/deepseek-v3.json"
        field = given_["pointer"].lstrip("/")
        assert scenario.model.config[field] == at(scenario).quantity(name).value


# Formulas against ledgers: what the page says a scheme moves is what running it moves.


def per_card(name: str, cards: int, per_node: int = 1) -> Fraction:
    """A byte quantity in units of the whole gradient."""
    here = at(parse_scenario(f"cards={cards}&cards_per_node={per_node}"))
    return here.quantity(name).value / here.quantity("gradient.bytes").value


def finished(plan: Schedule) -> Run:
    """The plan carried out on N elements per card: one per block."""
    return run(plan, plan.cards, seed=1).finish()


def share(elements: int, cards: int) -> Fraction:
    return Fraction(elements, cards)


@pytest.mark.parametrize("cards", range(2, 17))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_totals_and_steps_equal_the_ledger(scheme: str, cards: int) -> None:
    nodes = [g for g in range(1, cards + 1) if cards % g == 0] if scheme == "hierarchical" else [1]
    for g in nodes:
        plan = schedule(scheme, cards, g if scheme == "hierarchical" else None)
        done = finished(plan)
        assert per_card(f"{scheme}.sent_in_total", cards, g) == share(done.ledger.total_sent, cards)
        here = at(parse_scenario(f"cards={cards}&cards_per_node={g}"))
        assert here.quantity(f"{scheme}.steps").value == len(plan.steps)


@pytest.mark.parametrize("cards", range(2, 17))
@pytest.mark.parametrize("scheme", [s for s in SCHEMES if s != "halving-doubling"])
def test_busiest_card_equals_the_ledger(scheme: str, cards: int) -> None:
    nodes = [g for g in range(1, cards + 1) if cards % g == 0] if scheme == "hierarchical" else [1]
    for g in nodes:
        done = finished(schedule(scheme, cards, g if scheme == "hierarchical" else None))
        assert per_card(f"{scheme}.sent_by_busiest", cards, g) == share(done.ledger.busiest, cards)


@pytest.mark.parametrize("cards", range(2, 17))
def test_halving_doubling_equals_the_ledger(cards: int) -> None:
    """Exactly for powers of two; else N blocks do not halve evenly, and the ledger is off by
    what that rounding adds or spares: less than half a block in every halving and doubling."""
    busiest = share(finished(schedule("halving-doubling", cards)).ledger.busiest, cards)
    formula = per_card("halving-doubling.sent_by_busiest", cards)
    if cards & (cards - 1) == 0:
        assert busiest == formula
    else:
        assert abs(busiest - formula) < Fraction(cards.bit_length() - 1, cards)


@pytest.mark.parametrize("cards", range(2, 17))
def test_naive_and_tree_details_equal_the_ledger(cards: int) -> None:
    naive = finished(schedule("naive", cards)).ledger
    assert per_card("naive.received_by_card0", cards) == share(naive.received[0], cards)
    for received in naive.received[1:]:
        assert per_card("naive.received_by_others", cards) == share(received, cards)
    tree = finished(schedule("tree", cards)).ledger
    assert per_card("tree.sent_by_leaf", cards) == share(min(tree.sent), cards)
    ring = finished(schedule("ring", cards)).ledger
    assert {per_card("ring.sent_per_card", cards)} == {share(s, cards) for s in ring.sent}
    assert per_card("allreduce.least_in_total", cards) == share(ring.total_sent, cards)


def whole(cards: int) -> tuple[int, ...]:
    return tuple(range(cards))


def custom(scheme: str, cards: int, steps: list[Step]) -> Schedule:
    return Schedule(scheme, cards, tuple(steps), (whole(cards),) * cards)


@pytest.mark.parametrize("cards", range(2, 17))
def test_one_shot_equals_a_ledger(cards: int) -> None:
    pairs = [(a, b) for a in range(cards) for b in range(cards) if a != b]
    step = Step("gather", tuple(Transfer(a, b, whole(cards), "add") for a, b in pairs))
    done = finished(custom("one-shot", cards, [step]))
    assert done.max_difference == 0
    assert per_card("one-shot.sent_by_busiest", cards) == share(done.ledger.busiest, cards)
    assert per_card("one-shot.sent_in_total", cards) == share(done.ledger.total_sent, cards)


@pytest.mark.parametrize("cards", range(2, 17))
def test_recursive_doubling_equals_a_ledger(cards: int) -> None:
    power = 1 << (cards.bit_length() - 1)
    extra = cards - power
    active = [2 * i for i in range(extra)] + list(range(2 * extra, cards))
    steps = []
    if extra:
        folds = (Transfer(2 * i + 1, 2 * i, whole(cards), "add") for i in range(extra))
        steps.append(Step("fold", tuple(folds)))
    for k in range(power.bit_length() - 1):
        both = (
            Transfer(active[v], active[v ^ (1 << k)], whole(cards), "add") for v in range(power)
        )
        steps.append(Step("gather", tuple(both)))
    if extra:
        backs = (Transfer(2 * i, 2 * i + 1, whole(cards), "copy") for i in range(extra))
        steps.append(Step("unfold", tuple(backs)))
    done = finished(custom("recursive-doubling", cards, steps))
    assert done.max_difference == 0
    name = "recursive-doubling"
    assert per_card(f"{name}.sent_by_busiest", cards) == share(done.ledger.busiest, cards)
    assert per_card(f"{name}.sent_in_total", cards) == share(done.ledger.total_sent, cards)
    assert at(parse_scenario(f"cards={cards}")).quantity(f"{name}.steps").value == len(steps)


@pytest.mark.parametrize("cards", range(2, 17))
def test_torus_equals_the_hierarchical_ledger(cards: int) -> None:
    """Rings along rows, then along columns, move what a hierarchy of that node size moves."""
    rows = int(at(parse_scenario(f"cards={cards}")).quantity("torus.rows").value)
    plan = schedule("hierarchical", cards, rows)
    done = finished(plan)
    assert per_card("torus.sent_by_busiest", cards) == share(done.ledger.busiest, cards)
    assert at(parse_scenario(f"cards={cards}")).quantity("torus.steps").value == len(plan.steps)


def test_uneven_blocks_change_no_total() -> None:
    assert [b - a for a, b in block_bounds(17, 5)] == [4, 4, 3, 3, 3]
    assert run(schedule("ring", 5), 17, seed=1).finish().ledger.total_sent == 2 * 4 * 17


@pytest.mark.parametrize("scheme", COMPARED)
@pytest.mark.parametrize("cards", [2, 5, 8, 12, 64])
def test_times_are_the_sum_of_their_parts(scheme: str, cards: int) -> None:
    here = at(parse_scenario(f"cards={cards}"))
    parts = [here.quantity(f"{scheme}.{p}_seconds").value for p in ("latency", "bandwidth")]
    assert here.quantity(f"{scheme}.seconds").value == sum(parts)


@given(cards=st.integers(2, 100_000), g=st.sampled_from([1, 2, 4, 8]))
@settings(max_examples=60, deadline=None)
def test_no_scheme_beats_the_bound(cards: int, g: int) -> None:
    here = at(Scenario(cards=cards * g, cards_per_node=g))
    least = here.quantity("allreduce.least_by_busiest").value
    for scheme in COMPARED:
        if scheme not in ("in-network", "reduce-scatter", "all-gather"):
            assert here.quantity(f"{scheme}.sent_by_busiest").value >= least, scheme


def test_crossovers_cross_where_they_say() -> None:
    """At S* latency equals bandwidth; just beside the tree's crossover the order flips."""
    here = at(parse_scenario("cards=64&latency=10"))
    n, alpha, w = 64, Fraction(10, 10**6), 50 * 10**9

    def ring(size: Fraction) -> Fraction:
        return 2 * (n - 1) * alpha + Fraction(2 * (n - 1), n) * size / w

    def tree(size: Fraction) -> Fraction:
        return 12 * (alpha + size / w)

    balance = here.quantity("ring.balance_bytes").value
    assert 2 * (n - 1) * alpha == Fraction(2 * (n - 1), n) * balance / w
    crossing = here.quantity("ring.beats_tree_from_bytes").value
    assert ring(crossing) == tree(crossing)
    assert ring(crossing + 1) < tree(crossing + 1)
    assert ring(crossing - 1) > tree(crossing - 1)


def test_break_even_is_the_first_token_count_that_hides() -> None:
    tokens = int(evaluate("communication.break_even_tokens").value)
    for extra, hidden in ((0, True), (-1, False)):
        here = at(Scenario(tokens=tokens + extra))
        ratio = here.quantity("communication.over_backward").value
        assert (ratio < 1) is hidden


@pytest.mark.parametrize("cards", [2, 3, 20, 21, 22, 1000])
def test_coefficient_threshold(cards: int) -> None:
    above = at(Scenario(cards=cards)).quantity("ring.coefficient").value > Fraction(19, 10)
    assert above == (cards >= evaluate("ring.cards_above_coefficient").value)


@given(c=st.integers(1, 32), u=st.integers(1, 200))
@settings(max_examples=40, deadline=None)
def test_pairs_equal_a_count_of_the_causal_mask(c: int, u: int) -> None:
    """Pairs of card r are counted one row of the mask at a time."""
    s = 2 * c * u
    here = at(Scenario(sequence=s, context_parallel=c))

    def rows(first: int, last: int) -> int:
        return sum(position + 1 for position in range(first, last))

    piece = s // c
    assert here.quantity("context_parallel.pairs_first").value == rows(0, piece)
    assert here.quantity("context_parallel.pairs_last").value == rows(s - piece, s)
    zigzag = {
        rows(r * u, (r + 1) * u) + rows((2 * c - 1 - r) * u, (2 * c - r) * u) for r in range(c)
    }
    assert {here.quantity("context_parallel.pairs_zigzag").value} == zigzag


# The engine.


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A registry that a test may add to."""
    names()
    registry = dict(engine._DECLARED)
    monkeypatch.setattr(engine, "_DECLARED", registry)
    return registry


def declare(name: str, unit: str, formula: Any) -> None:
    engine.quantity(name, unit, "测试")(formula)


@pytest.mark.usefixtures("scratch")
def test_two_inputs_under_one_symbol_are_refused() -> None:
    declare("test.two", "count", lambda at: at.cards + at.given("N", 3, "count", "另一个 N"))
    with pytest.raises(LessonError, match=r"formula of test\.two.*'N'"):
        At(DEFAULT).quantity("test.two")


@pytest.mark.usefixtures("scratch")
def test_same_symbol_and_value_but_another_source_is_refused_too() -> None:
    declare("test.equal", "count", lambda at: at.cards + at.given("N", 8, "count", "另一个 N"))
    with pytest.raises(LessonError, match="one symbol for each input"):
        At(DEFAULT).quantity("test.equal")


@pytest.mark.usefixtures("scratch")
def test_one_input_may_stand_twice() -> None:
    declare("test.twice", "count", lambda at: at.cards * (at.field("cards") - 1))
    assert [n.symbol for n in At(DEFAULT).quantity("test.twice").inputs] == ["N"]


@pytest.mark.usefixtures("scratch")
def test_a_formula_of_the_wrong_dimension_is_refused() -> None:
    declare("test.wrong", "GB", lambda at: at.cards + 1)
    with pytest.raises(UnitError, match=r"unit of test\.wrong"):
        At(DEFAULT).quantity("test.wrong")


@pytest.mark.usefixtures("scratch")
def test_names_are_taken_once() -> None:
    for taken in ("cards", "ring.sent_per_card"):
        with pytest.raises(LessonError, match="not taken"):
            declare(taken, "count", lambda at: at.cards)


def test_facts_are_read_in_their_own_dimension() -> None:
    here = At(DEFAULT)
    assert here.fact("dsv3.pretrain_gpu_hours", "H", "days").value == 2_664_000 * 3600
    with pytest.raises(UnitError, match=r"dsv3\.pretrain_gpu_hours"):
        here.fact("dsv3.pretrain_gpu_hours", "H", "GB")
    with pytest.raises(UnitError, match=r"zero\.first|year"):
        here.fact("fsdp.year", "y", "count")
    with pytest.raises(UnitError, match="to calculate with"):
        here.fact("llama3.row2_parallelism", "x", "count")
    with pytest.raises(LessonError, match="one number"):
        here.fact("llama3.mfu_range", "x", "ratio")


def test_printed_numbers_must_be_in_the_fact() -> None:
    here = At(DEFAULT)
    assert here.printed("korthikanti.bytes_tp_sp_selective", "34", 34, "B/token").value == 34
    with pytest.raises(LessonError, match="korthikanti"):
        here.printed("korthikanti.bytes_tp_sp_selective", "3", 3, "B/token")


def test_where_fixes_fields_and_says_so() -> None:
    here = At(Scenario(cards=16))
    named = here.where(cards=1024)("naive.received_by_card0")
    assert named.symbol == "R₀（N = 1,024）"
    assert named.source.where == (("cards", "1024"),)
    assert named.source.record()["where"] == {"cards": "1024"}
    assert here.where(cards=1024) is here.where(cards=1024)
    with pytest.raises(ScenarioError):
        here.where(cards=1)
    with pytest.raises(UnknownName):
        here.where(card=2)


def test_growth_is_pinned_whatever_the_reader_chose() -> None:
    for query in ("", "cards=64&cards_per_node=64", "cards=6&cards_per_node=3"):
        assert at(parse_scenario(query)).quantity("naive.growth_8_to_1024").display() == "146 倍"


def test_unknown_names_come_with_near_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        evaluate("ring.sent_per_crad")
    assert "ring.sent_per_card" in caught.value.close
    with pytest.raises(AttributeError):
        _ = At(DEFAULT).crads


def test_scenario_fields_are_quantities() -> None:
    q = evaluate("cards", Scenario(cards=64))
    assert [q.value, q.display(), q.formula] == [64, "64", "N"]
    assert "model" not in names()
    assert "gradient" not in names()


def test_display_in_another_unit_of_the_dimension() -> None:
    q = evaluate("ring.sent_per_card")
    assert q.display("TB") == "0.097 TB"
    assert q.display(digits=3) == "97.235 GB"
    assert q.full == "97,234,997,832"
    assert evaluate("communication.seconds").full == "1.94469995664"
    assert evaluate("ring.coefficient").full == "1.75"
    cards = parse_scenario("cards=3")
    assert evaluate("ring.coefficient", cards).full == "1.33333333333333…"
    assert evaluate("ring.sent_per_card", cards).full == "74,083,807,872"
    with pytest.raises(UnitError):
        q.display("s")


def test_uneven_nodes_are_refused_only_where_they_matter() -> None:
    here = at(parse_scenario("cards=6&cards_per_node=4"))
    assert here.quantity("ring.seconds").value > 0
    with pytest.raises(ScenarioError) as caught:
        here.quantity("hierarchical.seconds")
    assert caught.value.field == "cards_per_node"


def test_one_node_takes_the_nodes_bandwidth() -> None:
    inside, across = (at(Scenario(cards=8, cards_per_node=g)) for g in (8, 4))
    assert inside.quantity("link.bandwidth").display() == "160 GB/s"
    assert across.quantity("link.bandwidth").display() == "50 GB/s"


@pytest.mark.parametrize(
    ("name", "query", "lacks", "instead"),
    [
        ("expert_parallel.experts_per_card", "", "稠密", "deepseek-v3"),
        ("linear_attention.state_bytes", "model=qwen3-8b", "线性注意力", "qwen3.8-27b"),
    ],
)
def test_a_model_that_lacks_something_says_so_and_names_another(
    name: str, query: str, lacks: str, instead: str
) -> None:
    """The model is what the reader set; no field of its config is at fault."""
    with pytest.raises(ScenarioError) as caught:
        evaluate(name, parse_scenario(query))
    assert caught.value.field == "model"
    assert caught.value.value == parse_scenario(query).model.name
    assert lacks in caught.value.chinese
    assert f"例如 {instead}（" in caught.value.chinese
    assert f"such as model={instead} " in str(caught.value)
    assert evaluate(name, parse_scenario(f"model={instead}")).value > 0


def test_broken_model_raises_config_error() -> None:
    model = Model("broken", "broken", {"model_type": "no-such-type"})
    with pytest.raises(ConfigError):
        evaluate("model.parameters", Scenario(model=model))


def test_parts_that_a_model_lacks_are_left_out_of_the_sum() -> None:
    model = Model("tiny", "tiny", {})
    model.__dict__["inventory"] = SimpleNamespace(parts={"layers": 5, "vision": 0, "norm": 2})
    q = evaluate("model.parameters", Scenario(model=model))
    assert [q.value, q.formula] == [7, "P_layers + P_norm"]


def test_every_formula_can_be_worked_out_again() -> None:
    """Evaluating the printed formula with its inputs' values gives the value."""
    functions = {"min": min, "max": max}
    checked = 0
    for q in evaluated("cards=12"):
        if re.search(r"[⌈⌊√²|^]|log|C\(|账本|模拟", q.formula):
            continue
        expression, values = _as_python(q.formula, q.inputs)
        assert eval(expression, functions, values) == q.value, q.name
        checked += 1
    assert checked > 250


def _as_python(formula: str, inputs: list[Named]) -> tuple[str, dict[str, Fraction]]:
    values = {}
    for i, n in enumerate(sorted(inputs, key=lambda n: -len(n.symbol))):
        formula = re.sub(rf"(?<![^\s(]){re.escape(n.symbol)}(?![^\s),])", f"_v{i}_", formula)
        values[f"_v{i}_"] = n.value
    for sign, python in (("×", "*"), ("÷", "/"), ("−", "-"), (",", ",")):
        formula = formula.replace(sign, python)
    return formula, values


def test_terms_carry_units() -> None:
    here = At(DEFAULT)
    term: Term = here("gradient.bytes") / here("link.bandwidth")
    assert term.dimension == UNITS["s"].dimension
    with pytest.raises(UnitError):
        _ = here("gradient.bytes") + here("communication.seconds")
