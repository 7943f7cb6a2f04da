"""The references of a page: every paper it cites or takes a figure from, numbered."""

from __future__ import annotations

import re
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
        places += [place for place in _places(where) if place not in places]
        return list(self.papers).index(paper.id) + 1

    def fill(self, place: Element) -> None:
        """Make ``place`` the ordered list; each entry is an anchor ``ref-<id>``."""
        place.clear()
        place.tag = "ol"
        place.set("class", "references")
        for paper, places in self.papers.values():
            _entry(SubElement(place, "li", {"id": f"ref-{paper.id}"}), paper, places)


# Where in a paper; the rest of such a note says which print, and that stands in its entry.
_INSIDE = re.compile(r"§|\b(?:Table|Figure|equation|abstract|issue)\b|\.(?:hpp|py|md|json)\b")
_CHINESE = {
    ", paragraph on Table": ", Table",
    r"Table (\d+)": r"表 \1",
    r"Figure (\d+)": r"图 \1",
    r"equation (\d+)": r"式 \1",
    r", row (\d+)": r"第 \1 行",
    "abstract": "摘要",
}


def _places(where: str) -> list[str]:
    """The places that a note such as ``arXiv v3 §3.2, §4.1; Table 2`` names, one by one."""
    parts = re.split(r"; |, (?=§|Table|Figure|equation)", where)
    found = [re.sub(r"^arXiv v\d |^SC20 print ", "", p) for p in parts if _INSIDE.search(p)]
    for english, chinese in _CHINESE.items():
        found = [re.sub(english, chinese, place) for place in found]
    return found


def _entry(item: Element, paper: Paper, places: list[str]) -> None:
    item.text = AtomicString(f"{paper.authors.removesuffix('.')}. ")
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
