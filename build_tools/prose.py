"""Figures and widgets in Markdown: a Python-Markdown extension over the pure core.

Authors write ``{{ q("ring.sent_per_card", cards=8) }}`` inside a sentence and
``{{ widget("ring") }}`` on a line of its own. It knows Markdown and the core, nothing of
MkDocs: :mod:`build_tools.hooks` tells it where a page lies and collects what it made.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

import widgets
from py_core.errors import LessonError, UnknownName
from py_core.quantity import Quantity, evaluate
from py_core.scenario import DEFAULT
from widgets import frame

CALL = r"\{\{\s*(?P<call>.*?)\s*\}\}"
_WIDGET_LINE = re.compile(r"^\{\{\s*(?P<call>widget\(.*\))\s*\}\}\s*$")


@dataclass(frozen=True, slots=True)
class Call:
    """``name(*args, **options)`` with literal arguments only: nothing an author writes runs."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]


def parse_call(text: str) -> Call:
    """Read one call. Raises :class:`LessonError` for anything else."""
    expected = 'a call such as q("ring.sent_per_card", cards=8)'
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise LessonError("expression", text, expected)
        args = tuple(ast.literal_eval(a) for a in node.args)
        # ``**more`` has no name, and no literal can stand in for one.
        options = {k.arg or "": ast.literal_eval(k.value) for k in node.keywords}
        return Call(node.func.id, args, options)
    except (SyntaxError, ValueError) as error:
        if isinstance(error, LessonError):
            raise
        raise LessonError("expression", text, expected) from error


@dataclass(frozen=True, slots=True)
class Problem:
    """Something an author must mend: the expression as written, and what is wrong with it."""

    written: str
    says: str


@dataclass(slots=True)
class Page:
    """What is known of the page being converted, and what converting it made."""

    path: str = ""  # docs-relative, for messages
    base: str = ""  # from the page's address to the site's root: "../"
    figures: dict[str, Quantity] = field(default_factory=dict)  # anchor -> quantity
    problems: list[Problem] = field(default_factory=list)
    assets: dict[str, bytes] = field(default_factory=dict)  # site path -> content
    widget_ids: set[str] = field(default_factory=set)


def anchor(q: Quantity, options: dict[str, Any]) -> str:
    """The id under which the page explains a figure."""
    parts = [q.name, *(f"{k}-{v}" for k, v in sorted(options.items()))]
    return "fig-" + re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-").lower()


def figure(page: Page, name: str, **options: Any) -> Element:
    """A computed figure, linked to its explanation. ``unit`` and ``digits`` change only its look;
    every other option pins a Scenario field."""
    unit, digits = options.pop("unit", None), options.pop("digits", None)
    changes = {k: v if isinstance(v, int) else str(v) for k, v in options.items()}
    q = evaluate(name, DEFAULT.with_fields(changes))
    target = anchor(q, options)
    page.figures.setdefault(target, q)
    link = Element("a", {"class": "q", "href": f"#{target}", "data-q": name})
    if changes:
        link.set("data-set", "&".join(f"{k}={v}" for k, v in changes.items()))
    link.text = AtomicString(q.display(unit, digits))
    return link


def widget(page: Page, runtime: str, name: str, *, id: str | None = None, query: str = "") -> str:
    """A widget's element, its prerendered frames registered as an asset of the page."""
    module = widgets.widget(name)
    element_id = id or name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", element_id):
        raise LessonError("id", element_id, "lower-case letters, digits and hyphens")
    if element_id in page.widget_ids:
        raise LessonError("id", element_id, "an id that no other widget of the page has")
    page.widget_ids.add(element_id)
    frames = {frame.key(module, q): frame.frame(module, q, element_id) for q in module.walk()}
    code = (
        f"(globalThis.lessonFrames??={{}})[{json.dumps(element_id)}]="
        f"{json.dumps(frames, ensure_ascii=False, separators=(',', ':'))};"
    ).encode()
    path = f"assets/frames/{element_id}.{sha256(code).hexdigest()[:12]}.js"
    page.assets[path] = code
    return frame.element(module, query, element_id, page.base + runtime, page.base + path)


class _Inline(InlineProcessor):
    """``{{ q(…) }}`` in running text; inline code is older and keeps its braces."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(CALL, md)
        self.extension = extension

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | str, int, int]:
        made = self.extension.guard(m.group(0), lambda: self._figure(m.group("call")))
        return (m.group(0) if made is None else made), m.start(0), m.end(0)

    def _figure(self, text: str) -> Element:
        call = parse_call(text)
        if call.name != "q":
            raise UnknownName("call", call.name, ["q", "widget"])
        if len(call.args) != 1 or not isinstance(call.args[0], str):
            raise LessonError("q", text, "the name of one quantity, then options")
        return figure(self.extension.page, call.args[0], **call.options)


class _Block(Preprocessor):
    """``{{ widget(…) }}`` on a line of its own; runs once fenced code is out of the way."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, lines: list[str]) -> list[str]:
        return [self._line(line) for line in lines]

    def _line(self, line: str) -> str:
        m = _WIDGET_LINE.match(line)
        if not m:
            return line
        html = self.extension.guard(line.strip(), lambda: self._widget(m.group("call")))
        return "" if html is None else f"\n{self.md.htmlStash.store(html)}\n"

    def _widget(self, text: str) -> str:
        call = parse_call(text)
        extension = self.extension
        return widget(extension.page, extension.runtime, *call.args, **call.options)


class LessonExtension(Extension):
    """``runtime`` is the site path of the manifest that boots Python in the browser."""

    def __init__(self, runtime: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.runtime = runtime
        self.page = Page()

    def extendMarkdown(self, md: Markdown) -> None:
        md.block_level_elements.append("lesson-widget")  # else it would be wrapped in a <p>
        md.inlinePatterns.register(_Inline(self, md), "lesson-figure", 185)  # code spans: 190
        md.preprocessors.register(_Block(self, md), "lesson-widget", 24)  # fenced code: 25
        # After inline patterns (20), before the table of contents and link checks (5).
        md.treeprocessors.register(_Explain(self, md), "lesson-explain", 15)

    def guard[T](self, written: str, make: Callable[[], T]) -> T | None:
        """Make something; collect what goes wrong, so that a page reports all at once."""
        try:
            return make()
        except LessonError as error:
            self.page.problems.append(Problem(written, str(error)))
        except TypeError as error:  # wrong arguments
            self.page.problems.append(Problem(written, str(error)))
        return None


def locate(problems: list[Problem], source: str) -> list[tuple[int, Problem]]:
    """Line numbers (from 1) of ``problems`` in the Markdown file's whole text ``source``."""
    lines = source.splitlines()
    used: dict[str, int] = {}
    located = []
    for p in problems:
        start = used.get(p.written, 0)
        number = next((i for i in range(start, len(lines)) if p.written in lines[i]), None)
        if number is not None:
            used[p.written] = number + 1
        located.append((1 if number is None else number + 1, p))
    return sorted(located, key=lambda item: item[0])


def explanations(page: Page) -> Element:
    """The page's figures with formula, numbers put in and inputs: readable without a script."""
    section = Element("section", {"class": "figures", "data-search-exclude": ""})
    _add(section, "h2", "这些数怎么来的", id="figures")
    rows = _add(section, "dl")
    for target, q in page.figures.items():
        row = _add(rows, "div", id=target, **{"class": "figure-row"})
        head = _add(row, "dt", q.display())
        _add(head, "span", q.says, **{"class": "says"})
        body = _add(row, "dd")
        _add(body, "p", f"{q.formula} = {q.substituted}", **{"class": "formula"})
        inputs = _add(body, "ul")
        for named in q.inputs:
            item = _add(inputs, "li", f"{named.symbol} = {named.shown}")
            _add(item, "span", named.source.says, **{"class": "says"})
    return section


def _add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    child = SubElement(parent, tag, attributes)
    child.text = AtomicString(text)
    return child


class _Explain(Treeprocessor):
    """Puts the explanations at the page's end, before headings are collected for the contents."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, root: Element) -> None:
        if self.extension.page.figures:
            root.append(explanations(self.extension.page))


def makeExtension(**options: Any) -> LessonExtension:
    """For other generators, which load the extension by name."""
    return LessonExtension(**options)
