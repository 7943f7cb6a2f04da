"""Bytes that real collectives sent, beside what the executor's ledger says they should.

``docs/data/measured.json`` is recorded by ``make conformance``: gloo processes on one
machine, bytes counted by the kernel. It keeps bytes; every ratio here is made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from py_core import data
from py_core.errors import Accepted, LessonError, UnknownName
from py_core.executor import run
from py_core.schedules import schedule

FILE = "measured.json"

# torch's own all_reduce is no schedule of ours; what it sends is what a ring sends.
_LIKE = {"all_reduce": "ring"}


@dataclass(frozen=True, slots=True)
class Recorded:
    """When, with what and how the bytes were counted; ``how_chinese`` is for readers."""

    date: str
    torch: str
    backend: str
    repetitions: int
    how: str
    how_chinese: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One scheme in a group of ``cards`` processes, payload ``payload_bytes`` (S) on each.

    Bytes are medians of the recorded repetitions. ``sent`` and ``total`` are in units of
    S, by card and for the whole loopback interface (which also carries packet headers);
    ``computed_*`` is the same from the ledger of ``computed_scheme``, and ``*_difference``
    is measured ÷ computed − 1.
    """

    scheme: str
    cards: int
    cards_per_node: int | None
    computed_scheme: str
    payload_bytes: int
    sent_bytes: tuple[int, ...]
    total_bytes: int
    computed_sent: tuple[Fraction, ...]

    @property
    def sent(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(b, self.payload_bytes) for b in self.sent_bytes)

    @property
    def sent_difference(self) -> tuple[Fraction, ...]:
        return tuple(m / c - 1 for m, c in zip(self.sent, self.computed_sent, strict=True))

    @property
    def total(self) -> Fraction:
        return Fraction(self.total_bytes, self.payload_bytes)

    @property
    def computed_total(self) -> Fraction:
        return sum(self.computed_sent, start=Fraction(0))

    @property
    def total_difference(self) -> Fraction:
        return self.total / self.computed_total - 1

    @property
    def largest_difference(self) -> Fraction:
        """The one farthest from 0, of all cards and the total, with its sign."""
        return max(*self.sent_difference, self.total_difference, key=abs)


@cache
def _file() -> dict[str, Any]:
    loaded: dict[str, Any] = data.parsed(FILE)
    return loaded


@cache
def recorded() -> Recorded:
    """What holds for all entries."""
    file = _file()
    about = file["recorded"]
    return Recorded(
        about["date"],
        about["torch"],
        about["backend"],
        about["repetitions"],
        file["how"],
        file["how_zh"],
    )


@cache
def available() -> dict[str, tuple[int, ...]]:
    """The schemes that were measured, each with its group sizes."""
    sizes: dict[str, tuple[int, ...]] = {}
    for entry in _file()["entries"]:
        sizes[entry["scheme"]] = (*sizes.get(entry["scheme"], ()), entry["cards"])
    return sizes


@cache
def measured(scheme: str, cards: int) -> Measured:
    """What ``scheme`` sent in a group of ``cards``, measured and computed.

    ``scheme`` is one of :data:`py_core.schedules.SCHEMES`, or ``all_reduce`` for torch's
    own. Raises :class:`UnknownName` for a scheme and :class:`LessonError` for a group
    size that was not measured.
    """
    known = available()
    if scheme not in known:
        raise UnknownName("measured scheme", scheme, known)
    if cards not in known[scheme]:
        listed = [str(size) for size in known[scheme]]
        english = f"a group that was measured: {', '.join(listed)}"
        raise LessonError("cards", cards, Accepted(english, f"测过的卡数：{'、'.join(listed)}"))
    entries = _file()["entries"]
    entry = next(e for e in entries if (e["scheme"], e["cards"]) == (scheme, cards))
    like = _LIKE.get(scheme, scheme)
    # One element in each block: the payload was divisible by all group sizes as well.
    ledger = run(schedule(like, cards, entry["cards_per_node"]), cards, seed=0).finish().ledger
    return Measured(
        scheme,
        cards,
        entry["cards_per_node"],
        like,
        entry["payload_bytes"],
        tuple(entry["sent_bytes"]),
        entry["total_bytes"],
        tuple(Fraction(sent, cards) for sent in ledger.sent),
    )
