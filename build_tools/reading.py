"""The line above a lesson: where it stands in the course, and how long it takes.

Nothing of it is typed: the text is counted, what is folded away left out, and each
experiment says how many minutes a reader spends with it (``MINUTES`` of its module).
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from math import ceil
from xml.etree.ElementTree import Element

COURSE, CHAPTER = "从 0 训练 LLM · 现代大模型体系", "一张卡不够"
SPEED = 300  # Chinese characters a minute, read with attention


def minutes_of(page: Element) -> int:
    """Whole minutes for the Chinese characters of ``page``; whatever else there is, is short."""
    return ceil(sum("\u4e00" <= c <= "\u9fff" for part in _read(page) for c in part) / SPEED)


def _read(element: Element) -> Iterator[str]:
    """The text that lies open; of what is folded away, its title."""
    yield element.text or ""
    folded = element.tag == "details" and "open" not in element.attrib
    for child in element:
        if not folded or child.tag == "summary":
            yield from _read(child)
        yield child.tail or "" if not folded else ""


def head(chapter: str, lesson: int, reading: int, experiments: list[int]) -> str:
    """The line as HTML; ``experiments``: minutes of each."""
    times = [f"读 {reading} 分钟，不算收起的部分"]
    if experiments:
        times.append(f"{len(experiments)} 个实验约 {sum(experiments)} 分钟")
    return (
        f'<p class="lesson-head">{COURSE}<br>{escape(chapter)}「{CHAPTER}」第 {lesson} 课 · '
        f"约 {reading + sum(experiments)} 分钟（{'；'.join(times)}）</p>"
    )
