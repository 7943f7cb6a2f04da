"""Figures, facts, claims, citations and widgets in Markdown: a Python-Markdown extension.

It knows Markdown and the core, nothing of MkDocs: :mod:`build_tools.hooks` tells it where
a page lies and collects what it made. Inside a sentence authors write

- ``{{ q("ring.sent_per_card", cards=8) }}``: a computed figure
- ``{{ model() }}``: the name of the model, which follows the reader's choice
- ``{{ fact("dsv3.gpus") }}``: a figure that a paper printed
- ``{{ cite("patarasuk_yuan") }}``: a paper, numbered into the page's references
- ``{{ lit("25 MB", why="…") }}``: a figure typed by hand, and why that is right
- ``{{ term("all-reduce") }}``: a word that a reader can have explained
- ``{{ task("ring.naive") }}``: where a thing to try begins, and its tick
- ``{% claim "comm_exceeds_backward", tokens=4096 %}…{% endclaim %}``: a sentence that
  stops the build when it is false

and on a line of its own ``{{ widget("ring") }}``, ``{{ references() }}``, above a lesson
``{{ lesson_head("C10", 1) }}`` or, on the page that lists all figures of the site,
``{{ all_figures() }}``.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, partial
from hashlib import sha256
from html import unescape
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.inlinepatterns import InlineProcessor
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

import widgets
from build_tools import glossary, tasks, yours
from build_tools.calls import Call, parse_call
from build_tools.faults import told
from build_tools.reading import head, minutes_of
from build_tools.references import References
from build_tools.source import Source
from build_tools.still import lightened, panels_of
from py_core import facts
from py_core.claims import Verdict, judge
from py_core.errors import LessonError, UnknownName
from py_core.quantity import Quantity, evaluate
from py_core.scenario import DEFAULT, Scenario
from widgets import frame
from widgets.figures import Panels, Use, kept_together, uses
from widgets.state import parse

CALL = r"\{\{\s*(?P<call>.*?)\s*\}\}"
CLAIM = r"\{%\s*claim\s+(?P<call>.*?)\s*%\}(?P<text>.*?)\{%\s*endclaim\s*%\}"
STRAY = r"\{%.*?%\}"
BLOCKS = ("widget", "references", "lesson_head", "all_figures")
_BLOCK_LINE = re.compile(rf"^\{{\{{\s*(?P<call>(?:{'|'.join(BLOCKS)})\(.*\))\s*\}}\}}\s*$")
# Filled once every page of the site is converted.
ALL_FIGURES = "<!-- all figures -->"
REFERENCES = "<!-- references -->"
HEAD = "<!-- head -->"
HALF_CLAIM = "a claim opens with {% claim … %} and ends with {% endclaim %} in the same paragraph"
MAX_DIGITS = 12  # decimals an author may ask for
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


@dataclass(frozen=True, slots=True)
class Problem:
    """Something an author must mend: the expression as written, and what is wrong with it."""

    written: str
    says: str
    nth: int = 0  # which of several that read the same; -1: the last one not taken yet
    alone: bool = False  # of those on lines of their own, which are read first, or of the others


@dataclass(frozen=True, slots=True)
class Shown:
    """A figure as it stands on the page: the expression, what it computed, and the text.

    Its ``button`` has an id once the whole page is converted.
    """

    written: str
    quantity: Quantity
    changes: dict[str, str]
    display: str
    button: Element


@dataclass(frozen=True, slots=True)
class Quoted:
    """A fact as it stands on the page."""

    written: str
    fact: facts.Fact
    display: str
    button: Element


@dataclass(frozen=True, slots=True)
class Opened:
    """A widget as the page opens it, and the figures it then shows: quantity, pins and text."""

    written: str
    element_id: str
    label: str
    minutes: int
    figures: list[tuple[Quantity, dict[str, str], str]]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim as the page makes it: its opening tag, its pins and the verdict on it."""

    written: str
    verdict: Verdict
    changes: dict[str, str]


@dataclass(slots=True)
class Page:
    """What is known of the page being converted, and what converting it made."""

    path: str = ""  # docs-relative, for messages
    base: str = ""  # from the page's address to the site's root: "../"
    panels: Panels = field(default_factory=Panels)
    references: References = field(default_factory=References)
    shown: list[Shown] = field(default_factory=list)
    quoted: list[Quoted] = field(default_factory=list)
    claimed: list[Claimed] = field(default_factory=list)
    opened: list[Opened] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    assets: dict[str, bytes] = field(default_factory=dict)  # site path -> content
    widget_ids: set[str] = field(default_factory=set)
    terms: dict[str, str] = field(default_factory=dict)  # name of a term -> its panel
    head: tuple[str, int] | None = None  # chapter and number of the lesson
    seen: Counter[tuple[str, bool]] = field(default_factory=Counter)  # calls met so far

    def __post_init__(self) -> None:
        self.panels.base = self.base


def scenario_of(options: dict[str, Any]) -> tuple[Scenario, dict[str, str]]:
    """The Scenario that pinned ``options`` ask for, and those options as text."""
    changes = {k: str(v) for k, v in options.items()}
    return _scenario(tuple(changes.items())), changes


@lru_cache(maxsize=64)
def _scenario(changes: tuple[tuple[str, str], ...]) -> Scenario:
    return DEFAULT.with_fields(dict(changes))


def _button(text: str, panel: str, **attributes: str) -> Element:
    button = Element("button", {"type": "button", "class": "q", "popovertarget": panel})
    button.attrib.update(attributes)
    button.text = AtomicString(text)
    return button


def figure(page: Page, written: str, call: Call) -> Element:
    """A computed figure. ``unit`` and ``digits`` change its look; all else pins the Scenario."""
    unit, digits = call.text_option("unit"), call.whole_option("digits", 0, MAX_DIGITS)
    options = {k: v for k, v in call.options.items() if k not in ("unit", "digits")}
    name = call.one_name("quantity")
    scenario, changes = scenario_of(options)
    q = evaluate(name, scenario)
    text = q.display(unit, digits)
    _not_nothing(text, q.value, unit, digits)
    given = {
        "data-set": "&".join(f"{k}={v}" for k, v in changes.items()),
        "data-unit": unit or "",
        "data-digits": "" if digits is None else str(digits),
    }
    more = {name: value for name, value in given.items() if value}
    button = _button(text, page.panels.add(q, changes), **{"data-q": name}, **more)
    page.shown.append(Shown(written, q, changes, text, button))
    return button


def model_name(call: Call) -> Element:
    """The name of the Scenario's model, which follows the reader's choice."""
    call.nothing_but()
    span = Element("span", {"data-model": ""})
    span.text = AtomicString(DEFAULT.model.name)
    return span


def _not_nothing(text: str, value: Fraction, unit: str | None, digits: int | None) -> None:
    """Raise LessonError where rounding leaves nothing of a figure."""
    if value and not re.search("[1-9]", re.sub("10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", "", text)):
        asked = f"unit={unit}, digits={digits}"
        raise LessonError(asked, text, "a unit and digits that leave something of the figure")


def fact(page: Page, written: str, call: Call) -> Element:
    """A paper's figure, as printed; ``unit`` converts it, ``digits`` then rounds it, and ``item``
    picks one of a list."""
    call.nothing_but("unit", "item", "digits")
    cited = facts.fact(call.one_name("fact"))
    if not cited.quotable:
        raise LessonError("fact", cited.id, "a fact whose text was seen, not remembered")
    unit, digits = call.text_option("unit"), call.whole_option("digits", 0, MAX_DIGITS)
    if digits is not None and unit is None:
        raise LessonError("fact: digits", digits, "unit with it: as printed, a fact is not rounded")
    text = cited.display(unit, call.whole_option("item", 0, 99), digits)
    page.references.cite(cited.paper, cited.where)
    page.references.first_cited = page.references.first_cited or written
    button = _button(text, page.panels.add_fact(cited), **{"data-fact": cited.id})
    page.quoted.append(Quoted(written, cited, text, button))
    return button


def cite(page: Page, written: str, call: Call) -> Element:
    """A paper's number among the references; ``where`` names the place in it."""
    call.nothing_but("where")
    paper = facts.paper(call.one_name("source"))
    number = page.references.cite(paper, call.text_option("where") or "")
    page.references.first_cited = page.references.first_cited or written
    link = Element("a", {"class": "cite", "href": f"#ref-{paper.id}", "title": paper.title})
    link.text = AtomicString(f"[{number}]")
    return link


def lit(_page: Page, _written: str, call: Call) -> Element:
    """A figure typed by hand, with the reason why that is right."""
    call.nothing_but("why")
    text, why = call.one_name("text"), call.text_option("why")
    if not why or not why.strip():
        raise LessonError("lit", text, 'a reason: lit("…", why="…")')
    span = Element("span", {"class": "lit"})
    span.text = AtomicString(text)
    return span


INLINE: dict[str, Callable[[Page, str, Call], Element]] = {
    "q": figure,
    "fact": fact,
    "cite": cite,
    "lit": lit,
    "model": lambda _page, _written, call: model_name(call),
    "term": lambda page, _written, call: glossary.element(page.terms, call),
    "task": lambda _page, _written, call: tasks.element(call),
}


def claim(page: Page, written: str, call: Call, text: str) -> Element:
    """A sentence that a claim vouches for. Raises LessonError where the claim is false."""
    scenario, changes = scenario_of(call.options)
    verdict = judge(call.one_name("claim"), scenario)
    page.claimed.append(Claimed(written, verdict, changes))
    if not verdict.holds:
        sides = "; ".join(
            f"{c.symbolic()}, that is {c.substituted()}" for c in verdict.comparisons if not c.holds
        )
        rests = f" (rests on {', '.join(verdict.rests_on)})" if verdict.rests_on else ""
        raise LessonError(
            f"claim {verdict.name}", "false", f"a true statement; what fails: {sides}{rests}"
        )
    span = Element("span", {"class": "claim", "data-claim": verdict.name})
    if changes:
        span.set("data-set", "&".join(f"{k}={v}" for k, v in changes.items()))
    span.text = text  # not atomic: the sentence may hold figures and emphasis
    return span


@lru_cache(maxsize=64)  # under `mkdocs serve` every edit of a page asks for them again
def _frames(module: ModuleType, element_id: str, base: str) -> bytes:
    """The script with the frames of a widget's walk, which a page loads."""
    frames = {frame.key(module, q): frame.frame(module, q, element_id, base) for q in module.walk()}
    # Most lines are those of other frames too: each is written once, and frames are its places.
    lines: dict[str, int] = {}
    places = {
        key: [lines.setdefault(line, len(lines)) for line in html.split("\n")]
        for key, html in frames.items()
    }
    return f"{_UNFOLD}({_json(element_id)},{_json(list(lines))},{_json(places)});".encode()


_UNFOLD = (
    "((id,lines,frames)=>{const f=(globalThis.lessonFrames??={})[id]={};"
    'for(const q in frames)f[q]=frames[q].map(i=>lines[i]).join("\\n")})'
)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _kept_frames(module: ModuleType, element_id: str, base: str, cache: Path | None) -> bytes:
    """The same, kept in ``cache`` from one build to the next."""
    if cache is None:
        return _frames(module, element_id, base)
    place = sha256(f"{module.__name__} {element_id} {base}".encode()).hexdigest()[:12]
    file = cache / f"{element_id}.{place}.js"
    try:
        return file.read_bytes()
    except FileNotFoundError:
        code = _frames(module, element_id, base)
    cache.mkdir(parents=True, exist_ok=True)
    written = file.with_suffix(f".{os.getpid()}")
    written.write_bytes(code)
    written.replace(file)  # another build may be at it
    return code


def widget(page: Page, runtime: str, cache: Path | None, written: str, call: Call) -> str:
    """A widget's element, its prerendered frames registered as an asset of the page.

    ``id`` names a second copy; ``query`` is the state in which it opens.
    """
    call.nothing_but("id", "query")
    name, query = call.one_name("widget"), call.text_option("query") or ""
    module = widgets.widget(name)
    element_id = call.text_option("id") or name
    if not re.fullmatch(r"[a-z][a-z0-9-]*", element_id):
        raise LessonError("id", element_id, "lower-case letters, digits and hyphens")
    if element_id in page.widget_ids:
        raise LessonError("id", element_id, "an id that no other widget of the page has")
    notices = parse(module.FIELDS, query).notices
    if notices:
        raise LessonError(f"query: {notices[0].field}", notices[0].typed, notices[0].accepted)
    page.widget_ids.add(element_id)
    first = Panels()
    frame.frame(module, query, element_id, page.base, first)
    page.opened.append(Opened(written, element_id, module.LABEL, module.MINUTES, first.shown))
    code = _kept_frames(module, element_id, page.base, cache)
    path = f"assets/frames/{element_id}.{sha256(code).hexdigest()[:12]}.js"
    page.assets[path] = code
    return frame.element(module, query, element_id, page.base, runtime, path)


class _Inline(InlineProcessor):
    """``{{ q(…) }}`` and its kin in running text; inline code is older and keeps its braces."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(CALL, md)
        self.extension = extension

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | str, int, int]:
        made = self.extension.guard(m.group(0), lambda: self._made(m.group(0), m.group("call")))
        return (_refused(m.group(0)) if made is None else made), m.start(0), m.end(0)

    def _made(self, written: str, text: str) -> Element:
        call = parse_call(text)
        if call.name in BLOCKS:
            raise LessonError(call.name, "inside a line", "a line of its own, not indented")
        if call.name not in INLINE:
            raise UnknownName("call", call.name, [*INLINE, *BLOCKS])
        return INLINE[call.name](self.extension.page, written, call)


class _Claim(InlineProcessor):
    """``{% claim … %}…{% endclaim %}`` within one paragraph, heading, item or cell."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(CLAIM, md)
        self.extension = extension

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | str, int, int]:
        opening = m.group(0)[: m.start("text") - m.start(0)]

        def made() -> Element:
            call = parse_call(f"claim({m.group('call')})")
            return claim(self.extension.page, opening, call, m.group("text"))

        element = self.extension.guard(opening, made)
        if element is None:
            element = Element("span")
            element.text = m.group("text")  # its figures are still checked
        return element, m.start(0), m.end(0)


class _Stray(InlineProcessor):
    """A claim that is opened or closed alone."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(STRAY, md)
        self.extension = extension

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | str, int, int]:
        self.extension.page.problems.append(Problem(m.group(0), HALF_CLAIM))
        return _refused(m.group(0)), m.start(0), m.end(0)


def _refused(text: str) -> Element:
    """What could not be made, visible to an author under ``mkdocs serve``."""
    mark = Element("mark", {"class": "problem"})
    mark.text = AtomicString(text)
    return mark


class _Name(InlineProcessor):
    """A name with a hyphen and a number, such as DeepSeek-V3, on one line; and 2(N − 1)/N."""

    _NAME = r"(?<![\w#/-])[A-Z][\w.]*(?:-\w*\d[\w.]*)+"
    _TERM = r"\d?\(?[A-Z] − 1\)?(?:/[A-Z])?"

    def __init__(self, md: Markdown) -> None:
        super().__init__(f"{self._NAME}|{self._TERM}", md)

    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element, int, int]:
        span = Element("span", {"class": "keep"})
        span.text = AtomicString(m[0])
        return span, m.start(), m.end()


class _Block(Preprocessor):
    """Calls on a line of their own; runs once fenced code is out of the way."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, lines: list[str]) -> list[str]:
        self.extension.serialized = False
        return [self._line(line) for line in lines]

    def _line(self, line: str) -> str:
        m = _BLOCK_LINE.match(line)
        if not m:
            return line
        written = line.strip()
        make = partial(self._made, written, m.group("call"))
        html = self.extension.guard(written, make, alone=True)
        return "" if html is None else f"\n{self.md.htmlStash.store(html)}\n"

    def _made(self, written: str, text: str) -> str:
        call, page = parse_call(text), self.extension.page
        if call.name == "widget":
            extension = self.extension
            return widget(page, extension.runtime, extension.frames, written, call)
        call.nothing_but()
        if call.name == "lesson_head":
            match call.args:
                case (str() as chapter, int() as number):
                    page.head = chapter, number
                    return HEAD
            raise LessonError("lesson_head", call.args, 'chapter and lesson: lesson_head("C10", 1)')
        if call.name == "all_figures":
            return ALL_FIGURES
        page.references.asked_for = True
        return REFERENCES


class _Gather(Treeprocessor):
    """Once all figures are in the tree: number them, put in references and panels."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, root: Element) -> None:
        page, stash = self.extension.page, self.md.htmlStash
        uses(page.panels, self._places(root))
        for opened in page.opened:
            page.panels.seen_in(Use(opened.element_id, opened.label), opened.figures)
        for paper, places in page.panels.papers().values():
            for place in places:
                page.references.cite(paper, place)
        references = page.references
        if references.first_cited and not references.asked_for:
            says = "the page rests on papers: put {{ references() }} at its end"
            page.problems.append(Problem(references.first_cited, says))
        if references.asked_for and not references.papers:
            page.problems.append(Problem("{{ references()", "the page cites nothing", -1))
        self._put_references(root)
        if page.head:
            reading = minutes_of(root)
            code = yours.script(page.base, self.extension.runtime)
            path = f"assets/frames/yours.{sha256(code).hexdigest()[:12]}.js"
            page.assets[path] = code
            html = head(*page.head, reading, [opened.minutes for opened in page.opened])
            html += yours.OPENER.format(src=page.base + path)
            stash.rawHtmlBlocks[stash.rawHtmlBlocks.index(HEAD)] = html
        panels = page.panels.html() + glossary.panels(page.terms)
        if panels:
            last = Element("p")
            last.text = stash.store(str(panels))
            root.append(last)
        said = panels_of(str(panels))
        for at, block in enumerate(stash.rawHtmlBlocks):
            if str(block).startswith("<lesson-widget "):
                stash.rawHtmlBlocks[at] = lightened(str(block), said)

    def _places(self, root: Element) -> Iterator[tuple[str, Use]]:
        heading, number = "开头", 0
        ids = set(self.extension.page.widget_ids)
        for element in root.iter():
            if "id" in element.attrib:
                if element.attrib["id"] in ids:
                    twice = element.attrib["id"]
                    self._problem(f"#{twice}", "an id that another element of the page has")
                ids.add(element.attrib["id"])
            if element.tag in _HEADINGS:
                heading = "".join(element.itertext())
                if "id" not in element.attrib:
                    self._problem(heading, "a heading needs an id of its own: # … {#name}")
            elif element.tag == "a" and element.find(".//button") is not None:
                text = "".join(element.itertext())
                self._problem(text, "a figure inside a link: a reader could press only one")
            elif element.get("class") == "q":
                number += 1
                element.set("id", f"q-{number}")
                yield element.attrib["popovertarget"], Use(f"q-{number}", heading)

    def _put_references(self, root: Element) -> None:
        stash = self.md.htmlStash
        for i, block in enumerate(stash.rawHtmlBlocks):
            if block == REFERENCES:
                for element in root.iter("p"):
                    if element.text == stash.get_placeholder(i):
                        self.extension.page.references.fill(element)

    def _problem(self, written: str, says: str) -> None:
        self.extension.page.problems.append(Problem(written, says))


class _Serialized(Treeprocessor):
    """The last of all: what postprocessors get from now on is the page."""

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, root: Element) -> None:
        self.extension.serialized = True


class _Together(Postprocessor):
    """Figures and their punctuation on one line; widgets, not yet in place, did it already."""

    def run(self, text: str) -> str:
        return kept_together(text)


class _Leftover(Postprocessor):
    """Calls that no rule has seen: in HTML blocks, attributes, broken table cells."""

    # What is meant to be read as code, or has been reported already.
    _LEAVE = re.compile(
        r"<(code|pre|script|kbd|samp)\b.*?</\1>|<mark class=\"problem\">.*?</mark>|<!--.*?-->", re.S
    )
    _CALL = re.compile(r"\{\{.*?(?:\}\}|$)|\{%.*?(?:%\}|$)", re.M)

    _IN_ATTRIBUTE = re.compile(r'="[^"<>]*<button class="q" data-q="([^"]+)"')

    def __init__(self, extension: LessonExtension, md: Markdown) -> None:
        super().__init__(md)
        self.extension = extension

    def run(self, text: str) -> str:
        if not self.extension.serialized:  # the table of contents asks for its headings' words
            return text
        for left in self._CALL.findall(self._LEAVE.sub("", text)):
            says = (
                "is not computed here: calls stand in running text, not in HTML or attributes "
                "(a caption is <figcaption markdown>)"
            )
            self.extension.page.problems.append(Problem(unescape(left), says, -1))
        for name in self._IN_ATTRIBUTE.findall(text):
            says = "stands in an HTML attribute, where no figure can be"
            self.extension.page.problems.append(Problem(f'{{{{ q("{name}"', says, -1))
        return text


class LessonExtension(Extension):
    """``runtime`` is the site path of the manifest that boots Python in the browser; ``frames``
    a folder in which prerendered frames outlast a build, as long as what they come from."""

    def __init__(self, runtime: str = "", frames: Path | None = None, **options: Any) -> None:
        super().__init__(**options)
        self.runtime, self.frames = runtime, frames
        self.page = Page()
        self.serialized = False

    def extendMarkdown(self, md: Markdown) -> None:
        md.block_level_elements += ["lesson-widget", "section"]  # else wrapped in a <p>
        # Code spans come first (190), so that they keep their braces.
        md.inlinePatterns.register(_Claim(self, md), "lesson-claim", 187)
        md.inlinePatterns.register(_Stray(self, md), "lesson-stray", 186)
        md.inlinePatterns.register(_Inline(self, md), "lesson-figure", 185)
        md.inlinePatterns.register(_Name(md), "lesson-name", 55)  # links (160), HTML (90) are done
        md.preprocessors.register(_Block(self, md), "lesson-block", 24)  # fenced code: 25
        md.postprocessors.register(_Together(md), "lesson-together", 35)  # raw HTML: 30
        md.postprocessors.register(_Leftover(self, md), "lesson-leftover", 0)
        # After inline patterns (20) and attribute lists (8), before the table of contents (5).
        md.treeprocessors.register(_Gather(self, md), "lesson-gather", 6)
        md.treeprocessors.register(_Serialized(self, md), "lesson-serialized", -100)

    def guard[T](self, written: str, make: Callable[[], T], *, alone: bool = False) -> T | None:
        """Make something; collect what goes wrong, so that a page reports all at once.

        ``alone``: it stands on a line of its own.
        """
        nth = self.page.seen[written, alone]
        self.page.seen[written, alone] += 1
        try:
            return make()
        except Exception as error:  # bad input, or a formula that fails: both are told where
            self.page.problems.append(Problem(written, told(error), nth, alone))
        return None


def locate(problems: list[Problem], source: Source) -> list[tuple[int, int, Problem]]:
    """Line and column (from 1) of each problem in the Markdown file as a whole.

    What stands in code is passed over; the same text twice is told apart by its order.
    """
    places: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    lines = source.text.splitlines()
    written = [(call.text, call.position) for call in source.calls]
    for words, position in [*written, *((claim.text, claim.position) for claim in source.claims)]:
        alone = _BLOCK_LINE.match(lines[position[0] - 1]) is not None
        places.setdefault((words, alone), []).append(position)
    located = []
    for problem in problems:
        key = problem.written, problem.alone
        known = places.get(key) or places.get((problem.written, not problem.alone), [])
        if problem.nth < 0 and known:
            line, column = known.pop()
        elif 0 <= problem.nth < len(known):
            line, column = known[problem.nth]
        else:
            line, column = _found(problem.written, source.text)
        located.append((line, column, problem))
    return sorted(located, key=lambda item: item[:2])


def _found(written: str, text: str) -> tuple[int, int]:
    """Where ``written``, or as much of its beginning as the file holds, stands last."""
    heading = re.search(rf"^#+\s+(?=.*{re.escape(written)})", text, re.M)
    at = heading.end() if heading else -1
    while at < 0 and written:
        at = text.rfind(written)
        written = written[:-1]
    at = max(at, 0)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def makeExtension(**options: Any) -> LessonExtension:
    """For other generators, which load the extension by name."""
    return LessonExtension(**options)
