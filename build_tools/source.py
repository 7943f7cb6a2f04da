"""A Markdown file as tools see it: its calls, its claims and what a reader will read.

:class:`Source` reads the whole text of a file, front matter and all, and gives every
part its place in the file. It knows the Markdown this site is written in (fences,
admonitions, tabs, lists, tables, footnotes, attribute lists, HTML), neither a Markdown
library nor MkDocs.

:attr:`Source.prose` is text as read: emphasis marks, tags, link targets and the like are
gone, so that ``**8** 张卡`` reads ``8 张卡``; what is not text leaves one character
(:data:`CALL`, :data:`CODE`, …) behind.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

# One character stands for what a reader sees there but nobody typed as prose.
CALL, CODE, OBJECT = "\ue000", "\ue001", "\ue003"
BREAK = "\u2029"  # the end of an HTML element that ends a line
HIDDEN = "\x00"  # within Source only: comments, fences, scripts

_TAB = 4  # Python-Markdown indents what lists and admonitions hold by four columns
_DEEPEST = 50  # lists within lists; no page has so many
_CODE_SPAN = r"(?<![\\`])(?P<ticks>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`)"
_RAW = re.compile(
    rf"{_CODE_SPAN}|<!--.*?-->|<(?P<raw>script|style|pre|textarea)\b[^>]*>.*?</(?P=raw)\s*>",
    re.S | re.I,
)
_BLOCK_TAGS = re.compile(
    r"address|article|aside|blockquote|caption|dd|desc|details|div|dl|dt|figcaption|figure|footer|"
    r"form|h[1-6r]|header|li|main|nav|ol|optgroup|option|p|section|summary|svg|table|tbody|td|text|"
    r"tfoot|th|thead|title|tr|ul",
    re.I,
)
# Elements that hold others: inside one, an indented line is HTML and not code.
_HOLDERS = re.compile(
    r"article|aside|blockquote|details|div|dl|figure|footer|form|header|main|nav|ol|section|svg|"
    r"table|ul",
    re.I,
)
_CODE_TAGS = ("code", "kbd", "samp", "var", "math", "tt")
_READABLE = ("alt", "title", "aria-label", "aria-description", "placeholder")

_FRONT_MATTER = re.compile(
    r"-{3}[ \t]*(?:\r\n|\r|\n)(.*?)(?<=[\r\n])(?:-{3}|\.{3})[ \t]*(?=[\r\n]|\Z)", re.S
)
_META = re.compile(r"(?P<key>title|description):[ \t]*(?P<value>.*)")
_FENCE = re.compile(r"(?P<lead>[> ]*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$")
_HEADING = re.compile(r"#{1,6}(?!#)[ \t]*(?P<text>.*?)[ \t]*#*[ \t]*$")
_TITLED = re.compile(
    r'(?:!!!|\?\?\?\+?|===[!+]?)[ \t]*(?=["\w])[\w \t-]*(?:"(?P<text>.*)")?[ \t]*$'
)
_MARKER = re.compile(r"(?:[*+-]|[0-9]+\.)[ \t]+(?=\S)")
_DEFINITION = re.compile(r":[ \t]{1,3}(?=\S)")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:[ \t]*")
_REFERENCE = re.compile(
    r"\[(?P<id>[^\]^][^\]]*)\]:[ \t]*\S+(?:[ \t]+[\"'(](?P<text>.*)[\"')])?[ \t]*$"
)
_ABBREVIATION = re.compile(r"\*\[[^\]]+\]:[ \t]*")
_RULE = re.compile(r"(?:[ \t]*[-=*_]){2,}[ \t]*$|[-=]+[ \t]*$")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-*:?[ \t]*)*$")
_FENCE_TITLE = re.compile(r'\btitle="([^"]*)"')

_CALL = re.compile(r"\{\{\s*(?P<inner>.*?)\s*\}\}", re.S)
_TAG = re.compile(r"\{%.*?%\}", re.S)
_OPEN_CLAIM = re.compile(r"\{%\s*claim\s+(?P<inner>.*?)\s*%\}", re.S)
_END_CLAIM = re.compile(r"\{%\s*endclaim\s*%\}")
_TICKS = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|`+", re.S)
_ATTRIBUTES = re.compile(r"\{:[^{}\n]*\}|\{[ \t]*(?:[.#][\w-]|[\w-]+=)[^{}\n]*\}")
_AUTOLINK = re.compile(r"<(?:[a-zA-Z][a-zA-Z0-9+.-]*:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>")
_URL = re.compile(r"(?:https?|ftp)://[^\s<>()\[\]\"'「」『』（）《》，。；、！？]+")
_HTML = re.compile(
    r"<(?P<close>/?)(?P<name>[A-Za-z][\w:-]*)"
    r"(?P<attributes>(?:\s(?:(?>\{\{.*?\}\})|\"[^\"]*\"|'[^']*'|[^\"'<>{]|\{(?!\{))*+)?)>",
    re.S,
)
_ATTRIBUTE = re.compile(
    r"(?P<name>[\w:-]+)\s*=\s*(?:\"(?P<value>(?:(?>\{\{.*?\}\})|[^\"{]|\{(?!\{))*+)\""
    r"|'(?P<other>(?:(?>\{\{.*?\}\})|[^'{]|\{(?!\{))*+)')",
    re.S,
)
_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
_UNSEEN = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # of no width: nobody reads them
_ESCAPABLE = frozenset("\\`*_{}[]()>#+-.!|<&$~^:\"'")
_SENTENCE_END = re.compile(rf"[。！？；!?;]+[」』”’）)\"']*|{BREAK}")


class Position(NamedTuple):
    """A place in the file; both count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Written:
    """``{{ … }}`` as it stands in the file; ``inner`` is what the braces hold."""

    text: str
    inner: str
    offset: int
    position: Position


@dataclass(frozen=True, slots=True)
class ClaimSpan:
    """``{% claim … %}…{% endclaim %}``: its opening tag, and where tag and claim stand."""

    text: str
    inner: str
    position: Position
    end: Position  # just behind the closing tag
    start: int  # offsets of the text between the tags
    stop: int


@dataclass(frozen=True, slots=True)
class Fault:
    """A ``{% … %}`` that is no claim, or only half of one."""

    text: str
    position: Position
    says: str


@dataclass(frozen=True, slots=True)
class Prose:
    """Text that reads on: a heading, a paragraph, an item, a cell, a title, an image's alt text.

    ``offsets[i]`` is where ``text[i]`` stands in the file. ``heads`` is what a table says
    of a cell: the head of its column, and the first cell of its row.
    """

    source: Source = field(repr=False)
    kind: str
    text: str
    offsets: tuple[int, ...] = field(repr=False)
    heads: tuple[str, ...] = ()

    def position(self, index: int = 0) -> Position:
        return self.source.position(self.offsets[index])

    def written(self, start: int, stop: int) -> str:
        """``text[start:stop]`` with calls and code as they stand in the file."""
        return self.source.text[self.offsets[start] : self.offsets[stop - 1] + 1]

    def claim_at(self, index: int) -> ClaimSpan | None:
        return self.source.claim_at(self.offsets[index])

    @property
    def codes(self) -> list[tuple[int, str]]:
        """What its spans of code hold, each with its index in ``text``."""
        held = self.source.codes
        found = ((i, held.get(self.offsets[i])) for i, c in enumerate(self.text) if c == CODE)
        return [(i, code) for i, code in found if code is not None]

    @property
    def calls(self) -> list[tuple[int, Written]]:
        """Its calls, each with its index in ``text``."""
        at = self.source.call_at
        found = ((i, at(self.offsets[i])) for i, c in enumerate(self.text) if c == CALL)
        return [(i, call) for i, call in found if call]

    def sentences(self) -> Iterator[Prose]:
        """Its sentences, with their closing marks and the quotes that close behind them."""
        start = 0
        ends = [m.end() for m in _SENTENCE_END.finditer(self.text)]
        for end in [*ends, len(self.text)]:
            if self.text[start:end].strip(BREAK + " \t\n"):
                piece = self.text[start:end], self.offsets[start:end]
                yield Prose(self.source, self.kind, *piece, self.heads)
            start = end


class Source:
    """The text of one Markdown file. Offsets count characters behind a byte order mark."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\ufeff")
        self._starts = [0, *(m.end() for m in re.finditer(r"\r\n|\r|\n", self.text))]
        self.calls: list[Written] = []
        self.claims: list[ClaimSpan] = []
        self.faults: list[Fault] = []
        self.codes: dict[int, str] = {}  # spans of code by their offset
        self.prose: list[Prose] = []
        _Blocks(self).read()
        self.calls.sort(key=lambda call: call.offset)
        self.claims.sort(key=lambda claim: claim.start)
        self.faults.sort(key=lambda fault: fault.position)
        self.prose.sort(key=lambda prose: prose.offsets[0])

    def position(self, offset: int) -> Position:
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def call_at(self, offset: int) -> Written | None:
        """The call that starts at ``offset``."""
        i = bisect_left(self.calls, offset, key=lambda call: call.offset)
        found = self.calls[i : i + 1]
        return found[0] if found and found[0].offset == offset else None

    def claim_at(self, offset: int) -> ClaimSpan | None:
        """The claim whose text holds ``offset``."""
        return next((c for c in self.claims if c.start <= offset < c.stop), None)

    def lines(self) -> list[tuple[int, int]]:
        """Where each line starts, and where it stops without its line end."""
        stops = [*self._starts[1:], len(self.text)]
        return [
            (start, start + len(self.text[start:stop].rstrip("\r\n")))
            for start, stop in zip(self._starts, stops, strict=True)
        ]


def _covered(text: str) -> str:
    return re.sub(r"[^\r\n]", HIDDEN, text)


class _Blocks:
    """Finds the blocks of a file, line by line, and hands their text to :class:`_Inline`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lines = source.lines()
        self.shown = source.text
        self.paragraph: list[tuple[int, int]] = []
        self.kind = "paragraph"
        self.depth = 0  # how many lists, admonitions, … are open
        self.fresh = True  # does a block start here?

    def read(self) -> None:
        first = self._front_matter()
        fenced = self._hide_fences(first)
        in_html = self._hide_raw()
        self.references = {
            m["id"].lower()
            for start, stop in self.lines
            if (m := _REFERENCE.match(self.shown[start:stop].lstrip()))
        }
        for number in range(first, len(self.lines)):
            if number in fenced:
                self._flush()
                self.fresh = True
            else:
                self._line(*self.lines[number], in_html[number])
        self._flush()

    # ── what is out of the way before blocks are looked for ─────────────────────────────

    def _front_matter(self) -> int:
        """Reads a title and a description; returns the number of the first line behind."""
        m = _FRONT_MATTER.match(self.shown)
        if not m:
            return 0
        last = self.source.position(m.end(1)).line  # of the closing dashes, from 1
        rows = self.lines[1 : last - 1]
        for i, (start, stop) in enumerate(rows):
            meta = _META.fullmatch(self.shown, start, stop)
            if not meta:
                continue
            value = meta.span("value")
            kept = [] if re.fullmatch(r"[|>][+-]?", meta["value"].strip()) else [value]
            for more in rows[i + 1 :]:
                if not self.shown[more[0] : more[1]].startswith((" ", "\t")):
                    break
                kept.append(self._stripped(*more))
            spans = [self._stripped(*span) for span in kept]
            if spans and self.shown[spans[0][0]] in "\"'" and spans[0][0] < spans[0][1]:
                spans[0] = (spans[0][0] + 1, spans[0][1])
                spans[-1] = (spans[-1][0], max(spans[-1][0], spans[-1][1] - 1))
            self._plain(f"page {meta['key']}", spans)
        return last

    def _hide(self, start: int, stop: int) -> None:
        covered = _covered(self.shown[start:stop])
        self.shown = self.shown[:start] + covered + self.shown[stop:]

    def _hide_fences(self, first: int) -> set[int]:
        """Hides fenced code; returns the numbers of its lines."""
        fenced: set[int] = set()
        number = first
        while number < len(self.lines):
            start, stop = self.lines[number]
            m = _FENCE.match(self.shown[start:stop].expandtabs(_TAB))
            last = self._fence_end(number, m) if m else None
            if m and last is not None:
                title = _FENCE_TITLE.search(self.shown, start, stop)
                if title:
                    self._plain("title", [title.span(1)])
                fenced.update(range(number, last + 1))
                self._hide(start, self.lines[last][1])
                number = last
            number += 1
        return fenced

    def _fence_end(self, opened: int, m: re.Match[str]) -> int | None:
        """The line that closes the fence; None where none does, and it is no fence."""
        margin = len(m["lead"])
        for number in range(opened + 1, len(self.lines)):
            start, stop = self.lines[number]
            line = self.shown[start:stop].expandtabs(_TAB)
            bare = line.lstrip("> ")
            if not bare.strip():
                continue
            if len(line) - len(bare) < margin:
                return None  # the list or admonition that holds the fence has ended
            if bare.rstrip() == m["fence"]:
                return number
        return None

    def _hide_raw(self) -> list[bool]:
        """Hides comments and raw elements; says for each line whether it starts inside HTML."""
        tags = _RAW.sub(lambda m: _covered(m.group()), self.shown)
        self.shown = _RAW.sub(
            lambda m: m.group() if m["ticks"] else _covered(m.group()), self.shown
        )
        opened: list[tuple[str, bool]] = []  # name, and whether it holds HTML, not Markdown
        changes: list[tuple[int, bool]] = []
        for m in _HTML.finditer(tags):
            name = m["name"].lower()
            if not _HOLDERS.fullmatch(name):
                continue
            if not m["close"]:
                opened.append((name, not re.search(r"\bmarkdown\b", m["attributes"])))
            elif any(name == other for other, _ in opened):
                while opened.pop()[0] != name:
                    pass
            changes.append((m.end(), bool(opened) and opened[-1][1]))
        inside = [False]
        for start, _ in self.lines[1:]:
            state = inside[-1]
            while changes and changes[0][0] <= start:
                state = changes.pop(0)[1]
            inside.append(state)
        return inside

    # ── blocks ──────────────────────────────────────────────────────────────────────────

    def _line(self, start: int, stop: int, in_html: bool) -> None:
        if not self.shown[start:stop].strip(f" \t{HIDDEN}"):
            self._flush()
            self.fresh = True
            return
        level = self._level(start)
        start, stop = self._stripped(start, stop)
        if self.fresh and level > self.depth and not in_html:
            return  # indented code, and what follows it at once is a new block
        if self.fresh:
            self.depth = min(self.depth, level)
        level = min(level, self.depth)
        while self.shown[start] == ">" and start + 1 < stop:
            start = self._stripped(start + 1, stop)[0]
        if start < stop:
            self._content(start, stop, level)

    def _content(self, start: int, stop: int, level: int) -> None:
        line = self.shown[start:stop]
        self.fresh = False
        if m := _HEADING.match(line):
            self._alone("heading", start + m.start("text"), start + m.end("text"))
        elif m := _TITLED.match(line):
            self._flush()
            if m["text"]:
                self._inline("title", [(start + m.start("text"), start + m.end("text"))])
            self.depth, self.fresh = level + 1, True
        elif m := _REFERENCE.match(line):
            self._flush()
            if m["text"]:
                self._plain("title", [(start + m.start("text"), start + m.end("text"))])
        elif _RULE.match(line) and not (self.paragraph and "|" in line):
            self._flush()
            self.fresh = True
        elif level < _DEEPEST and (
            m := _MARKER.match(line) or _DEFINITION.match(line) or _FOOTNOTE.match(line)
        ):
            self._flush()
            self.depth, self.kind = level + 1, "item"
            if start + m.end() < stop:
                self._content(start + m.end(), stop, level + 1)
            else:
                self.fresh = True
        elif m := _ABBREVIATION.match(line):
            self._alone("title", start + m.end(), stop)
        else:
            self.paragraph.append((start, stop))

    def _alone(self, kind: str, start: int, stop: int) -> None:
        self._flush()
        self.fresh = True
        if start < stop:
            self._inline(kind, [(start, stop)])

    def _flush(self) -> None:
        spans, kind = self.paragraph, self.kind
        self.paragraph, self.kind = [], "paragraph"
        is_table = len(spans) > 1 and "|" in self.shown[slice(*spans[0])]
        if is_table and _TABLE_RULE.match(self.shown[slice(*spans[1])]):
            self._table([spans[0], *spans[2:]])
        elif spans:
            self._inline(kind, spans)

    def _table(self, rows: list[tuple[int, int]]) -> None:
        columns: list[str] = []
        for number, row in enumerate(rows):
            cells = list(self._cells(*row))
            if self.shown[row[0]] == "|":
                cells = cells[1:]  # what stands before the first bar
            first = ""
            for column, cell in enumerate(cells):
                head = columns[column] if column < len(columns) else ""
                read = self._inline("cell", [cell], (head, first) if number else ())
                if number == 0:
                    columns.append(read)
                elif column == 0:
                    first = read

    def _cells(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        begun = at = start
        while at < stop:
            if self.shown[at] == "\\":
                at += 1
            elif self.shown[at] == "`" and (m := _TICKS.match(self.shown, at, stop)):
                at = m.end() - 1
            elif self.shown[at] == "|":
                yield begun, at
                begun = at + 1
            at += 1
        yield begun, stop

    # ── text ────────────────────────────────────────────────────────────────────────────

    def _level(self, start: int) -> int:
        columns = 0
        while self.shown[start : start + 1] in (" ", "\t"):
            columns += _TAB - columns % _TAB if self.shown[start] == "\t" else 1
            start += 1
        return columns // _TAB

    def _stripped(self, start: int, stop: int) -> tuple[int, int]:
        while start < stop and self.shown[start] in " \t":
            start += 1
        while stop > start and self.shown[stop - 1] in " \t":
            stop -= 1
        return start, stop

    def _gathered(self, spans: list[tuple[int, int]]) -> tuple[str, list[int]]:
        """The text of some lines, joined by line ends, with the offset of each character."""
        text = ""
        offsets: list[int] = []
        for start, stop in spans:
            if text:
                text += "\n"
                offsets.append(offsets[-1] + 1)
            line = self.shown[start:stop]
            if _UNSEEN.isdisjoint(line):
                text += line
                offsets += range(start, stop)
                continue
            seen = [i for i, c in enumerate(line) if c not in _UNSEEN]
            text += "".join(line[i] for i in seen)
            offsets += [start + i for i in seen]
        return text, offsets

    def _plain(self, kind: str, spans: list[tuple[int, int]]) -> None:
        """Text without any markup in it."""
        text, offsets = self._gathered([s for s in spans if s[0] < s[1]])
        if text.strip():
            self.source.prose.append(Prose(self.source, kind, text, tuple(offsets)))

    def _inline(self, kind: str, spans: list[tuple[int, int]], heads: tuple[str, ...] = ()) -> str:
        """Reads a block; returns its text as read."""
        text, offsets = self._gathered([s for s in spans if s[0] < s[1]])
        if not text.strip(f" \t\n{HIDDEN}"):
            return ""
        return _Inline(self.source, text, offsets, self.references, heads).read(kind)


class _Inline:
    """Reads the text of one block: finds its calls and claims, drops what is no text."""

    def __init__(
        self,
        source: Source,
        text: str,
        offsets: list[int],
        references: set[str],
        heads: tuple[str, ...],
    ) -> None:
        self.source = source
        self.heads = heads
        self.text = text
        self.offsets = offsets
        self.references = references
        self.emphasis = len(re.findall(r"\*+", text)) > 1
        self.tags: list[tuple[int, int]] = []  # of {% … %}
        self.kept: list[tuple[str, int]] = []  # characters as read, and where they stand
        self._followers: dict[str, Callable[[int, int], int | None]] = {
            "\\": self._backslash,
            "`": self._ticks,
            "{": self._brace,
            "!": self._image,
            "[": self._link,
            "<": self._angle,
            "&": self._entity,
            "*": self._mark,
            "_": self._mark,
        }

    def read(self, kind: str) -> str:
        read = self._piece(kind, 0, len(self.text))
        self._pair_claims()
        return read

    def _piece(self, kind: str, start: int, stop: int) -> str:
        """A stretch of the block that is read by itself; returns it as read."""
        outer, self.kept = self.kept, []
        self._walk(start, stop)
        read = "".join(c for c, _ in self.kept)
        if read.strip(f" \t\n{BREAK}"):
            lead = len(read) - len(read.lstrip(" \t\n"))
            end = len(read.rstrip(" \t\n"))
            offsets = tuple(self.offsets[i] for _, i in self.kept[lead:end])
            heads = self.heads if kind == "cell" else ()
            self.source.prose.append(Prose(self.source, kind, read[lead:end], offsets, heads))
        self.kept = outer
        return read.strip(f" \t\n{BREAK}")

    def _keep(self, char: str, at: int) -> None:
        self.kept.append((char, at))

    def _walk(self, start: int, stop: int) -> None:
        at = start
        while at < stop:
            at = self._step(at, stop)

    def _step(self, at: int, stop: int) -> int:
        """Reads what starts at ``at``; returns where to go on."""
        c = self.text[at]
        if c == HIDDEN:
            return at + 1
        follow = self._followers.get(c)
        if follow is None and c in "hf" and (m := _URL.match(self.text, at, stop)):
            self._keep(OBJECT, at)
            return m.end()
        beyond = follow(at, stop) if follow else None
        if beyond is None:
            self._keep(c, at)
            return at + 1
        return beyond

    def _backslash(self, at: int, stop: int) -> int | None:
        if _CALL.match(self.text, at + 1, stop):
            return None
        if at + 1 < stop and self.text[at + 1] in _ESCAPABLE:
            self._keep(self.text[at + 1], at + 1)
            return at + 2
        return None

    def _ticks(self, at: int, stop: int) -> int | None:
        m = _TICKS.match(self.text, at, stop)
        if m and m[1]:
            self._code(at, m.group().strip("`"))
            return m.end()
        return None

    def _code(self, at: int, held: str) -> None:
        self._keep(CODE, at)
        self.source.codes[self.offsets[at]] = held.strip()

    def _brace(self, at: int, stop: int) -> int | None:
        if m := _CALL.match(self.text, at, stop):
            self._call(m)
            self._keep(CALL, at)
            return m.end()
        if m := _TAG.match(self.text, at, stop):
            self.tags.append(m.span())
            return m.end()
        m = _ATTRIBUTES.match(self.text, at, stop)
        if not m:
            return None
        self._attributes(m.span())
        return m.end()

    def _call(self, m: re.Match[str]) -> None:
        offset = self.offsets[m.start()]
        # As in the file, where a line end may be two characters.
        written = self.source.text[offset : self.offsets[m.end() - 1] + 1]
        self.source.calls.append(Written(written, m["inner"], offset, self.source.position(offset)))

    def _image(self, at: int, stop: int) -> int | None:
        if self.text[at + 1 : at + 2] != "[":
            return None
        end = self._bracket(at + 1, stop)
        if end is None:
            return None
        beyond = self._target(end + 1, stop, self.text[at + 2 : end])
        if beyond is None:
            return None
        self._piece("alt", at + 2, end)
        self._keep(OBJECT, at)
        return beyond

    def _link(self, at: int, stop: int) -> int | None:
        end = self._bracket(at, stop)
        if end is None:
            return None
        inner = self.text[at + 1 : end]
        if inner.startswith("^"):
            return end + 1  # a footnote's mark
        beyond = self._target(end + 1, stop, inner)
        if beyond is None:
            return None
        self._walk(at + 1, end)
        return beyond

    def _bracket(self, at: int, stop: int, pair: str = "[]") -> int | None:
        """Where the bracket that opens at ``at`` closes."""
        depth = 0
        while at < stop:
            c = self.text[at]
            skip = _TICKS if c == "`" else _CALL if c == "{" else None
            if skip and (m := skip.match(self.text, at, stop)):
                at = m.end()
                continue
            if c == "\\":
                at += 1
            elif c == pair[0]:
                depth += 1
            elif c == pair[1]:
                depth -= 1
                if not depth:
                    return at
            at += 1
        return None

    def _target(self, at: int, stop: int, inner: str) -> int | None:
        """Behind the target of a link whose text ends before ``at``; None if it is no link."""
        if self.text[at : at + 1] == "(" and (end := self._bracket(at, stop, "()")) is not None:
            title = re.search(r"\s[\"'](.*)[\"']\s*$", self.text[at + 1 : end])
            if title:
                self._piece("title", at + 1 + title.start(1), at + 1 + title.end(1))
            return end + 1
        m = re.compile(r"[ ]?\[([^\]]*)\]").match(self.text, at, stop)
        if m and (m[1] or inner).lower() in self.references:
            return m.end()
        return at if inner.lower() in self.references else None

    def _angle(self, at: int, stop: int) -> int | None:
        if m := _AUTOLINK.match(self.text, at, stop):
            self._keep(OBJECT, at)
            return m.end()
        m = _HTML.match(self.text, at, stop)
        if not m:
            return None
        name = m["name"].lower()
        if name in _CODE_TAGS and not m["close"]:
            closing = re.compile(rf"</{name}\s*>", re.I).search(self.text, m.end(), stop)
            self._code(at, self.text[m.end() : closing.start()] if closing else "")
            return closing.end() if closing else m.end()
        self._attributes(m.span("attributes"))
        if _BLOCK_TAGS.fullmatch(name):
            self._keep(BREAK, at)
        elif name == "br":
            self._keep("\n", at)
        elif name in ("sup", "sub") and not m["close"]:
            self._keep("^" if name == "sup" else "_", at)
        return m.end()

    def _attributes(self, span: tuple[int, int]) -> None:
        for m in _ATTRIBUTE.finditer(self.text, *span):
            value = m.span("value" if m["value"] is not None else "other")
            if m["name"].lower() in _READABLE:
                self._piece("alt", *value)
            else:
                for call in _CALL.finditer(self.text, *value):
                    self._call(call)

    def _entity(self, at: int, stop: int) -> int | None:
        m = _ENTITY.match(self.text, at, stop)
        if not m:
            return None
        meant = html.unescape(m.group())
        if len(meant) > 1 and meant.endswith(";"):
            return None  # there is none of that name
        for char in meant:
            if char not in _UNSEEN:
                self._keep(char, at)
        return m.end()

    def _mark(self, at: int, stop: int) -> int | None:
        """Behind a run of emphasis marks; None where they are characters like others."""
        c, end = self.text[at], at
        while end < stop and self.text[end] == c:
            end += 1
        before, after = self.text[at - 1 : at] or " ", self.text[end : end + 1] or " "
        if before.isspace() and after.isspace():
            return None
        word = re.compile(r"\w")
        inside = word.match(before) and word.match(after)
        return None if (c == "_" and inside) or (c == "*" and not self.emphasis) else end

    def _pair_claims(self) -> None:
        opened: re.Match[str] | None = None
        spare = 0  # ends of outer claims, whose fault has been told
        for span in self.tags:
            place = self.source.position(self.offsets[span[0]])
            text = self.text[slice(*span)]
            if m := _OPEN_CLAIM.fullmatch(self.text, *span):
                if opened:
                    self._fault(
                        opened,
                        "it is not closed before the next one opens: end it with "
                        "{% endclaim %}; claims do not nest",
                    )
                    spare += 1
                opened = m
            elif _END_CLAIM.fullmatch(text):
                if opened:
                    self._claim(opened, span)
                elif spare:
                    spare -= 1
                else:
                    self.source.faults.append(
                        Fault(text, place, 'no claim is open here: write {% claim "…" %} before')
                    )
                opened = None
            else:
                known = '{% claim "name" %} and {% endclaim %}'
                self.source.faults.append(Fault(text, place, f"unknown; there are {known}"))
        if opened:
            self._fault(
                opened,
                "it is not closed: write {% endclaim %} in the same paragraph, "
                "heading, item or cell",
            )

    def _claim(self, opened: re.Match[str], closing: tuple[int, int]) -> None:
        if not self.text[opened.end() : closing[0]].strip():
            self._fault(opened, "it says nothing: the sentence stands before {% endclaim %}")
        start = self.offsets[opened.end() - 1] + 1
        self.source.claims.append(
            ClaimSpan(
                opened.group(),
                opened["inner"],
                self.source.position(self.offsets[opened.start()]),
                self.source.position(self.offsets[closing[1] - 1] + 1),
                start,
                self.offsets[closing[0]],
            )
        )

    def _fault(self, m: re.Match[str], says: str) -> None:
        place = self.source.position(self.offsets[m.start()])
        self.source.faults.append(Fault(m.group(), place, says))
