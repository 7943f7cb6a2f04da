"""Reading a parsed config: every read is checked and knows the JSON pointer it came from.

A boolean is no integer, a string is no number, and ``4.0`` is no ``4``. ``null`` means
the same as an absent field unless a reader says otherwise (``nullable=True``), as in the
reference implementations.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from unicodedata import category

from py_core.errors import ABSENT, Accepted, ConfigError, one_of, shown, whole

MAX_TEXT: Final = 200  # characters of a name

# RFC 6901 writes the whole document as the empty string, which nobody can see.
ROOT: Final = "/"

# Upper bounds of what a real model could ask for, an order of magnitude or more away.
LAYERS: Final = 1_000
WIDTH: Final = 1_000_000
VOCABULARY: Final = 10_000_000
HEADS: Final = 10_000
EXPERTS: Final = 10_000

# Categories that nobody sees: control, format (which can turn the text around them), half a
# surrogate pair, line and paragraph separators. And letters and signs that print as nothing.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_UNFIT: Final = frozenset("<>\u115f\u1160\u2800\u3164\uffa0")
_SEEN: Final = "LNPS"  # letters, numbers, punctuation, symbols: of these a name needs one

PLAIN_TEXT: Final = Accepted(
    f"text of 1 to {MAX_TEXT} characters, all to be seen, spaces between them, "
    "without control characters, '<' or '>'",
    f"1 到 {MAX_TEXT} 个看得见的字符（中间可以有空格），不含控制字符和尖括号",
)
A_SECTION: Final = Accepted("a JSON object", "一个 JSON 对象")
A_LIST: Final = Accepted("a list", "一个列表")
A_FLAG: Final = Accepted("true or false", "true 或 false")


def pointer(base: str, key: str | int) -> str:
    """The JSON pointer (RFC 6901) of ``key`` inside ``base``, made fit to be shown: long keys
    are cut short, unprintable characters become "?"."""
    piece = shown(str(key)).replace("~", "~0").replace("/", "~1")
    if not piece.isprintable():
        piece = "".join(c if c.isprintable() else "?" for c in piece)
    return f"{'' if base == ROOT else base}/{piece}"


class _Required:
    """The default of a field that has none."""


REQUIRED: Final = _Required()


class Fields:
    """One object of a config. ``used`` maps the pointer of every field read to its value."""

    def __init__(
        self, config: dict[str, Any], base: str = ROOT, used: dict[str, Any] | None = None
    ) -> None:
        self._config = config
        self.base = base
        self.used: dict[str, Any] = {} if used is None else used

    def pointer(self, *names: str) -> str:
        """Pointer of the first of ``names`` that the config gives, else of the first."""
        return pointer(self.base, next((n for n in names if self.has(n)), names[0]))

    def has(self, name: str) -> bool:
        """Whether the config gives ``name`` a value other than null."""
        return self._config.get(name) is not None

    def null(self, name: str) -> bool:
        """Whether the config says ``name: null`` in so many words."""
        return name in self._config and self._config[name] is None

    def _given(self, names: tuple[str, ...]) -> tuple[str, Any]:
        """Pointer and value of the first of ``names`` that is there; None if none is."""
        for name in names:
            value = self._config.get(name)
            if value is not None:
                place = pointer(self.base, name)
                self.used[place] = value
                return place, value
        return pointer(self.base, names[0]), None

    def _default[T](self, place: str, default: T | _Required, accepted: Accepted) -> T:
        if isinstance(default, _Required):
            raise ConfigError(place, ABSENT, accepted)
        return default

    def integer[T](
        self, *names: str, default: T | _Required = REQUIRED, low: int = 1, high: int = WIDTH
    ) -> int | T:
        """A whole number from ``low`` to ``high`` under the first of ``names`` present."""
        place, value = self._given(names)
        if value is None:
            return self._default(place, default, whole(low, high))
        if type(value) is not int or not low <= value <= high:
            raise ConfigError(place, value, whole(low, high))
        return value

    def flag(self, *names: str, default: bool | _Required = REQUIRED) -> bool:
        """``true`` or ``false``."""
        place, value = self._given(names)
        if value is None:
            return self._default(place, default, A_FLAG)
        if not isinstance(value, bool):
            raise ConfigError(place, value, A_FLAG)
        return value

    def never(self, name: str) -> None:
        """Refuses ``name: true``, which would add tensors nobody here knows how to count."""
        if self.flag(name, default=False):
            raise ConfigError(pointer(self.base, name), True, Accepted("false", "false"))

    def text[T](self, *names: str, default: T | _Required = REQUIRED) -> str | T:
        """A name fit to be shown: short, to be seen, no markup."""
        place, value = self._given(names)
        if value is None:
            return self._default(place, default, PLAIN_TEXT)
        return _plain(place, value)

    def choice(self, *names: str, known: Iterable[str], default: str | _Required = REQUIRED) -> str:
        """One of ``known``."""
        place, value = self._given(names)
        if value is None:
            return self._default(place, default, one_of(known))
        if not isinstance(value, str) or value not in known:
            raise ConfigError(place, value, one_of(known))
        return value

    def strings(
        self, *names: str, known: Iterable[str] | None = None, high: int = LAYERS
    ) -> tuple[str, ...] | None:
        """A list of names (of ``known`` ones, if given), None if the config has no such list."""
        place, items = self._list(names, high)
        if items is None:
            return None
        for index, item in enumerate(items):
            if known is None:
                _plain(pointer(place, index), item)
            elif not isinstance(item, str) or item not in known:
                raise ConfigError(pointer(place, index), item, one_of(known))
        return tuple(items)

    def integers(self, *names: str, low: int, high: int) -> tuple[int, ...]:
        """A list of whole numbers, each once or more; empty if the config has no such list."""
        place, items = self._list(names, LAYERS)
        for index, item in enumerate(items or ()):
            if type(item) is not int or not low <= item <= high:
                raise ConfigError(pointer(place, index), item, whole(low, high))
        return tuple(items or ())

    def _list(self, names: tuple[str, ...], high: int) -> tuple[str, list[Any] | None]:
        place, items = self._given(names)
        if items is not None and not isinstance(items, list):
            raise ConfigError(place, items, A_LIST)
        if items is not None and len(items) > high:
            accepted = Accepted(f"at most {high:,} entries", f"最多 {high:,} 项")
            raise ConfigError(place, f"{len(items):,} entries", accepted)
        return place, items

    def section(self, name: str, *, optional: bool = False) -> Fields:
        """The object under ``name``; empty if it may be absent and is."""
        place = pointer(self.base, name)
        value = self._config.get(name)
        if value is None and optional:
            value = {}
        if not isinstance(value, dict):
            raise ConfigError(place, ABSENT if value is None else value, A_SECTION)
        return Fields(value, place, self.used)


def _plain(place: str, value: object) -> str:
    if not isinstance(value, str) or not 1 <= len(value) <= MAX_TEXT or not _fit(value):
        raise ConfigError(place, value, PLAIN_TEXT)
    return value


def _fit(text: str) -> bool:
    """Whether ``text`` can be shown: nothing unseen in it, something to be seen, no markup."""
    kinds = {category(c) for c in text}
    return (
        _UNFIT.isdisjoint(text)
        and _UNSEEN.isdisjoint(kinds)
        and any(kind[0] in _SEEN for kind in kinds)
    )
