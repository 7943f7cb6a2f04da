"""One family of errors, each saying which field, which value, and what is accepted.

Whoever catches an error (the build, the command line, a widget) can show it as it
is: ``str(error)`` is English for authors, ``error.chinese`` is for readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SHOWN = 60  # characters of a bad value that are worth repeating
LISTED = 8  # names that are worth listing where none is close
CLOSE = 3  # names that are worth showing where some are
NEAR, VERY_NEAR = 0.25, 0.4  # what counts as close, from 0 to 1
ABSENT = "(absent)"  # the value of a required field that is not there


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a field takes, in both languages of the project."""

    english: str
    chinese: str


def whole(low: int, high: int) -> Accepted:
    """A whole number from ``low`` to ``high``, both included."""
    return Accepted(f"a whole number from {low:,} to {high:,}", f"{low:,} 到 {high:,} 之间的整数")


def number(low: str, high: str, unit: str = "") -> Accepted:
    """A number from ``low`` to ``high`` (both as they should be read), both included."""
    tail = f" {unit}" if unit else ""
    return Accepted(f"a number from {low} to {high}{tail}", f"{low} 到 {high}{tail} 之间的数")


def one_of(names: Iterable[str]) -> Accepted:
    """One of a closed list of names."""
    listed = sorted(names)
    return Accepted("one of " + ", ".join(listed), "其中之一：" + "、".join(listed))


def some_of(names: Iterable[str]) -> Accepted:
    """One of a list of names, too long perhaps to be written out."""
    listed = sorted(names)
    rest = len(listed) - LISTED
    if rest <= 0:
        return one_of(listed)
    few = listed[:LISTED]
    return Accepted(
        f"one of {', '.join(few)} and {rest:,} more",
        f"其中之一：{'、'.join(few)}，还有 {rest:,} 个",
    )


def shown(value: object) -> str:
    """``value`` as an error repeats it: one line, at most ``SHOWN`` characters."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _visible(text: str) -> str:
    """``text`` with what cannot be seen, or turns the text around it, written as an escape."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class LessonError(ValueError):
    """Bad input. ``field`` says where, ``value`` what came, ``accepted`` what would do."""

    def __init__(self, field: str, value: object, accepted: Accepted | str) -> None:
        self.field = field
        self.value = value
        self.accepted = accepted if isinstance(accepted, Accepted) else Accepted(accepted, accepted)
        super().__init__(field, shown(value), self.accepted.english)

    def __str__(self) -> str:
        return f"{self.field}: got {shown(self.value)!r}, accepted is {self.accepted.english}"

    @property
    def chinese(self) -> str:
        """The same sentence for a reader."""
        if self.value == ABSENT:
            return f"缺了 {self.field}，{self.wanted}"
        return f"{self.field} 不能是「{_visible(shown(self.value))}」，{self.wanted}"

    @property
    def wanted(self) -> str:
        """What a reader should fill in, whatever the field is called beside it."""
        accepted = self.accepted.chinese
        # Chinese text sets a space before Latin letters and digits, and none elsewhere.
        return "要填" + (" " if accepted[:1].isascii() else "") + accepted


class ConfigError(LessonError):
    """A model config that cannot be counted; ``field`` is a JSON pointer."""


class ScenarioError(LessonError):
    """A Scenario or widget field out of range."""


class ScheduleError(LessonError):
    """A collective that cannot run as asked, or broke its own promise."""


class UnitError(LessonError):
    """Two quantities whose units do not go together."""


class UnknownName(LessonError):
    """A name nobody registered; ``close`` lists the nearest ones that exist, if any are near.

    ``known`` may map each name to what it says: then words find it too, in either language.
    """

    def __init__(self, field: str, value: str, known: Iterable[str] | Mapping[str, str]) -> None:
        says = known if isinstance(known, Mapping) else dict.fromkeys(known, "")
        nearness = {name: _nearness(value, name, says[name]) for name in sorted(says)}
        nearest = sorted(nearness, key=lambda name: -nearness[name])[:CLOSE]
        enough = NEAR if len(says) > LISTED else VERY_NEAR  # a short list may be given whole
        self.close = nearest if nearest and nearness[nearest[0]] >= enough else []
        super().__init__(field, value, one_of(self.close) if self.close else some_of(says))

    def __str__(self) -> str:
        if self.close:
            return f"{self.field}: no {shown(self.value)!r}; close to it: {', '.join(self.close)}"
        return super().__str__()


def _nearness(value: str, name: str, says: str) -> float:
    """How near ``name`` is, from 0 to 1: by its spelling, or by how much of ``value`` it and
    what it says hold, and how little else."""
    import difflib  # few readers ever need it

    spelling = difflib.SequenceMatcher(None, name, value).ratio()
    wanted, there = _grams(value), _grams(f"{name} {says}")
    shared = len(wanted & there)
    if not shared:
        return spelling
    return max(spelling, 0.6 * shared / len(wanted) + 0.2 * shared / len(there))


def _grams(text: str) -> set[str]:
    """Pairs of neighbouring letters; a Chinese character counts by itself as well."""
    words = re.findall(r"\w+", text.lower().replace("_", " "))
    pairs = {word[i : i + 2] for word in words for i in range(len(word) - 1)}
    return pairs | {c for word in words for c in word if not c.isascii()}
