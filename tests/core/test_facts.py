"""Paper facts: every figure has a source, a place and a state of verification."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from py_core import data, facts
from py_core.errors import ConfigError, LessonError, UnitError, UnknownName
from py_core.facts import NOT_FOR_CALCULATION, fact, ids, paper
from py_core.inputs import FactInput
from py_core.quantity import at, names
from py_core.scenario import parse_scenario
from py_core.units import UNITS


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len(pairs) == len({k for k, _ in pairs}), [k for k, _ in pairs]
    return dict(pairs)


RAW = json.loads(data.read("facts.json"), object_pairs_hook=unique_keys)
VERIFIED = {"seen text", "seen citation", "from memory"}


def test_size_of_the_file() -> None:
    assert set(RAW) == {"sources", "facts"}
    assert len(RAW["facts"]) == 261
    assert len(RAW["sources"]) == 54


@pytest.mark.parametrize("fact_id", ids())
def test_schema_of_facts(fact_id: str) -> None:
    raw = RAW["facts"][fact_id]
    assert set(raw) - {"note"} == {
        "value",
        "unit",
        "what",
        "what_zh",
        "source",
        "where",
        "verified",
    }
    assert raw["source"] in RAW["sources"]
    assert raw["where"].strip()
    assert raw["verified"] in VERIFIED
    assert raw["what"].strip()
    assert any("\u4e00" <= c <= "\u9fff" for c in raw["what_zh"])
    assert raw["unit"] is None or raw["unit"].strip()
    assert raw.get("note", "note").strip()
    assert raw["value"] not in (None, "", [])


@pytest.mark.parametrize("source", sorted(RAW["sources"]))
def test_schema_of_sources(source: str) -> None:
    raw = RAW["sources"][source]
    for key in ("authors", "title", "venue", "verified"):
        assert raw[key].strip()
    assert raw["year"] is None or 1990 <= raw["year"] <= 2030
    assert paper(source).link is None or paper(source).link.startswith("https://")  # type: ignore[union-attr]


def test_every_source_is_used() -> None:
    assert {f["source"] for f in RAW["facts"].values()} == set(RAW["sources"])


def numeric(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@pytest.mark.parametrize("fact_id", [i for i in ids() if numeric(RAW["facts"][i]["value"])])
def test_numbers_are_exact_and_have_a_known_unit(fact_id: str) -> None:
    f = fact(fact_id)
    assert float(f.number) == f.value
    assert isinstance(f.number, Fraction)
    if f.unit in NOT_FOR_CALCULATION:
        with pytest.raises(UnitError, match=fact_id):
            _ = f.stated_in
    else:
        assert f.stated_in in UNITS.values()


def test_numbers_are_what_was_printed() -> None:
    assert fact("hw.h100_bf16_dense_tflops").number == Fraction(9894, 10)
    assert fact("llama3.mfu").number == Fraction(41, 100)
    assert fact("llama3.pretrain_flops").number == 38 * 10**24


@pytest.mark.parametrize(
    "fact_id", ["llama3.parallelism_order", "fsdp.follows", "dsv3.batch_sequences"]
)
def test_what_is_no_number_says_so(fact_id: str) -> None:
    with pytest.raises(LessonError, match=fact_id):
        _ = fact(fact_id).number


@pytest.mark.parametrize(
    ("fact_id", "unit"),
    [
        ("dsv3.pretrain_gpu_hours", "h"),
        ("dsv3.ib_gb_per_s", "GB/s"),
        ("dsv3.gpus", "count"),
        ("llama3.mfu", "count"),
        ("nccl.alpha_network_us", "µs"),
        ("ddp.bucket_cap_mib", "MiB"),
        ("ddp.bucket_cap_bytes", "B"),
        ("dsv3.days_per_trillion_tokens", "days"),
        ("zero.bytes_per_parameter", "B/param"),
        ("llama3.tflops", "TFLOPS"),
    ],
)
def test_stated_units(fact_id: str, unit: str) -> None:
    assert fact(fact_id).stated_in.name == unit


def test_no_stated_unit_means_two_things() -> None:
    listed = [words for stated in facts._STATED_IN.values() for words in stated]
    assert len(listed) == len(set(listed))
    assert not NOT_FOR_CALCULATION & set(listed)
    in_file = {f["unit"] for f in RAW["facts"].values()}
    assert set(listed) | NOT_FOR_CALCULATION <= in_file


def test_what_was_not_seen_is_not_quotable() -> None:
    assert [i for i in ids() if not fact(i).quotable] == ["ring.lower_bound_busiest"]
    for i in ids():
        assert fact(i).quotable or fact(i).verified == "from memory"


def test_no_quantity_rests_on_what_was_not_seen() -> None:
    here = at(parse_scenario("model=qwen3-next-80b-a3b&tensor_parallel=4"))
    used = {
        n.source.fact.id
        for name in names()
        for n in here.quantity(name).inputs
        if isinstance(n.source, FactInput)
    }
    assert len(used) > 20
    assert all(fact(i).quotable for i in used)


@pytest.mark.parametrize(
    ("fact_id", "words"),
    [
        ("llama3.row3_dp_misprint", "transcriptions"),
        ("llama3.mfu", "do not recompute"),
        ("dsv3_insights.mfu_causal", "34.7"),
        ("zero.cross_node_peak_fraction", "less than 5 %"),
        ("ring.lower_bound_busiest", "busiest process"),
        ("nccl.alpha_network_us", "not a measurement"),
    ],
)
def test_notes_of_misprints_and_limits_are_kept(fact_id: str, words: str) -> None:
    assert words in fact(fact_id).note


def test_lessons_alphas_are_nccls() -> None:
    here = parse_scenario("")
    assert here.latency == fact("nccl.alpha_network_us").number
    assert here.node_latency == fact("nccl.alpha_nvlink_us").number
    assert here.bandwidth == fact("dsv3.ib_gb_per_s").number
    assert here.node_bandwidth == fact("dsv3.nvlink_gb_per_s").number


def test_unknown_ids_come_with_near_ones() -> None:
    with pytest.raises(UnknownName) as caught:
        fact("llama3.mfo")
    assert "llama3.mfu" in caught.value.close
    with pytest.raises(UnknownName):
        paper("no-such-paper")


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[", "/"),
        ("[]", "/"),
        ("{}", "/sources"),
        ('{"sources": {}, "facts": []}', "/facts"),
        ('{"sources": {}, "facts": {"a.b": 3}}', "/facts/a.b"),
        ('{"sources": {}, "facts": {"a.b": {"unit": null}}}', "/facts/a.b/value"),
        ('{"sources": {}, "facts": {"a.b": {}, "a.b": {}}}', "/facts/a.b"),
    ],
)
def test_a_broken_file_is_named(
    text: str, field: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "facts.json").write_text(text, encoding="utf-8")
    monkeypatch.setattr(data, "folder", lambda: tmp_path)
    for cached in (facts._file, facts.fact):
        cached.cache_clear()
    try:
        with pytest.raises(ConfigError) as caught:
            fact("a.b")
        assert caught.value.field == f"docs/data/facts.json: {field}"
    finally:
        monkeypatch.undo()
        for cached in (facts._file, facts.fact):
            cached.cache_clear()
