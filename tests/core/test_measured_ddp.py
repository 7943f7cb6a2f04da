"""What real DDP did (recorded by ``make conformance``), as the page reads it."""

from __future__ import annotations

import datetime
import json
import re
from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from py_core import data
from py_core.errors import LessonError
from py_core.measured_ddp import FILE, accumulation, identities, identity, recorded
from py_core.quantity import evaluate

RAW = json.loads(data.read(FILE))


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
FLAG = {"type": "boolean"}
SCHEMA = table(
    recorded=table(
        date={"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"},
        torch={"type": "string", "pattern": r"^2\.13\."},
        transformers=TEXT,
        backend={"const": "gloo"},
        by=TEXT,
    ),
    how=TEXT,
    how_zh=TEXT,
    identity={
        "type": "array",
        "items": table(
            dtype={"enum": ["fp32", "bf16"]},
            ranks=COUNT,
            steps=COUNT,
            parameters=COUNT,
            ranks_identical=FLAG,
            equals_one_process=FLAG,
            largest_difference={"type": "number", "exclusiveMinimum": 0},
        ),
    },
    no_sync={
        "type": "array",
        "items": table(
            no_sync={"enum": ["off", "on", "trap"]},
            steps=COUNT,
            micro_batches=COUNT,
            all_reduces={"type": "integer", "minimum": 0},
            ranks_identical=FLAG,
        ),
    },
)


def test_the_file_has_the_shape_that_is_read() -> None:
    jsonschema.validate(RAW, SCHEMA)


def test_it_says_when_with_what_and_how() -> None:
    about = recorded()
    assert datetime.date.fromisoformat(about.date) >= datetime.date(2025, 1, 1)
    for sentence in (about.how, about.how_chinese):
        assert "AdamW" in sentence
        assert "no_sync" in sentence
    assert not re.search(r"(?<![\w.])/[a-z]\w*(/\w+)*", data.read(FILE)), "names no machine"


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_are_alike_and_unlike_one_process(dtype: str, ranks: int) -> None:
    found = identity(dtype, ranks)
    assert found.ranks_identical
    assert not found.equals_one_process
    assert found.steps == 5
    assert 0 < found.largest_difference < {"fp32": Fraction(1, 10**4), "bf16": 1}[dtype]
    assert found in identities()


@pytest.mark.parametrize(("no_sync", "each_step"), [("off", 4), ("on", 1), ("trap", 0)])
def test_all_reduces(no_sync: str, each_step: int) -> None:
    found = accumulation(no_sync)
    assert found.all_reduces == each_step * found.steps
    assert found.ranks_identical is (no_sync != "trap")


def test_what_was_not_measured() -> None:
    with pytest.raises(LessonError, match="fp32 on 2 ranks"):
        identity("fp8", 2)
    with pytest.raises(LessonError, match="off, on, trap"):
        accumulation("maybe")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ddp.difference_fp32", "1.2 × 10⁻⁷"),
        ("ddp.difference_bf16", "1.6 × 10⁻³"),
        ("ddp.runs", "4"),
    ],
)
def test_figures_say_when_they_were_measured(name: str, shown: str) -> None:
    found = evaluate(name)
    assert found.display().endswith(shown)
    assert recorded().date in found.inputs[0].source.says
