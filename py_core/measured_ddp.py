"""What real DDP did, as measured: the ranks' bits, and all-reduces under ``no_sync``.

``docs/data/ddp.json`` is recorded by ``make conformance``: small models trained by gloo
processes on one machine. Which buckets DDP makes is not here but in a test's fixture.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from py_core import data
from py_core.errors import Accepted, LessonError, one_of

FILE = "ddp.json"


@dataclass(frozen=True, slots=True)
class Recorded:
    """When, with what and how it was measured; ``how_chinese`` is for readers."""

    date: str
    torch: str
    backend: str
    how: str
    how_chinese: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Parameters after ``steps`` AdamW steps on ``ranks`` ranks.

    ``ranks_identical``: every bit the same on all of them. ``equals_one_process``: and the
    same as one process computes from the whole batch; ``largest_difference`` is from that,
    over all ``parameters`` single numbers, exact.
    """

    dtype: str
    ranks: int
    steps: int
    parameters: int
    ranks_identical: bool
    equals_one_process: bool
    largest_difference: Fraction


@dataclass(frozen=True, slots=True)
class Accumulation:
    """All-reduces of ``steps`` steps of ``micro_batches``, one bucket each.

    ``no_sync``: ``off``, ``on`` for all but the last micro-batch, or ``trap``, where the
    last forward ran inside it as well.
    """

    no_sync: str
    steps: int
    micro_batches: int
    all_reduces: int
    ranks_identical: bool


@cache
def _file() -> dict[str, Any]:
    loaded: dict[str, Any] = data.parsed(FILE)
    return loaded


@cache
def recorded() -> Recorded:
    """What holds for all entries."""
    file = _file()
    about = file["recorded"]
    return Recorded(about["date"], about["torch"], about["backend"], file["how"], file["how_zh"])


@cache
def identities() -> tuple[Identity, ...]:
    """Every run whose parameters were compared."""
    return tuple(
        Identity(**entry | {"largest_difference": Fraction(entry["largest_difference"])})
        for entry in _file()["identity"]
    )


def identity(dtype: str, ranks: int) -> Identity:
    """The run in ``dtype`` (fp32, bf16) on ``ranks`` ranks. Raises :class:`LessonError`."""
    known = {(entry.dtype, entry.ranks): entry for entry in identities()}
    if (dtype, ranks) not in known:
        listed = [f"{d} on {r} ranks" for d, r in known]
        raise LessonError("run", f"{dtype} on {ranks} ranks", one_of(listed))
    return known[dtype, ranks]


@cache
def accumulation(no_sync: str) -> Accumulation:
    """The run with ``no_sync`` off, on or trap. Raises :class:`LessonError`."""
    known = {entry["no_sync"]: Accumulation(**entry) for entry in _file()["no_sync"]}
    if no_sync not in known:
        listed = Accepted(", ".join(known), "、".join(known))
        raise LessonError("no_sync", no_sync, listed)
    return known[no_sync]
