"""The references of a page: every paper it cites or takes a figure from, numbered."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import ClassVar

from py_core.facts import Paper


@dataclass(slots=True)
class References:
    """Papers in the order in which the page first cites them, each with the places cited."""

    PLACE: ClassVar[str] = "<!-- references -->"

    papers: dict[str, tuple[Paper, list[str]]] = field(default_factory=dict)
    asked_for: bool = False
    cited_in_text: bool = False

    def cite(self, paper: Paper, where: str = "") -> int:
        """Add a paper, or one more place in it; returns its number, from 1."""
        _, places = self.papers.setdefault(paper.id, (paper, []))
        if where and where not in places:
            places.append(where)
        return list(self.papers).index(paper.id) + 1

    def html(self) -> str:
        """An ordered list, each entry an anchor ``ref-<id>``."""
        return f'<ol class="references">\n{"".join(map(_entry, self.papers.values()))}</ol>'


def _entry(cited: tuple[Paper, list[str]]) -> str:
    paper, places = cited
    title = f"<cite>{escape(paper.title)}</cite>"
    if paper.link:
        title = f'<a href="{escape(paper.link)}" rel="noopener">{title}</a>'
    # Most venues name the year already.
    year = f", {paper.year}" if paper.year and str(paper.year) not in paper.venue else ""
    where = f" 引用处：{escape('；'.join(places))}。" if places else ""
    return (
        f'<li id="ref-{paper.id}">{escape(paper.authors)}. {title}. '
        f"{escape(paper.venue)}{year}.{where}</li>\n"
    )
