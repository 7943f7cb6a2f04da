"""The figures in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from build_tools.lint import fields, units
from build_tools.lint.finding import FIGURE, SCENARIO
from build_tools.lint.innocent import is_innocent, is_ordinal
from build_tools.lint.kinds import KINDS, Kind
from build_tools.lint.names import without_names
from build_tools.lint.numerals import (
    ARABIC,
    CHINESE,
    GAP,
    PARTS,
    PLAIN,
    RUN,
    SIZE_OF,
    YEAR,
    expanded,
    normalised,
    starts,
    value,
)
from build_tools.source import Prose


@dataclass(frozen=True, slots=True)
class Typed:
    """A figure found in a text: ``number`` is what its digits say, None where vague."""

    kind: Kind
    start: int
    stop: int
    at: int  # where its last number starts
    digits: str
    unit: str
    number: Fraction | None
    size: Fraction  # of 万, 亿, K
    field: str | None = None  # of the Scenario, by its name or symbol
    symbol: str = ""
    worth: Fraction | None = None  # 0.5 for 一半, 50% and 1/2; the least where vague


_LONGEST = 80  # what stands before a figure and belongs to it is not longer


def figures(text: str) -> list[Typed]:
    """The figures in ``text``, in its order."""
    text = without_names(text)
    found: list[Typed] = []
    taken = bytearray(len(text))
    numbers = starts(text)
    for kind in KINDS:
        for m in kind.matches(text, numbers):
            if any(taken[m.start() : m.end()]) or is_innocent(kind, m, text):
                continue
            start = m.start()
            if run := RUN.search(text, max(0, start - _LONGEST), start):
                start = start if any(taken[slice(*run.span())]) else run.start()
            taken[start : m.end()] = b"\x01" * (m.end() - start)
            if not is_ordinal(text[max(0, start - _LONGEST) : start]):  # 第 3、4 张
                found.append(_typed(kind, m, start))
    return sorted(found, key=lambda typed: typed.start)


def _typed(kind: Kind, m: re.Match[str], start: int) -> Typed:
    groups = m.groupdict()
    vague = groups.get("more") or groups.get("over") or kind.what == "change" or m["n"] in PARTS
    symbol = groups.get("field") or ""
    named = fields.of_name(m[0]) if kind.what == "named" else None
    return Typed(
        kind,
        start,
        m.end(),
        m.start("n"),
        expanded(m["n"]),
        re.sub(r"\s|^个", "", m["u"]),
        None if vague else value(m["n"]),
        SIZE_OF[groups.get("big") or ""],
        fields.of_symbol(symbol) if symbol else named,
        symbol,
        _worth(kind, m),
    )


_VAGUE = ("几", "数", "上", "好")  # 几百倍


def _worth(kind: Kind, m: re.Match[str]) -> Fraction | None:
    groups, n = m.groupdict(), m["n"]
    if m.string[: m.start("n")].endswith(_VAGUE):
        return None
    if n in PARTS:
        return Fraction(unicodedata.numeric(n)).limit_denominator(10)
    said = value(n)
    if said is None:
        return None
    if groups.get("over") == "半" or (kind.what == "time" and "半" in m["u"]):
        said += Fraction(1, 2)
    said *= SIZE_OF[groups.get("big") or ""]
    if kind.what == "percent":
        return said / {"‰": 1000, "成": 10}.get(m["u"], 100)
    if kind.what == "fraction":
        under = said if groups.get("of") else value(groups.get("under") or "1")
        above = value(groups["of"]) if groups.get("of") else said
        return above / under if above is not None and under else None
    return said


def in_code(prose: Prose) -> Iterator[Typed]:
    """Figures whose number is dressed up as code: `64` 张卡; placed in the text as it is."""
    for at, held in prose.codes:
        if not re.fullmatch(rf"{GAP}(?:{PLAIN}|{CHINESE}){GAP}", normalised(held)):
            continue
        longer = len(held) - 1
        for typed in figures(prose.text[:at] + held + prose.text[at + 1 :]):
            beyond = typed.stop > at + len(held) or typed.start < at
            if typed.start <= at + longer and typed.stop > at and beyond:
                start = min(typed.start, at)
                stop = max(typed.stop - longer, at + 1)
                yield Typed(
                    *(typed.kind, start, stop, min(typed.at, at), typed.digits, typed.unit),
                    *(typed.number, typed.size, typed.field, typed.symbol, typed.worth),
                )


_BARE_CELL = re.compile(
    rf"[约≈~～]?{GAP}(?P<n>{ARABIC}|{CHINESE})(?P<u>)"
    rf"(?:{GAP}[–—~～→\-至到,、]{GAP}{PLAIN})*"
)
_UNITS = (units.RATES, units.BYTES, units.TIME, units.FLOP, units.SHEET, units.SHARE, "[倍×]")
_UNIT_OF_HEAD = re.compile(
    rf"(?:[（(\[/,，、：:]{GAP}(?P<u>{'|'.join(_UNITS)})|(?:^|[ ])(?P<word>(?:{'|'.join(_UNITS)})))"
    rf"{GAP}(?:[）)\],，、]|$)"
)
_MEASURED_HEAD = re.compile(
    r"字节|时间|用时|耗时|显存|内存|带宽|算力|流量|通信量|利用率|倍数?$|比值|占比|比例|吞吐|大小"
    r"|[^序编页步]数$"
)


def in_cell(prose: Prose) -> Typed | None:
    """The number that is all of a cell, whose unit or field stands in the table's heads."""
    text = normalised(prose.text)
    m = _BARE_CELL.fullmatch(text)
    number = value(m["n"]) if m else None
    if m is None or number is None:
        return None
    for head in map(normalised, prose.heads):
        field, unit = fields.names_one(head), _unit_of(head)
        if field:
            kind, named = Kind(SCENARIO, "named", m.re), fields.of_name(head)
        elif (unit and not (unit == "年" and YEAR.fullmatch(m["n"]))) or (
            number > 10 and _MEASURED_HEAD.search(head)
        ):
            kind, named = Kind(FIGURE, "cell", m.re), None
        else:
            continue
        return Typed(
            *(kind, 0, len(text), m.start("n"), expanded(m["n"]), "" if field else unit),
            *(number, Fraction(1), named),
        )
    return None


def _unit_of(head: str) -> str:
    """The unit in the head of a column: 用时（s）, 用时 / s, GB; one letter alone is a symbol."""
    m = _UNIT_OF_HEAD.search(head)
    if not m:
        return ""
    word = m["word"] or ""
    return m["u"] or (word if len(word) > 1 or not word.isascii() or word in "%×" else "")
