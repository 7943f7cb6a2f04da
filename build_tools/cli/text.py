"""Plain text for people: columns that line up, Chinese ones too."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence


def width(text: str) -> int:
    """Columns of a terminal: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def table(rows: Iterable[Sequence[str]], right: Sequence[int] = (), indent: str = "") -> list[str]:
    """Rows in aligned columns; those numbered in ``right`` are flush right, as numbers are."""
    rows = list(rows)
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]

    def cell(index: int, text: str) -> str:
        space = " " * (widths[index] - width(text))
        return space + text if index in right else text + space

    return [indent + "  ".join(cell(i, text) for i, text in enumerate(row)) for row in rows]
