"""All figures, facts and claims of the site as one document: ``numbers.json``.

The document is flat: a figure names its inputs by key, and each stands in the same list,
also where no page shows it. The schema is ``numbers.schema.json`` beside this file.

A key is the quantity's name, then what is fixed in it::

    ring.sent_per_card                   follows the reader's Scenario
    ring.sent_per_card?cards=64          pinned by the author
    naive.received_by_card0@cards=1024   fixed by the formula it is an input of
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from build_tools.prose import Page
from build_tools.source import Position, Source
from py_core import data
from py_core.claims import Verdict
from py_core.errors import LessonError
from py_core.facts import Fact, Paper
from py_core.inputs import FactInput, ScenarioInput
from py_core.quantity import Quantity, at, evaluate
from py_core.scenario import DEFAULT, SPECS, decimal

SCHEMA = 1
FILE = "numbers.json"
SCHEMA_FILE = Path(__file__).with_name("numbers.schema.json")

Record = dict[str, Any]
Pins = dict[str, str]


@dataclass(slots=True)
class Numbers:
    """Collects pages one after another; :meth:`document` is what they add up to."""

    figures: dict[str, Record] = field(default_factory=dict)
    facts: dict[str, Record] = field(default_factory=dict)
    claims: dict[str, Record] = field(default_factory=dict)
    papers: dict[str, Record] = field(default_factory=dict)

    def add(self, page: Page, source: Source) -> None:
        """Add what converting ``page`` made; ``source`` is its whole Markdown file."""
        calls = _Places((_plain(call.text), call.position) for call in source.calls)
        openings = _Places((_plain(claim.text), claim.position) for claim in source.claims)
        headings = {use.id: use.heading for uses in page.panels.uses.values() for use in uses}

        def used(written: str, display: str, element_id: str) -> Record:
            return {
                "page": page.path,
                **calls.next(written),
                "id": element_id,
                "heading": headings.get(element_id, ""),
                "display": display,
            }

        for shown in sorted(page.shown, key=lambda s: _number(s.button.get("id", ""))):
            self._shown(shown.quantity, shown.changes)["used"].append(
                used(shown.written, shown.display, shown.button.get("id", ""))
            )
        for widget in page.opened:
            place = {"page": page.path, **calls.next(widget.written)}
            place |= {"id": widget.element_id, "heading": widget.label}
            for quantity, changes, display in widget.figures:
                self._shown(quantity, changes)["used"].append(place | {"display": display})
        for quoted in sorted(page.quoted, key=lambda s: _number(s.button.get("id", ""))):
            self._fact(quoted.fact)["used"].append(
                used(quoted.written, quoted.display, quoted.button.get("id", ""))
            )
        for claimed in page.claimed:
            self._claim(claimed.verdict, canonical(claimed.changes))["used"].append(
                {"page": page.path, **openings.next(claimed.written)}
            )

    def document(self) -> Record:
        """Everything, in an order that depends on nothing but names."""

        def listed(records: Mapping[str, Record]) -> list[Record]:
            return [
                {
                    **records[key],
                    "used": sorted(records[key]["used"], key=lambda u: (u["page"], *_place(u))),
                }
                for key in sorted(records)
            ]

        return {
            "schema": SCHEMA,
            "figures": listed(self.figures),
            "facts": listed(self.facts),
            "claims": listed(self.claims),
            "papers": [self.papers[key] for key in sorted(self.papers)],
            "data": data_hashes(),
        }

    def _shown(self, q: Quantity, changes: Mapping[str, str]) -> Record:
        pins = canonical(changes)
        return self.figures[self._figure(q, pins, _key(q, pins))]

    def _figure(self, q: Quantity, pins: Pins, key: str) -> str:
        if key in self.figures:
            return key
        record = {"key": key, "set": pins, "where": {}} | q.record(tree=False)
        sources: set[str] = set()
        for named, entry in zip(q.inputs, record["inputs"], strict=True):
            if isinstance(named.source, Quantity):
                entry["key"] = self._input(named.source, pins)
                sources.update(self.figures[entry["key"]]["sources"])
            elif isinstance(named.source, FactInput):
                self._fact(named.source.fact)
                sources.add(named.source.fact.paper.id)
        self.figures[key] = record | {"sources": sorted(sources), "used": []}
        return key

    def _input(self, q: Quantity, pins: Pins) -> str:
        """A figure's input goes by its pins only where they change something in it."""
        pins = {} if _unmoved(q) else pins
        return self._figure(q, pins, _key(q, pins))

    def _fact(self, fact: Fact) -> Record:
        self._paper(fact.paper)
        return self.facts.setdefault(
            fact.id,
            {
                "key": fact.id,
                "says": fact.says,
                "value": fact.value,
                "unit": fact.unit,
                "paper": fact.paper.id,
                "where": fact.where,
                "note": fact.note,
                "used": [],
            },
        )

    def _paper(self, paper: Paper) -> None:
        self.papers[paper.id] = {
            "key": paper.id,
            "authors": paper.authors,
            "title": paper.title,
            "year": paper.year,
            "venue": paper.venue,
            "link": paper.link,
        }

    def _claim(self, verdict: Verdict, pins: Pins) -> Record:
        key = verdict.name + _query("?", pins)
        if key not in self.claims:
            scenario = DEFAULT.with_fields(pins)
            rests_on = []
            for named in (n for c in verdict.comparisons for n in c.named()):
                if isinstance(named.source, Quantity):
                    rests_on.append(self._input(named.source, pins))
                elif isinstance(named.source, ScenarioInput):
                    rests_on.append(self._input(evaluate(named.source.spec.name, scenario), pins))
            self.claims[key] = {
                "key": key,
                "set": pins,
                **verdict.record(),
                "rests_on": list(dict.fromkeys(rests_on)),
                "used": [],
            }
        return self.claims[key]


class _Places:
    """Where each text stands in the file; the same text written again stands further on."""

    def __init__(self, found: Iterable[tuple[str, Position]]) -> None:
        self._at: dict[str, deque[Position]] = defaultdict(deque)
        for text, position in found:
            self._at[text].append(position)

    def next(self, written: str) -> Record:
        left = self._at[_plain(written)]
        line, column = left.popleft() if left else (1, 1)
        return {"line": line, "column": column}


def _plain(text: str) -> str:
    """A call broken over lines is indented in the file and not in what Markdown makes of it."""
    return " ".join(text.split())


def _number(element_id: str) -> int:
    """The figures of a page are ``q-1``, ``q-2``, … in its order."""
    return int(element_id.removeprefix("q-") or 0)


def _place(used: Record) -> tuple[int, int]:
    return used["line"], used["column"]


def canonical(changes: Mapping[str, str]) -> Pins:
    """Pins by name, each value in the one way a query string writes it."""
    scenario = DEFAULT.with_fields(changes)

    def text(name: str) -> str:
        if name not in SPECS:  # the model
            return scenario.model.slug
        value = getattr(scenario, name)
        return str(value) if SPECS[name].choices else decimal(value)

    return {name: text(name) for name in sorted(changes)}


def _key(q: Quantity, pins: Pins) -> str:
    return q.name + _query("@", dict(q.where)) + _query("?", pins)


def _query(mark: str, fields: Mapping[str, str]) -> str:
    return mark + "&".join(f"{k}={v}" for k, v in fields.items()) if fields else ""


def _unmoved(q: Quantity) -> bool:
    """Is ``q`` what it would be in the lesson's own Scenario?"""
    here = at(DEFAULT)
    if q.where:
        here = here.where(**dict(q.where))
    try:
        own = here.quantity(q.name)
    except LessonError:  # the lesson's model has no experts
        return False
    return own is q or (own.term.value, own.substituted) == (q.term.value, q.substituted)


def data_hashes() -> dict[str, str]:
    """SHA-256 of every data file that figures come from."""
    folder = data.folder()
    files = sorted((*folder.glob("*.json"), *folder.glob("models/*.json")))
    return {
        file.relative_to(folder).as_posix(): sha256(file.read_bytes()).hexdigest() for file in files
    }


def published(document: Record) -> dict[str, bytes]:
    """What goes into the site, by its path there: the document and its schema."""
    return {FILE: written(document).encode(), SCHEMA_FILE.name: SCHEMA_FILE.read_bytes()}


def written(document: Record) -> str:
    """The document as text: an entry a line, so that versions can be compared by line."""

    def compact(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    parts = []
    for name, value in document.items():
        if isinstance(value, list):
            entries = ",\n".join(map(compact, value))
            parts.append(f"{compact(name)}:[\n{entries}\n]" if value else f"{compact(name)}:[]")
        else:
            parts.append(f"{compact(name)}:{compact(value)}")
    return "{" + ",\n".join(parts) + "}\n"
