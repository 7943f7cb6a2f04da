"""A figure and its provenance as HTML: the same in prose and in widgets, at build and in the
browser.

A figure is a button; its panel is a popover that says what the figure is, how it was
computed, and from what, down to a config field or a paper. Panels open without a script.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from markupsafe import Markup

from py_core.facts import Fact, Paper
from py_core.inputs import (
    ConfigInput,
    Convention,
    CountedInput,
    FactInput,
    Measurement,
    ScenarioInput,
)
from py_core.quantity import Quantity, evaluate, meaning
from py_core.scenario import DEFAULT, Scenario
from py_core.terms import Named
from py_core.units import BASES, Dimension
from widgets.environment import environment

# A figure, and what must not be parted from it: browsers would break the line there.
_TAGS, _CLOSING_TAGS = r"(?:<(?:span|strong|em)\b[^>]*>)*", r"(?:</(?:span|strong|em)>)*"
_BEFORE = re.compile(rf"(?P<opening>[（「『《【“‘〔]+)(?P<tags>{_TAGS})\Z")
_FIGURE = re.compile(
    r'(?P<button><button\b[^>]*\bclass="q(?: term)?"[^>]*>[^<]*</button>)'
    rf"(?P<tags>{_CLOSING_TAGS})(?P<closing>[，。、；：？！）」』》】”’〕％%…]*)"
)
_FAR = 300  # characters; brackets and tags before a figure are shorter

# How a value in base units is read aloud.
_BASE_WORDS = dict(zip(BASES, ("字节", "FLOP", "秒", "个参数", "token"), strict=True))


@dataclass(frozen=True, slots=True)
class Use:
    """A place on the page where a figure stands: its id and the heading above it."""

    id: str
    heading: str


@dataclass(slots=True)
class Panels:
    """The panels of one page or one widget frame, each figure once.

    ``prefix`` keeps the ids of a frame apart from those of its page; ``base`` leads from
    the page to the site's root.
    """

    prefix: str = ""
    base: str = ""
    quantities: dict[str, Quantity] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    reasons: dict[str, tuple[str, str]] = field(default_factory=dict)
    uses: dict[str, list[Use]] = field(default_factory=dict)
    # What a template asked for: the quantity, its pins and the text.
    shown: list[tuple[Quantity, dict[str, str], str]] = field(default_factory=list)
    _by_content: dict[tuple[str, str, str], str] = field(default_factory=dict)

    def add(self, q: Quantity, changes: Mapping[str, str] | None = None) -> str:
        """Register ``q``, and all that it is computed from; returns its panel's id.

        Figures of the same content share a panel, whatever Scenario they were asked for.
        """
        content = _content(q)
        if content not in self._by_content:
            panel = self._by_content[content] = self._new_id(q, changes or {})
            self.quantities[panel] = q
            for named in q.inputs:
                if isinstance(named.source, Quantity):
                    self.add(named.source)
                elif isinstance(named.source, FactInput):
                    self.add_fact(named.source.fact)
        return self._by_content[content]

    def _new_id(self, q: Quantity, changes: Mapping[str, str]) -> str:
        fixed = {**changes, **dict(q.where)}
        parts = [q.name, *(f"{k}-{v}" for k, v in sorted(fixed.items()))]
        plain = f"{self.prefix}fig-{_slug('-'.join(parts))}"
        others = (f"{plain}-{number}" for number in count(2))
        return next(name for name in chain([plain], others) if name not in self.quantities)

    def add_fact(self, fact: Fact) -> str:
        panel = f"{self.prefix}fact-{_slug(fact.id)}"
        self.facts[panel] = fact
        return panel

    def add_reason(self, name: str, why: str) -> str:
        """A panel for the quantity called ``name`` where it has no value; returns its id."""
        panel = f"{self.prefix}none-{_slug(name)}"
        self.reasons[panel] = (meaning(name), why)
        return panel

    def figure(
        self,
        name: str,
        *,
        scenario: Scenario = DEFAULT,
        unit: str | None = None,
        digits: int | None = None,
        **pinned: Any,
    ) -> Markup:
        """The button of a quantity, for templates: ``{{ figures.figure("ring.limit") }}``."""
        changes = {k: str(v) for k, v in pinned.items()}
        q = evaluate(name, scenario.with_fields(changes))
        self.shown.append((q, changes, q.display(unit, digits)))
        return self.button(q, changes, unit, digits)

    def button(
        self,
        q: Quantity,
        changes: Mapping[str, str] | None = None,
        unit: str | None = None,
        digits: int | None = None,
    ) -> Markup:
        """The button of a quantity that is at hand; its panel is added."""
        return Markup(
            '<button type="button" class="q" popovertarget="{}" data-q="{}">{}</button>'
        ).format(self.add(q, changes), q.name, q.display(unit, digits))

    def papers(self) -> dict[str, tuple[Paper, list[str]]]:
        """The papers that the page's facts come from, each with the places cited."""
        found: dict[str, tuple[Paper, list[str]]] = {}
        for fact in self.facts.values():
            _, places = found.setdefault(fact.paper.id, (fact.paper, []))
            if fact.where not in places:
                places.append(fact.where)
        return found

    def html(self) -> Markup:
        """All panels; on paper they read as the list of the page's figures and sources."""
        if not self.quantities and not self.facts and not self.reasons:
            return Markup("")
        template = environment().get_template("panels.html")
        return Markup(
            template.render(
                base=self.base,
                title=not self.prefix,
                quantities=[self._quantity(i, q) for i, q in self.quantities.items()],
                facts=[self._fact(i, f) for i, f in self.facts.items()],
                reasons=self.reasons,
            )
        )

    def _quantity(self, panel: str, q: Quantity) -> dict[str, Any]:
        alone = len(q.inputs) == 1 and q.formula == q.inputs[0].symbol
        return {
            "id": panel,
            "name": q.name,
            "display": q.display(),
            "says": q.says,
            "where": [f"{k} = {v}" for k, v in q.where],
            "formula": "" if alone else q.formula,
            "substituted": q.substituted,
            "full": _full(q),
            "inputs": [self._input(n) for n in q.inputs],
            "uses": self.uses.get(panel, []),
        }

    def seen_in(self, widget: Use, shown: list[tuple[Quantity, dict[str, str], str]]) -> None:
        """Tell the panels that a widget of the page shows these of their figures too."""
        for q in {id(q): q for q, _, _ in shown}.values():
            panel = self._by_content.get(_content(q))
            if panel and widget not in self.uses.setdefault(panel, []):
                self.uses[panel].append(widget)

    def _input(self, named: Named) -> dict[str, Any]:
        source = named.source
        entry = {"symbol": named.symbol, "shown": named.shown, "says": source.says, "kind": ""}
        match source:
            case Quantity():
                entry |= {"kind": "quantity", "panel": self.add(source)}
            case ScenarioInput():
                entry |= {"kind": "scenario", "name": source.spec.name}
            case ConfigInput():
                entry |= {"kind": "config", "pointer": source.pointer, "file": source.file}
            case CountedInput():
                entry |= {"kind": "inventory", "file": source.file, "model": source.model}
            case FactInput():
                entry |= {"kind": "fact", "panel": self.add_fact(source.fact)}
            case Convention():
                entry |= {"kind": "convention"}
            case Measurement():
                entry |= {"kind": "measured"}
        return entry

    def _fact(self, panel: str, fact: Fact) -> dict[str, Any]:
        shown = "、".join(map(str, fact.value)) if isinstance(fact.value, list) else fact.display()
        return {"id": panel, "shown": shown, "fact": fact, "uses": self.uses.get(panel, [])}


def _content(q: Quantity) -> tuple[str, str, str]:
    return q.name, q.substituted, q.full


def kept_together(html: str) -> str:
    """``html`` with every figure on one line with the punctuation that belongs to it."""
    parts, done = [], 0
    for m in _FIGURE.finditer(html):
        before = _BEFORE.search(html, max(done, m.start() - _FAR), m.start())
        if before or m["closing"]:
            opening, tags = (before["opening"], before["tags"]) if before else ("", "")
            parts += [html[done : before.start() if before else m.start()], tags]
            parts += ['<span class="keep">', opening, m["button"], m["closing"], "</span>"]
            parts.append(m["tags"])
            done = m.end()
    return "".join([*parts, html[done:]])


def _full(q: Quantity) -> str:
    """Its exact value with the base unit in words; empty where the figure says it all."""
    if (q.value / q.unit.scale).denominator == 1:
        return ""
    return f"{q.full} {_words(q.term.dimension)}".strip()


def _words(dimension: Dimension) -> str:
    above = [_BASE_WORDS[b] for b, e in zip(BASES, dimension, strict=True) if e > 0]
    below = [_BASE_WORDS[b] for b, e in zip(BASES, dimension, strict=True) if e < 0]
    return "/".join(["·".join(above), *below]) if above else ""


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-").lower()


def uses(panels: Panels, places: Iterator[tuple[str, Use]]) -> None:
    """Tell the panels where on the page their figures stand, in document order."""
    for panel, use in places:
        panels.uses.setdefault(panel, []).append(use)
