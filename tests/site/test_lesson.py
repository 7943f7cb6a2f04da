"""The lesson as a whole: every golden figure stands on the page, whatever else is edited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from py_core.quantity import evaluate
from py_core.scenario import parse_scenario

# (part of the lesson, quantity, what is pinned); the value is computed, and golden in tests/core.
SHOWN = [
    ("ledger", "model.parameters", ""),
    ("ledger", "state.bytes", ""),
    ("ledger", "state.cards_of_memory", ""),
    ("ledger", "dsv3.years_on_one_card", ""),
    ("ledger", "dsv3.days_on_its_cards", ""),
    ("design", "ddp.identical_runs", ""),
    ("naive", "naive.received_by_card0", "cards=8"),
    ("naive", "naive.received_by_card0", "cards=64"),
    ("naive", "naive.gather_seconds", "cards=8"),
    ("naive", "naive.gather_seconds", "cards=64"),
    ("ring-twice", "ring.coefficient", "cards=8"),
    ("ring-twice", "ring.sent_per_card", "cards=8"),
    ("ring-twice", "ring.coefficient", "cards=64"),
    ("ring-twice", "ring.sent_per_card", "cards=64"),
    ("ring-twice", "ring.limit", ""),
    ("buckets", "communication.over_backward", "cards=8&tokens=4096"),
    ("buckets", "timeline.exposed", "cards=8&tokens=16384"),
    ("buckets", "communication.embedding_seconds", "cards=8"),
    ("buckets", "communication.unused_seconds", "cards=8"),
    ("buckets", "timeline.largest_bucket", ""),
    ("buckets", "model.compute_parameters", ""),
    ("buckets", "backward.seconds_all_parameters", "tokens=4096"),
    ("rule", "communication.break_even_tokens", "cards=8"),
    ("misconceptions", "naive.growth_8_to_1024", ""),
    ("misconceptions", "ring.sent_per_card", "cards=1024"),
    ("uneven", "averaging.overweight", ""),
    ("map", "zero1.bytes", "cards=8"),
    ("map", "zero2.bytes", "cards=8"),
    ("map", "zero3.bytes", "cards=8"),
    ("map", "zero3.memory_left", "cards=8"),
    ("map", "zero3.over_data_parallel", "cards=8"),
    ("map", "activations.selective", ""),
    ("map", "activations.tensor_sequence_selective", ""),
    ("map", "tensor_parallel.sent_per_card", ""),
    ("map", "pipeline.bubble_over_ideal", ""),
    ("map", "pipeline.bubble_of_total", ""),
    ("map", "interleaved.bubble_over_ideal", ""),
    ("map", "dualpipe.parameter_copies", ""),
    ("map", "context_parallel.example_card0", ""),
    ("map", "context_parallel.example_card3", ""),
    ("map", "context_parallel.example_zigzag", ""),
    ("map", "context_parallel.kv_bytes", "sequence=131072"),
    ("map", "context_parallel.ring_sent_per_card", "sequence=131072"),
    ("map", "ulysses.limit", ""),
    ("map", "model.routed_expert_parameters", "model=deepseek-v3"),
    ("map", "expert_parallel.experts_per_card", "model=deepseek-v3"),
    ("map", "llama3.cards", ""),
    ("questions", "ring.sent_per_card", "gradient=fp32"),
    ("questions", "ring.sent_per_card", "model=qwen3-8b"),
    ("questions", "communication.seconds_in_node", "cards=8"),
]


@pytest.fixture(scope="module")
def sections(site: Path) -> dict[str, str]:
    """The page's HTML by section, panels apart."""
    html = (site / "data-parallel/index.html").read_text(encoding="utf-8")
    html = html.split('<section class="panels" data-search-exclude>\n<p class="panels-title"')[0]
    parts = re.split(r'<h2 id="([^"]+)"', html)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize(("section", "name", "pins"), SHOWN)
def test_golden_figures_stand_where_they_belong(
    sections: dict[str, str], section: str, name: str, pins: str
) -> None:
    shown = re.findall(r'<button[^>]*data-q="([^"]+)"[^>]*>([^<]*)</button>', sections[section])
    assert (name, evaluate(name, parse_scenario(pins)).display()) in shown


def test_its_sections_in_order(sections: dict[str, str]) -> None:
    assert list(sections) == [
        "ledger",
        "one-step",
        "example",
        "design",
        "naive",
        "ring-idea",
        "stepper",
        "real-scale",
        "ring-twice",
        "bound",
        "sources",
        "buckets",
        "rule",
        "misconceptions",
        "uneven",
        "evidence",
        "map",
        "one-sentence",
        "stop-here",
        "next-gap",
        "questions",
        "references",
    ]


def test_ten_stops_and_at_least_eight_questions(sections: dict[str, str]) -> None:
    stops = re.findall(r'<details class="stop[^"]*" id="(stop-\d+)"', sections["map"])
    assert stops == [f"stop-{n}" for n in range(1, 11)]
    assert sections["map"].count("卡在：") == 10
    assert sections["questions"].count('<details class="question">') >= 8


def test_every_experiment_stands_once_and_asks_first(sections: dict[str, str]) -> None:
    html = "".join(sections.values())
    names = re.findall(r'<lesson-widget id="([a-z]+)"', html)
    assert names == ["ring", "scale", "formula", "overlap", "average"]
    for name in names:
        assert html.count(f'data-ticks="{name}.') >= 1
