"""The kinds of figures, each a pattern with the rule that refuses it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from build_tools.lint import fields, units
from build_tools.lint.finding import COUNT, FIGURE, NUMBER, SCENARIO
from build_tools.lint.numerals import (
    ARABIC,
    CHINESE,
    DIGITS,
    EXPONENT,
    GAP,
    HEAD,
    PLAIN,
    POWER_HEAD,
    SIZES,
)
from build_tools.lint.numerals import (
    NUMBER as ANY,
)
from build_tools.lint.units import END, NAME
from build_tools.source import CALL, CODE, OBJECT

_OPERAND = rf"0-9A-Za-z(（{CALL}{CODE}{OBJECT}{NAME}"
_OVER = r"(?P<over>半|多(?!少)|有余)"
_PER_SECOND = rf"每秒钟?[约能可传发收走送搬读写算出到只有要过]*{GAP}"


class Kind(NamedTuple):
    rule: str
    what: str
    pattern: re.Pattern[str]
    starts_with_number: bool = False

    def matches(self, text: str, numbers: list[int]) -> Iterator[re.Match[str]]:
        """Where it may stand in ``text``, whose numbers start at ``numbers``."""
        if not self.starts_with_number:
            return self.pattern.finditer(text)
        return filter(None, (self.pattern.match(text, at) for at in numbers))


def _kind(rule: str, what: str, pattern: str) -> Kind:
    return Kind(rule, what, re.compile(pattern))


def _number(rule: str, what: str, pattern: str) -> Kind:
    return Kind(rule, what, re.compile(pattern), True)


# The first kind that fits a place has it.
KINDS = (
    _number(SCENARIO, "cards", rf"{HEAD}(?P<u>{units.CARDS})"),
    _number(SCENARIO, "nodes", rf"{HEAD}(?P<u>{units.NODES})"),
    _number(SCENARIO, "ways", rf"{HEAD}(?P<u>{units.WAYS})"),
    _number(SCENARIO, "tokens", rf"{HEAD}(?P<u>{units.TOKENS})"),
    _number(SCENARIO, "rate", rf"{HEAD}(?P<u>{units.RATES})"),
    _kind(SCENARIO, "rate", rf"{_PER_SECOND}{HEAD}(?P<u>{units.BYTES})"),
    _number(SCENARIO, "cards", rf"{POWER_HEAD}(?P<u>{units.CARDS})"),
    _number(SCENARIO, "tokens", rf"{POWER_HEAD}(?P<u>{units.TOKENS})"),
    _number(SCENARIO, "rate", rf"{POWER_HEAD}(?P<u>{units.RATES}|{units.NODES}|{units.WAYS})"),
    _kind(SCENARIO, "field", fields.SYMBOL),
    _kind(SCENARIO, "field", fields.GLUED),
    _kind(FIGURE, "percent", rf"百分之{GAP}(?P<n>{ARABIC}|[{DIGITS}{SIZES}]+)(?P<u>)"),
    _number(FIGURE, "fraction", rf"{ANY}{GAP}分之{GAP}(?P<of>{PLAIN}|{CHINESE})(?P<u>)"),
    _number(FIGURE, "fraction", rf"(?<![/.]){ANY}/(?P<under>[0-9]+)(?![/0-9A-Za-z.])(?P<u>)"),
    _number(FIGURE, "fraction", r"(?P<n>[½⅓⅔¼¾⅕⅛])(?P<u>)"),
    _number(FIGURE, "percent", rf"{HEAD}(?P<u>{units.SHARE})"),
    _number(FIGURE, "percent", rf"(?P<n>{CHINESE})(?P<u>成)(?![员本为了就分立功果熟长交绩型品])"),
    _kind(
        FIGURE,
        "percent",
        rf"(?:[MH]FU|利用率)[约是为有达到只才＝=:：]*{GAP}{ANY}(?P<u>)(?![%‰])",
    ),
    _number(FIGURE, "times", rf"{HEAD}(?P<u>{units.MULTIPLE}){_OVER}?"),
    _kind(FIGURE, "times", rf"翻了?{GAP}{ANY}{GAP}(?P<u>番)"),
    _number(FIGURE, "copies", rf"{HEAD}(?P<u>{units.OF_COPIES})"),
    _number(FIGURE, "product", rf"{ANY}{GAP}×{GAP}{PLAIN}[⁰¹²³⁴-⁹⁻]*(?P<u>)"),
    _number(FIGURE, "times", rf"(?P<n>{ARABIC})(?P<u>[×xX])(?!{GAP}[{_OPERAND}])"),
    _kind(FIGURE, "times", rf"(?<![{_OPERAND})）])(?<![{_OPERAND})）]\s)×(?P<n>{PLAIN})(?P<u>)"),
    _number(FIGURE, "time", rf"{HEAD}(?P<u>{units.TIME})(?:{_OVER}(?![天夜路个]))?"),
    _number(FIGURE, "bytes", rf"{HEAD}(?P<u>{units.BYTES})"),
    _number(FIGURE, "flop", rf"{HEAD}(?P<u>{units.FLOP})"),
    _number(FIGURE, "parameters", rf"{HEAD}(?P<u>{units.UNIT_OF_PARAMETERS})"),
    _number(FIGURE, "sheet", rf"{HEAD}(?P<u>{units.SHEET})"),
    _number(FIGURE, "letter", rf"(?P<n>{ARABIC}){GAP}(?P<u>{units.LETTER}|W(?![A-Za-z0-9·_^'’]))"),
    _number(FIGURE, "ratio", rf"{ANY}(?:(?: : |:|{GAP}∶{GAP})[0-9.]+)+(?P<u>)"),
    _number(FIGURE, "ratio", rf"{ANY}{GAP}比{GAP}(?:{PLAIN}|{CHINESE})(?![较如例])(?P<u>)"),
    # Behind those that have units: 带宽是 50 GB/s is a rate.
    _kind(SCENARIO, "named", fields.CUE),
    _kind(
        FIGURE,
        "change",
        rf"从{GAP}{ANY}{GAP}[^。，；0-9{CALL}]{{0,6}}?[到至成]了?{GAP}(?P<to>{ARABIC}|{CHINESE})(?P<u>)",
    ),
    _number(NUMBER, "power", rf"(?<![0-9A-Za-z_^.])(?P<n>[0-9]+(?:\.[0-9]+)?{EXPONENT})(?P<u>)"),
    _number(
        NUMBER,
        "large",
        rf"(?P<n>{ARABIC}){GAP}(?P<big>万亿|千万|百万|[万亿千]|[KkM]{END})(?P<u>)",
    ),
    _number(NUMBER, "spelled", rf"(?P<n>{CHINESE})(?P<u>)"),
    _number(NUMBER, "grouped", rf"(?P<n>{ARABIC})(?P<u>)(?<=,[0-9]{{3}})"),
    _number(NUMBER, "decimal", rf"(?P<n>{ARABIC})(?P<u>)(?<=[0-9.])"),
    _number(
        NUMBER,
        "bare",  # 只有 55。
        rf"(?:(?<=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff] ))(?P<n>{ARABIC})(?P<u>)"
        rf"(?={GAP}(?:[，。；、！？）」』：,.;!?]|$|[就才都也还时的左以之]))",
    ),
    _number(COUNT, "count", rf"{HEAD}(?P<u>[{units.MEASURES}])(?!方|(?<=页)面)"),
)
