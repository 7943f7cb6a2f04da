"""The timeline: golden values, and what holds for every setting and model."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from py_core.inventory import Inventory
from py_core.model import ANCHOR, load_model
from py_core.timeline import MODES, Setting, Timeline, simulate


@cache
def model(slug: str = ANCHOR) -> Inventory:
    return load_model(slug).inventory


def timeline(mode: str = "buckets", slug: str = ANCHOR, **changes: object) -> Timeline:
    return simulate(replace(Setting(model(slug)).in_mode(mode), **changes))  # type: ignore[arg-type]


def rounded(*values: Fraction | None) -> tuple[float, ...]:
    return tuple(round(float(value or 0), 4) for value in values)


# ── golden values ───────────────────────────────────────────────────────────────────────

GOLDENS = [
    ("sync", 4096, (1.0496, 1.9447, 1.9447, 0.0)),
    ("buckets", 4096, (1.0496, 1.9447, 0.9472, 0.5129)),
    ("buckets", 16_384, (4.1983, 1.9447, 0.1532, 0.9212)),
]


@pytest.mark.parametrize(("mode", "tokens", "expected"), GOLDENS)
def test_goldens(mode: str, tokens: int, expected: tuple[float, ...]) -> None:
    found = timeline(mode, tokens=tokens)
    assert rounded(found.backward, found.communication, found.exposed, found.hidden_share) == (
        expected
    )


def test_the_first_bucket_is_the_head() -> None:
    first = timeline().buckets[0]
    assert rounded(first.launch) == (0.0521,)
    assert list(first.tensors()) == [("lm_head.weight", 2 * 1_271_398_400)]


@pytest.mark.parametrize(
    ("mode", "slug", "count"),
    [
        ("absent", ANCHOR, 370),
        ("buckets", ANCHOR, 406),
        ("rebuilt", ANCHOR, 406),
        ("first-iteration", ANCHOR, 1),
        ("buckets", "qwen3-8b", 182),
    ],
)
def test_number_of_buckets(mode: str, slug: str, count: int) -> None:
    assert len(timeline(mode, slug).buckets) == count


def test_the_last_stub_is_the_embedding_the_zeros_and_a_rest() -> None:
    found = timeline(tokens=16_384)
    embedding = Fraction(7, 4) * 2 * 1_271_398_400 / (50 * 10**9)
    zeros = Fraction(7, 4) * 2 * (460_730_096 + 424_699_392) / (50 * 10**9)
    assert rounded(embedding, zeros, found.exposed - embedding - zeros) == (0.089, 0.062, 0.0022)


@pytest.mark.parametrize("mode", MODES)
def test_hidden_and_exposed_make_the_communication(mode: str) -> None:
    found = timeline(mode)
    assert found.hidden + found.exposed == found.communication
