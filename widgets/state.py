"""A widget's state: fields read from a query string, and written back to one.

Reading never fails. A value that a field does not take is answered with a notice, and
the field keeps the value it had: the reserved key ``was`` carries the last good query.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from urllib.parse import parse_qsl, urlencode

from py_core.errors import Accepted, number, one_of, shown, whole
from py_core.scenario import decimal

WAS = "was"
GO = "go"  # several fields in the value of one button
MAX_QUERY = 4_096  # characters; longer ones cannot come from our own controls

_WHOLE = re.compile(r"[0-9]{1,9}")
_DECIMAL = re.compile(r"[0-9]{1,9}(\.[0-9]{1,6})?")

Values = dict[str, str | int]


@dataclass(frozen=True, slots=True)
class Whole:
    """A field that takes a whole number. ``high`` may depend on the fields before it.

    With ``auto``, what readers see for 0, it may be left empty, and is 0 then.
    """

    name: str
    label: str
    default: int
    low: int
    high: int | Callable[[Values], int]
    cursor: bool = False  # a place within the configuration, not part of it
    fits: Callable[[int, Values], bool] = lambda _value, _values: True
    hint: Accepted | None = None  # what is accepted, where a range does not say it
    auto: str = ""

    def accepted(self, values: Values) -> Accepted:
        high = self.high if isinstance(self.high, int) else self.high(values)
        return self.hint or whole(self.low, high)

    def read(self, text: str, values: Values) -> int | None:
        high = self.high if isinstance(self.high, int) else self.high(values)
        if self.auto and not text:
            text = "0"
        # int() would also take "１２", "1_0" and " 4 ".
        if not _WHOLE.fullmatch(text):
            return None
        value = int(text)
        return value if self.low <= value <= high and self.fits(value, values) else None

    def shown(self, value: str | int) -> str:
        return self.auto if self.auto and value == 0 else str(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """A field that takes one of a few names; ``options`` maps each to what readers see."""

    name: str
    label: str
    default: str
    options: Mapping[str, str]
    cursor: bool = False

    def accepted(self, _values: Values) -> Accepted:
        return one_of(self.options)

    def read(self, text: str, _values: Values) -> str | None:
        return text if text in self.options else None

    def shown(self, value: str | int) -> str:
        return str(value)


@dataclass(frozen=True, slots=True)
class Real:
    """A field that takes a decimal number, kept as its shortest text: ``50``, ``12.5``.

    ``unlimited`` are other words for "without limit", kept as the first of them.
    """

    name: str
    label: str
    default: str
    low: str
    high: str
    unit: str
    unlimited: tuple[str, ...] = ()
    cursor: bool = False

    def accepted(self, _values: Values) -> Accepted:
        accepted = number(self.low, self.high, self.unit)
        if not self.unlimited:
            return accepted
        english, chinese = self.unlimited[0], self.unlimited[-1]
        return Accepted(f"{accepted.english}, or {english}", f"{accepted.chinese}，或「{chinese}」")

    def read(self, text: str, _values: Values) -> str | None:
        if text in self.unlimited:
            return self.unlimited[0]
        if not _DECIMAL.fullmatch(text):
            return None
        value = Fraction(text)
        return decimal(value) if Fraction(self.low) <= value <= Fraction(self.high) else None

    def shown(self, value: str | int) -> str:
        return self.unlimited[-1] if value in self.unlimited else f"{value} {self.unit}"


@dataclass(frozen=True, slots=True)
class Place:
    """A place that may or may not be chosen, such as a bucket: a whole number, or nothing."""

    name: str
    label: str
    default: str = ""
    cursor: bool = True

    def accepted(self, _values: Values) -> Accepted:
        return Accepted("a whole number, or nothing", "整数，空着就是不选")

    def read(self, text: str, _values: Values) -> str | None:
        if not text:
            return text
        return str(int(text)) if _WHOLE.fullmatch(text) else None

    def shown(self, value: str | int) -> str:
        return str(value) or "不选"


@dataclass(frozen=True, slots=True)
class Pinned:
    """A former configuration of the same fields, as a query string; empty for none."""

    name: str
    label: str
    fields: tuple[Field, ...]
    default: str = ""
    cursor: bool = False

    def accepted(self, _values: Values) -> Accepted:
        return Accepted("a query of this widget", "这个图自己的设定")

    def read(self, text: str, _values: Values) -> str | None:
        if not text:
            return text
        state = parse(self.fields, text)
        return None if state.notices else self.written(state.values)

    def written(self, values: Values) -> str:
        """The configuration in ``values``: what differs from the defaults, and never nothing."""
        always = self.fields[0].name
        kept = {f.name: values[f.name] for f in self.fields}
        return urlencode(
            {
                f.name: kept[f.name]
                for f in self.fields
                if f.name == always or kept[f.name] != f.default
            }
        )

    def shown(self, value: str | int) -> str:
        return "有对照" if value else "没有对照"


Field = Whole | Choice | Real | Place | Pinned


@dataclass(frozen=True, slots=True)
class Notice:
    """A value that was not taken: what came, and what would do."""

    field: str
    typed: str
    accepted: Accepted
    says: str


@dataclass(frozen=True, slots=True)
class State:
    """The values of all fields, and the notices that reading them gave."""

    fields: tuple[Field, ...]
    values: Values
    notices: tuple[Notice, ...] = field(default=())

    def __getitem__(self, name: str) -> str | int:
        return self.values[name]

    def whole(self, name: str) -> int:
        value = self.values[name]
        assert isinstance(value, int)
        return value

    def full_query(self) -> str:
        """Every field, sorted by name: the key under which a frame is kept."""
        return urlencode(sorted(self.values.items()))

    def cursor(self) -> str:
        """Where the cursor fields stand when the configuration has just changed."""
        return urlencode({f.name: f.default for f in self.fields if f.cursor})


def _spaced(text: str) -> str:
    """``text`` within Chinese: a space where it begins or ends in Latin letters or digits."""
    before = " " if text[:1].isascii() else ""
    return before + text + (" " if text[-1:].isascii() else "")


def parse(fields: tuple[Field, ...], query: str) -> State:
    """The state that ``query`` describes. Of a repeated key the last value counts."""
    given = dict(parse_qsl(query[:MAX_QUERY], keep_blank_values=True))
    given |= dict(parse_qsl(given.pop(GO, ""), keep_blank_values=True))
    before = given.pop(WAS, None)
    former = None
    if before is not None:
        pairs = parse_qsl(before, keep_blank_values=True)
        former = parse(fields, urlencode([pair for pair in pairs if pair[0] != WAS]))

    values: Values = {}
    notices = []
    for f in fields:
        kept = former[f.name] if former else f.default
        text = given.pop(f.name, None)
        if text is None:
            # The former value must still fit: a step of 16 cards may not exist for 4.
            fits = f.read(str(kept), values) is not None
            values[f.name] = kept if fits else f.default
            continue
        value = f.read(text, values)
        if value is not None:
            values[f.name] = value
            continue
        fits = f.read(str(kept), values) is not None
        values[f.name] = kept if fits else f.default
        typed = f.shown(text) if isinstance(f, Choice) else text
        wrong = f"「{shown(typed)}」不行" if text.strip() else "没有填"
        accepted = f.accepted(values).chinese
        still = _spaced(f.shown(values[f.name])).rstrip()
        says = f"{_spaced(f.label)}要填{_spaced(accepted)}；{wrong}，仍用{still}。"
        notices.append(Notice(f.name, text, f.accepted(values), says))
    if former and notices and all(f.cursor or values[f.name] == former[f.name] for f in fields):
        # Nothing was taken, so nothing starts afresh: the cursor stays where it was.
        at_start = (f for f in fields if f.cursor and values[f.name] == f.default)
        values |= {f.name: former[f.name] for f in at_start}
    for name, text in given.items():
        says = f"没有「{shown(name)}」这一项，已忽略。"
        notices.append(Notice(name, text, one_of(f.name for f in fields), says))
    return State(fields, values, tuple(notices))
