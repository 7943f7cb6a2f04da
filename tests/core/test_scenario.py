"""Scenario: one frozen value, the same in the URL, on the command line and in prose."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core import data, facts
from py_core.claims import judge
from py_core.errors import ConfigError, LessonError, ScenarioError, UnknownName
from py_core.model import ANCHOR, Model, load_model, own_model, published_model
from py_core.quantity import at, evaluate, names
from py_core.scenario import (
    DEFAULT,
    FIELD_NAMES,
    SPECS,
    FieldSpec,
    Scenario,
    decimal,
    parse_scenario,
)

NUMBERS = [s for s in SPECS.values() if not s.choices]


def values(spec: FieldSpec) -> st.SearchStrategy[Any]:
    if spec.choices:
        return st.sampled_from(spec.choices)
    if spec.integer:
        return st.integers(int(spec.low), int(spec.high))
    steps = 10**9
    return st.integers(int(spec.low * steps), int(spec.high * steps)).map(
        lambda n: Fraction(n, steps)
    )


scenarios = st.fixed_dictionaries(
    {}, optional={name: values(spec) for name, spec in SPECS.items()}
).map(lambda changes: Scenario(**changes))


@given(scenarios)
def test_round_trip(scenario: Scenario) -> None:
    back = parse_scenario(scenario.query())
    assert back == scenario
    assert hash(back) == hash(scenario)
    assert back.query() == scenario.query()
    assert dict(parse_qsl(scenario.query())) == scenario.changes()


@pytest.mark.parametrize("slug", [ANCHOR, *data.model_slugs()])
def test_models_round_trip(slug: str) -> None:
    scenario = DEFAULT.with_fields({"model": slug})
    assert parse_scenario(scenario.query()) == scenario
    assert scenario.query() == ("" if slug == ANCHOR else f"model={slug}")


def test_the_defaults_are_the_lessons() -> None:
    told = "tests work out their figures for these: if the lesson's change, the tests' do too"
    assert DEFAULT.model.slug == ANCHOR, told
    assert (DEFAULT.cards, DEFAULT.tokens, DEFAULT.gradient) == (8, 4096, "bf16"), told
    assert [DEFAULT.bandwidth, DEFAULT.node_bandwidth, DEFAULT.flops] == [50, 160, 400], told
    assert parse_scenario("") == DEFAULT


def test_only_changes_are_written_in_declared_order() -> None:
    assert parse_scenario("tokens=16384&cards=64&bandwidth=50.0").query() == "cards=64&tokens=16384"


def test_fractions_are_exact() -> None:
    scenario = parse_scenario("bandwidth=12.5&latency=0.1")
    assert (scenario.bandwidth, scenario.latency) == (Fraction(25, 2), Fraction(1, 10))
    assert scenario.query() == "bandwidth=12.5&latency=0.1"


BAD = ["0", "-3", "2.5", "abc", "１２", "NaN", "nan", "Infinity", "1e9", "", " 8", "8 ", "+8",
       "0x10", "8,000", "1" * 16, "9" * 10_000, "８", "½", "<b>", "8\n", "8\x00"]  # fmt: skip


@pytest.mark.parametrize("value", BAD)
def test_bad_text_names_the_field_and_what_is_accepted(value: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        DEFAULT.with_fields({"cards": value})
    error = caught.value
    assert error.field == "cards"
    assert str(error).startswith("cards: got ")
    assert "a whole number from 2 to 1,048,576" in str(error)
    assert "2 到 1,048,576 之间的整数" in error.chinese
    assert len(str(error)) < 200


@pytest.mark.parametrize(
    "value",
    [1, 0, -3, 2.5, 8.0, True, None, float("nan"), float("inf"), 10**9, Fraction(5, 2), [8]],
)
def test_bad_values_name_the_field(value: object) -> None:
    with pytest.raises(ScenarioError, match="cards"):
        replace(DEFAULT, cards=value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["-1", "1e3", "NaN", "0", "0.0001", "1000000", ".5", "5.", "1/2"])
def test_bad_reals(value: str) -> None:
    with pytest.raises(ScenarioError, match=r"bandwidth.*a number from 0\.001 to 100000 GB/s"):
        DEFAULT.with_fields({"bandwidth": value})


def test_what_a_link_could_not_carry_is_refused() -> None:
    """A third has no finite decimal; it would not come back from the URL."""
    with pytest.raises(ScenarioError, match="bandwidth"):
        Scenario(bandwidth=Fraction(100, 3))


@pytest.mark.parametrize("spec", NUMBERS, ids=lambda s: s.name)
def test_limits_are_inclusive_and_hold(spec: FieldSpec) -> None:
    step = 1 if spec.integer else Fraction(1, 10**9)
    for edge in (spec.low, spec.high):
        kept = getattr(DEFAULT.with_fields({spec.name: decimal(edge)}), spec.name)
        assert kept == edge
    for beyond in (spec.low - step, spec.high + step):
        with pytest.raises(ScenarioError, match=spec.name):
            DEFAULT.with_fields({spec.name: beyond})


def test_choices() -> None:
    assert parse_scenario("gradient=fp32").gradient == "fp32"
    with pytest.raises(ScenarioError, match=r"gradient.*one of bf16, fp16, fp32"):
        parse_scenario("gradient=fp8")


def test_unknown_keys_come_with_near_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        parse_scenario("card=64")
    assert "cards" in caught.value.close
    with pytest.raises(UnknownName, match=r"qwen3-8b"):
        parse_scenario("model=qwen3-8B")


def own(layers: int) -> Model:
    config = {**load_model("gpt2").config, "n_layer": layers}
    return own_model(json.dumps(config).encode())


def test_a_readers_own_model_comes_back_from_whoever_holds_it() -> None:
    small, large = own(3), own(5)
    held = {m.slug: m for m in (small, large)}
    scenario = Scenario(model=small, cards=64)
    assert scenario.query() == f"model={small.slug}&cards=64"
    back = parse_scenario(scenario.query(), held)
    assert back == scenario
    assert back.model is small
    assert back.model.inventory.dims.layers == 3
    assert parse_scenario("model=qwen3-8b", held).model == load_model("qwen3-8b")
    assert parse_scenario("", held) == DEFAULT


def test_a_model_that_nobody_holds_is_unknown() -> None:
    query = Scenario(model=own(3)).query()
    for held in (None, {}, {"own-000000000000": own(5)}):
        with pytest.raises(UnknownName, match=r"model: (no|got) 'own-"):
            parse_scenario(query, held)


def test_a_name_that_nothing_is_close_to_lists_a_few() -> None:
    for lookup in (evaluate, judge, lambda name: DEFAULT.with_fields({name: "1"})):
        with pytest.raises(UnknownName) as caught:
            lookup("zzzzzzzzzzzz")
        assert caught.value.close == []
        assert len(str(caught.value)) < 600
        listed, more = str(caught.value).split("one of ")[1].rsplit(" and ", 1)
        assert len(listed.split(", ")) == 8
        assert re.fullmatch(r"[0-9]+ more", more)
        assert re.search(r"，还有 [0-9]+ 个$", caught.value.chinese)
    all_quantities = len(names())
    with pytest.raises(UnknownName, match=f"and {all_quantities - 8} more"):
        evaluate("zzzzzzzzzzzz")


@pytest.mark.parametrize(
    ("lookup", "asked", "found"),
    [
        (evaluate, "ring.sent_per_crad", "ring.sent_per_card"),
        (evaluate, "朴素 0 号卡收到", "naive.received_by_card0"),
        (evaluate, "反向时间", "backward.seconds"),
        (facts.fact, "预训练机时", "dsv3.pretrain_gpu_hours"),
        (facts.fact, "pretrain hours", "dsv3.pretrain_gpu_hours"),
        (facts.paper, "Trillion Parameter Models", "zero"),
        (judge, "通信比反向计算久", "comm_exceeds_backward"),
    ],
)
def test_a_name_is_found_by_spelling_and_by_meaning(
    lookup: Callable[[str], object], asked: str, found: str
) -> None:
    with pytest.raises(UnknownName) as caught:
        lookup(asked)
    assert found in caught.value.close
    assert len(caught.value.close) == 3


@pytest.mark.parametrize(("known", "tail"), [(8, "n7"), (9, "n7 and 1 more"), (1, "n0")])
def test_eight_names_are_still_listed(known: int, tail: str) -> None:
    error = UnknownName("thing", "zzz", [f"n{i}" for i in range(known)])
    assert str(error).endswith(tail)


def test_errors_show_what_cannot_be_seen() -> None:
    """A right-to-left override would turn the sentence around it."""
    error = ScenarioError("cards", "\u202e8\u200b", "a number")
    assert "\u202e" not in error.chinese + str(error)
    assert "\\u202e8\\u200b" in error.chinese


def test_a_file_of_ours_is_read_when_it_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """So that importing py_core cannot fail; the error names the file, in the core already."""
    for text, field in (
        ("[", "/"),
        ('{"name": "x", "config": 3}', "/config"),
        ('{"name": "x", "config": {"model_type": "gpt2", "n_layer": 0}}', "/config/n_layer"),
    ):
        (tmp_path / "anchor-model.json").write_text(text, encoding="utf-8")
        monkeypatch.setattr(data, "folder", lambda: tmp_path)
        published_model.cache_clear()
        scenario = Scenario()
        assert scenario == DEFAULT
        assert scenario.query() == ""
        with pytest.raises(ConfigError) as caught:
            _ = scenario.model.inventory
        assert caught.value.field == f"docs/data/anchor-model.json: {field}"
    monkeypatch.undo()
    published_model.cache_clear()


def test_a_model_must_be_a_model() -> None:
    for wrong in (3, None, {"model_type": "llama"}):
        with pytest.raises(ScenarioError, match="model"):
            DEFAULT.with_fields({"model": wrong})


def test_a_key_is_given_once() -> None:
    with pytest.raises(ScenarioError, match=r"cards.*given once"):
        parse_scenario("cards=8&cards=16")
    with pytest.raises(ScenarioError, match="cards"):
        parse_scenario("cards")


@given(st.text(max_size=40))
def test_any_query_parses_or_raises_ours(query: str) -> None:
    try:
        text = parse_scenario(query).query()
    except LessonError as error:
        text = str(error) + error.chinese
    assert isinstance(text, str)


def test_frozen_and_hashable() -> None:
    with pytest.raises(FrozenInstanceError):
        DEFAULT.cards = 9  # type: ignore[misc]
    assert len({DEFAULT, parse_scenario("cards=8"), parse_scenario("cards=9")}) == 2
    assert at(parse_scenario("cards=9")) is at(parse_scenario("cards=9"))


def test_fields_specs_and_symbols_agree() -> None:
    assert set(FIELD_NAMES) == {"model", *SPECS}
    symbols = [s.symbol for s in SPECS.values()]
    assert len(symbols) == len(set(symbols))
    published_model.cache_clear()
    assert load_model(ANCHOR) == DEFAULT.model
