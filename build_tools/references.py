"""The references of a page: every paper it cites or takes a figure from, numbered."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

from py_core.facts import Paper


@dataclass(slots=True)
class References:
    """Papers in the order in which the page first cites them, each with the places cited."""

    papers: dict[str, tuple[Paper, list[str]]] = field(default_factory=dict)
    asked_for: bool = False
    first_cited: str = ""  # the call that cites first, as written

    def cite(self, paper: Paper, where: str = "") -> int:
        """Add a paper, or one more place in it; returns its number, from 1."""
        _, places = self.papers.setdefault(paper.id, (paper, []))
        if where and where not in places:
            places.append(where)
        return list(self.papers).index(paper.id) + 1

    def fill(self, place: Element) -> None:
        """Make ``place`` the ordered list; each entry is an anchor ``ref-<id>``."""
        place.clear()
        place.tag = "ol"
        place.set("class", "references")
        for paper, places in self.papers.values():
            _entry(SubElement(place, "li", {"id": f"ref-{paper.id}"}), paper, places)


def _entry(item: Element, paper: Paper, places: list[str]) -> None:
    item.text = AtomicString(f"{paper.authors}. ")
    around = item
    if paper.link:
        around = SubElement(item, "a", {"href": paper.link, "rel": "noopener"})
    title = SubElement(around, "cite")
    title.text = AtomicString(paper.title)
    # Most venues name the year already.
    year = f", {paper.year}" if paper.year and str(paper.year) not in paper.venue else ""
    where = f" 引用处：{'；'.join(places)}。" if places else ""
    last = title if around is item else around
    last.tail = AtomicString(f". {paper.venue}{year}.{where}")
