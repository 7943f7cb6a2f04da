"""Paper facts: figures that other people printed, each with its source and place.

They live in ``docs/data/facts.json`` and are cited by id, never typed into prose. The
file states each in the paper's own words for its unit; ``_STATED_IN`` says which of our
units those words mean, so that GPU-hours cannot be read as gigabytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache, partial
from typing import Any

from py_core import data
from py_core.configs import Fields
from py_core.errors import (
    ABSENT,
    Accepted,
    ConfigError,
    LessonError,
    UnitError,
    UnknownName,
    whole,
)
from py_core.units import UNITS, Unit, check, display, unit

_FILE = "facts.json"

_STATED_IN = {
    "GB/s": (
        "GB/s per GPU, one direction",
        "GB/s per GPU, both directions",
        "GB/s per GPU",
        "GB/s per adapter, one direction",
        "GB/s bus bandwidth",
    ),
    "GB": ("GB", "GB per GPU (HBM3)"),
    "MiB": ("MiB",),
    "B": ("bytes",),
    "B/param": ("bytes per parameter",),
    "params": ("parameters", "parameters per token", "parameters, more than"),
    "tokens": ("tokens", "tokens, rounded as printed"),
    "FLOP": ("FLOP",),
    "TFLOPS": (
        "TFLOP/s",
        "TFLOP/s per GPU",
        "TFLOP/s per GPU, bf16",
        "TFLOP/s per V100, approximate",
    ),
    "h": ("H800 GPU-hours",),
    "days": ("days",),
    "µs": ("µs per step", "µs, protocol Simple"),
    "count": (
        "A100 80 GB GPUs",
        "A100 GPUs",
        "DGX-2 nodes",
        "GPUs",
        "GPUs per DGX-2",
        "GPUs per node",
        "H100 GPUs",
        "H800 GPUs",
        "M / K",
        "SMs",
        "TPU v3",
        "V100 GPUs",
        "all-reduces per layer, forward and backward together",
        "bucket",
        "chunks",
        "copies",
        "experts per layer",
        "experts per node",
        "experts per token",
        "factor on size/time",
        "heads",
        "layers",
        "nodes",
        "rebuild",
        "sequences",
        "tensors",
        "times",
        "ways",
    ),
}
_UNIT_OF = {words: UNITS[name] for name, stated in _STATED_IN.items() for words in stated}

# One number, but nothing to calculate with: dates, rates over a whole, versions.
NOT_FOR_CALCULATION = frozenset(
    {
        "year",
        "months",
        "H800 GPU-hours per 10^12 tokens",
        "tokens per day",
        "Gb/s per GPU",
        "Ψ elements per step",
        "NVSwitch generation",
    }
)


@dataclass(frozen=True, slots=True)
class Paper:
    """Where a fact was printed."""

    id: str
    authors: str
    title: str
    year: int | None
    venue: str
    arxiv: str | None
    doi: str | None
    repository: str | None

    @property
    def link(self) -> str | None:
        """Where a reader can look it up; None where the source has no stable address."""
        if self.arxiv:
            return f"https://arxiv.org/abs/{self.arxiv}"
        if self.doi:
            return f"https://doi.org/{self.doi}"
        if self.repository:
            return f"https://github.com/{self.repository}"
        return None


@dataclass(frozen=True, slots=True)
class Fact:
    """One printed figure. ``note`` carries known misprints and limits of meaning."""

    id: str
    value: Any
    unit: str | None
    says: str
    paper: Paper
    where: str
    verified: str
    note: str

    @property
    def number(self) -> Fraction:
        """Its value, exact. Raises :class:`LessonError` where the fact is not one number."""
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise LessonError(f"fact {self.id}", self.value, "a fact whose value is one number")
        return Fraction(str(self.value))

    @property
    def stated_in(self) -> Unit:
        """The unit its number is in; a fact without a unit is a plain count or share.

        Raises :class:`UnitError` where the stated unit is none of ours.
        """
        if self.unit is None:
            return UNITS["count"]
        if self.unit not in _UNIT_OF:
            raise UnitError(f"unit of fact {self.id}", self.unit, "a unit to calculate with")
        return _UNIT_OF[self.unit]

    def display(
        self, unit_name: str | None = None, item: int | None = None, digits: int | None = None
    ) -> str:
        """As printed: all its digits and no more, in its own unit or in ``unit_name``.

        ``item`` picks one of a list, ``digits`` rounds what another unit makes of it. Text
        and years are shown as they are, dates as 2017 年 2 月 21 日. Raises
        UnknownName or :class:`UnitError` for a unit it is not in, LessonError for a list
        without ``item``.
        """
        value = self.value
        if isinstance(value, list):
            if item is None or not 0 <= item < len(value):
                raise LessonError(f"fact {self.id}: item", item, whole(0, len(value) - 1))
            value = value[item]
        elif item is not None:
            raise LessonError(f"fact {self.id}: item", item, "nothing: it is one value")
        if self.unit == "date":
            day = date.fromisoformat(value)
            return f"{day.year} 年 {day.month} 月 {day.day} 日"
        if isinstance(value, bool) or not isinstance(value, int | float) or self.unit == "year":
            return str(value)
        exact = Fraction(str(value))
        known = _UNIT_OF.get(self.unit or "", UNITS["count"])
        shown_in = unit(unit_name) if unit_name else known
        check(known.dimension, shown_in, f"unit of fact {self.id}")
        scaled = exact * known.scale / shown_in.scale
        if digits is None:
            digits = next((d for d in range(7) if (scaled * 10**d).denominator == 1), 6)
        return display(exact * known.scale, shown_in, digits)

    @property
    def quotable(self) -> bool:
        """Whether its text or a citation of it was seen; only then may the page print it."""
        return self.verified.startswith("seen ")


@cache
def _file() -> dict[str, Any]:
    """The file's two sections, each of objects. Raises ConfigError, which names the file."""
    loaded = data.parsed(_FILE)
    try:
        for name in ("sources", "facts"):
            section = Fields(loaded).section(name)
            for entry in loaded[name]:
                section.section(entry)
    except ConfigError as error:
        raise data.within(data.published(_FILE), error) from None
    return loaded


def _given(entry: dict[str, Any], key: str, place: str) -> Any:
    """``entry[key]``, which has to be there."""
    if key not in entry:
        where = f"{data.published(_FILE)}: {place}/{key}"
        raise ConfigError(where, ABSENT, Accepted("a value", "一个值"))
    return entry[key]


def _words(section: str, *keys: str) -> dict[str, str]:
    """Every id of a section with what it says, for one who asks for an id there is not."""
    entries = _file()[section]
    return {i: " ".join(str(entry.get(key, "")) for key in keys) for i, entry in entries.items()}


@cache
def paper(paper_id: str) -> Paper:
    """The source called ``paper_id``. Raises :class:`UnknownName`."""
    sources = _file()["sources"]
    if paper_id not in sources:
        raise UnknownName("source", paper_id, _words("sources", "authors", "title", "year"))
    s = sources[paper_id]
    keys = ("authors", "title", "year", "venue", "arxiv", "doi", "repository")
    return Paper(paper_id, *(s.get(k) for k in keys))


@cache
def fact(fact_id: str) -> Fact:
    """The fact called ``fact_id``. Raises :class:`UnknownName` with the nearest ids."""
    known = _file()["facts"]
    if fact_id not in known:
        raise UnknownName("fact", fact_id, _words("facts", "what", "what_zh", "source"))
    f = known[fact_id]
    given = partial(_given, f, place=f"/facts/{fact_id}")
    return Fact(
        fact_id,
        given("value"),
        f.get("unit"),
        f.get("what_zh") or given("what"),
        paper(given("source")),
        given("where"),
        given("verified"),
        f.get("note", ""),
    )


def ids() -> list[str]:
    """Every fact's id, sorted."""
    return sorted(_file()["facts"])


def paper_ids() -> list[str]:
    """Every source's id, sorted."""
    return sorted(_file()["sources"])
