"""Figures typed by hand in prose, found and refused.

A figure in prose is computed (``q``), printed by a paper (``fact``), typed with a reason
(``lit``) or held by the comparisons of a claim around it; all else would lie as soon as a
config or the reader's Scenario changes. What is no figure is told apart by rule:

- ordinals and references: 第 2 课, 图 1, §3.1, 0 号卡
- years, dates, versions, names: 2017 年, 2026-11-30, ZeRO-1/2/3, Qwen3-8B, Llama 3 405B, 1F1B
- formulas in symbols: N − 1, 2(N−1)/N, N 分之一, 10⁹ 字节; definitions: 1 GB 是 10⁹ 字节
- 一 as a word, and words of size: 一张卡, 上百张卡, 成千上万, 加一倍, 一半
- two or three particular cards: 这三张卡, 任意两张卡, 两张卡之间
- counts up to ten of ordinary things: 三个问题, 两段, 四步

A Scenario field (cards, tokens, MiB, GB/s, TFLOPS, N = 8, 卡数取 64) is refused even in a
claim. Where to look:

- ``numerals``, ``units`` and ``fields``: how people type numbers and what stands beside them
- ``kinds``: what a figure looks like; ``names`` and ``innocent``: what only looks like one
- ``figures`` finds them, in cells and in code too; ``vouched`` asks a claim for them
- ``advice``: what to write instead; ``calls``: what is wrong with calls themselves
"""

from __future__ import annotations

from collections.abc import Iterator

from build_tools.lint import calls
from build_tools.lint.advice import Around, instead
from build_tools.lint.figures import Typed, figures, in_cell, in_code
from build_tools.lint.finding import (
    CLAIM,
    COMPARE,
    COUNT,
    FIGURE,
    FRONT_MATTER,
    LIT,
    NUMBER,
    SCENARIO,
    Finding,
)
from build_tools.lint.vouched import vouches
from build_tools.source import Prose, Source

__all__ = [
    "CLAIM",
    "COMPARE",
    "COUNT",
    "FIGURE",
    "FRONT_MATTER",
    "LIT",
    "NUMBER",
    "SCENARIO",
    "Finding",
    "check",
]


def check(source: Source) -> list[Finding]:
    """All findings of one file, in its order."""
    findings = [Finding(*fault.position, fault.text, CLAIM, fault.says) for fault in source.faults]
    used = frozenset(calls.names_called(source))
    for prose in source.prose:
        findings += _typed(prose, used)
        findings += calls.front_matter(prose)
        findings += calls.without_braces(prose)
        findings += calls.doubled_units(prose)
        for sentence in prose.sentences():
            findings += calls.compared(sentence)
    for written in source.calls:
        findings += calls.literal(written)
    return sorted(findings)


def _typed(prose: Prose, used: frozenset[str]) -> Iterator[Finding]:
    """The figures typed in one piece of prose."""
    cell = in_cell(prose)
    found = [cell] if cell else [*figures(prose.text), *in_code(prose)]
    for typed in found:
        if typed.kind.rule != SCENARIO and _is_vouched_for(prose, typed):
            continue
        text = prose.written(typed.start, typed.stop)
        says = instead(typed, text, Around(_sentence_around(prose, typed.at), used))
        if prose.kind.startswith("page "):
            says = "nothing is computed in front matter: say it without the figure"
        yield Finding(*prose.position(typed.start), text, typed.kind.rule, says)


def _is_vouched_for(prose: Prose, typed: Typed) -> bool:
    claim = prose.claim_at(typed.at)
    return claim is not None and vouches(claim.inner, typed)


def _sentence_around(prose: Prose, index: int) -> str:
    start = 0
    for sentence in prose.sentences():
        found = prose.text.find(sentence.text, start)
        start = found + len(sentence.text)
        if found <= index < start:
            return sentence.text
    return prose.text
