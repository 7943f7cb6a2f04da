"""Real collectives (recorded by ``make conformance``) against the executor's ledger."""

from __future__ import annotations

import datetime
import json
import re
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from py_core import data
from py_core.errors import LessonError, UnknownName
from py_core.measured import FILE, available, measured, recorded
from py_core.schedules import SCHEMES

RAW = json.loads(data.read(FILE))
CARDS = (2, 4, 8)
MEASURED = ("all_reduce", *SCHEMES)
ALLOWED = Fraction(2, 100)
CASES = [(scheme, cards) for scheme in MEASURED for cards in CARDS]


def table(**properties: Any) -> dict[str, Any]:
    """An object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 1}
RATIO = {"type": "number", "exclusiveMinimum": 0}
SCHEMA = table(
    recorded=table(
        date={"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
        torch={"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
        backend={"const": "gloo"},
        dtype=TEXT,
        repetitions={"type": "integer", "minimum": 3},
        by=TEXT,
    ),
    how=TEXT,
    how_zh=TEXT,
    entries={
        "type": "array",
        "items": table(
            scheme={"enum": list(MEASURED)},
            cards={"enum": list(CARDS)},
            cards_per_node={"type": ["integer", "null"]},
            payload_bytes=COUNT,
            sent_bytes={"type": "array", "items": COUNT},
            total_bytes=COUNT,
            sent_per_payload={"type": "array", "items": RATIO},
            total_per_payload=RATIO,
        ),
    },
)


def test_the_file_has_the_shape_that_is_read() -> None:
    jsonschema.validate(RAW, SCHEMA)


def test_every_scheme_was_measured_once_in_each_group() -> None:
    assert sorted((e["scheme"], e["cards"]) for e in RAW["entries"]) == sorted(CASES)
    assert available() == dict.fromkeys(MEASURED, CARDS)


def test_it_says_when_with_what_and_how() -> None:
    about = recorded()
    assert datetime.date.fromisoformat(about.date) >= datetime.date(2025, 1, 1)
    assert about.torch == RAW["recorded"]["torch"]
    assert about.backend == "gloo"
    for sentence in (about.how, about.how_chinese):
        assert "wchar" in sentence
        assert f"{about.repetitions} " in sentence


def test_it_names_no_machine() -> None:
    paths = set(re.findall(r"(?<![\w.])/[a-z]\w*(?:/\w+)*", data.read(FILE)))
    assert paths == {"/proc/self/io"}


@pytest.mark.parametrize(("scheme", "cards"), CASES)
def test_measured_bytes_are_those_of_the_ledger(scheme: str, cards: int) -> None:
    found = measured(scheme, cards)
    assert len(found.sent) == len(found.computed_sent) == cards
    for difference in (*found.sent_difference, found.total_difference):
        assert abs(difference) <= ALLOWED
        assert abs(difference) <= abs(found.largest_difference)
    # Both counters see gloo's headers too: nothing can come out below what the data need.
    assert min(*found.sent_difference, found.total_difference) >= 0


@pytest.mark.parametrize("entry", RAW["entries"], ids=lambda e: f"{e['scheme']}-{e['cards']}")
def test_recorded_ratios_follow_from_recorded_bytes(entry: dict[str, Any]) -> None:
    found = measured(entry["scheme"], entry["cards"])
    assert entry["sent_per_payload"] == pytest.approx([float(s) for s in found.sent], abs=5.1e-5)
    assert entry["total_per_payload"] == pytest.approx(float(found.total), abs=5.1e-5)
    assert entry["payload_bytes"] % (4 * entry["cards"]) == 0, "blocks must be equal"
    assert entry["total_bytes"] >= sum(entry["sent_bytes"])


@pytest.mark.parametrize(
    ("scheme", "sent"),
    [
        ("all_reduce", [Fraction(7, 4)] * 8),
        ("ring", [Fraction(7, 4)] * 8),
        ("reduce-scatter", [Fraction(7, 8)] * 8),
        ("all-gather", [Fraction(7, 8)] * 8),
        ("halving-doubling", [Fraction(7, 4)] * 8),
        ("direct", [Fraction(7, 4)] * 8),
        ("naive", [7, 1, 1, 1, 1, 1, 1, 1]),
        ("tree", [3, 1, 2, 1, 3, 1, 2, 1]),
    ],
)
def test_computed_is_what_theory_says(scheme: str, sent: list[Fraction]) -> None:
    found = measured(scheme, 8)
    assert list(found.computed_sent) == sent
    assert found.computed_total == sum(sent)


def test_torchs_own_is_compared_with_a_ring() -> None:
    assert measured("all_reduce", 4).computed_scheme == "ring"
    assert measured("tree", 4).computed_scheme == "tree"


def test_a_scheme_nobody_measured_is_refused() -> None:
    with pytest.raises(UnknownName) as caught:
        measured("rings", 8)
    assert caught.value.close[0] == "ring"


@pytest.mark.parametrize("cards", [0, 3, 16])
def test_a_group_nobody_measured_is_refused(cards: int) -> None:
    with pytest.raises(LessonError) as caught:
        measured("ring", cards)
    assert "2, 4, 8" in str(caught.value)
    assert "测过的卡数：2、4、8" in caught.value.chinese
