"""From the text of a ``config.json`` to fields that are known to be sound.

:func:`parse_config` turns untrusted text into a dictionary, or says in one
:class:`~py_core.errors.ConfigError` what is wrong with it. :class:`Fields` (in
:mod:`py_core.fields`) then reads that dictionary.

The limits are checked on the raw bytes, before any parser runs: in Pyodide 0.29 fifty
thousand nested brackets kill the interpreter for good instead of raising.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NoReturn

from py_core.errors import Accepted, ConfigError
from py_core.fields import A_SECTION, MAX_TEXT, PLAIN_TEXT, REQUIRED, ROOT, Fields, pointer

__all__ = ["REQUIRED", "ROOT", "Fields", "check_size", "parse_config", "pointer"]

MAX_BYTES: Final = 8 * 2**20
MAX_DEPTH: Final = 64
MAX_KEYS: Final = 10_000
MAX_ITEMS: Final = 100_000  # entries of lists and objects together
MAX_DIGITS: Final = 18  # of one integer; 10**18 bytes is far past any model

_OUTSIDE: Final = b"[]{}"
_NOT_STRUCTURE: Final = bytes(set(range(256)) - set(_OUTSIDE))
_SURROGATE: Final = re.compile(r"[\ud800-\udfff]")


def parse_config(text: str | bytes) -> dict[str, Any]:
    """Parse a ``config.json``.

    Raises :class:`ConfigError` for more than 8 MiB, more than 64 levels, 10,000 keys or
    100,000 entries, text that is not UTF-8 or not JSON, a key given twice, NaN or
    Infinity, an integer of more than 18 digits, and a top level that is no object.
    Bytes beyond the limits are never parsed, so every refusal is quick.
    """
    data = _utf8(text)
    _check_structure(data)
    found = _load(data.decode())
    for place, value in _walk(found):
        if isinstance(value, _Bad):
            raise ConfigError(place, value.text, value.accepted)
    if not isinstance(found, dict):
        raise ConfigError(ROOT, found, A_SECTION)
    return found


def check_size(size: int) -> None:
    """Raise :class:`ConfigError` for a file of so many bytes, if no config is that large."""
    if size > MAX_BYTES:
        _too_much(f"{size:,} bytes", MAX_BYTES, "bytes", "字节")


def _utf8(text: str | bytes) -> bytes:
    """The text as UTF-8 bytes without a byte-order mark, at most ``MAX_BYTES`` of them."""
    check_size(len(text))  # a character is at least one byte
    try:
        data = text.encode() if isinstance(text, str) else text
        data.decode()
    except (UnicodeEncodeError, UnicodeDecodeError) as error:
        where = f"byte {error.start:,} of {len(text):,}"
        raise ConfigError(ROOT, where, Accepted("UTF-8 text", "UTF-8 编码的文本")) from None
    check_size(len(data))
    return data.removeprefix(b"\xef\xbb\xbf")


def _check_structure(data: bytes) -> None:
    """Depth and number of entries, from what stands outside strings.

    Linear and without a Python loop over characters: escaped quotes go first, then every
    second piece between quotes is outside a string.
    """
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    strings = unescaped.count(b'"') // 2
    if strings > MAX_KEYS + MAX_ITEMS:
        _too_much(f"{strings:,} strings", MAX_ITEMS, "entries", "个值")
    outside = b"".join(unescaped.split(b'"')[::2])
    depth = 0
    for bracket in outside.translate(None, _NOT_STRUCTURE)[: 2 * MAX_ITEMS]:
        depth += 1 if bracket in b"[{" else -1
        if depth > MAX_DEPTH:
            _too_much(f"more than {MAX_DEPTH} levels", MAX_DEPTH, "levels of nesting", "层嵌套")
    keys = outside.count(b":")
    if keys > MAX_KEYS:
        _too_much(f"{keys:,} keys", MAX_KEYS, "keys", "个键")
    entries = outside.count(b",") + outside.count(b"[") + outside.count(b"{")
    if entries > MAX_ITEMS:
        _too_much(f"{entries:,} entries", MAX_ITEMS, "entries", "个值")


def _too_much(got: str, most: int, english: str, chinese: str) -> NoReturn:
    accepted = Accepted(f"at most {most:,} {english}", f"最多 {most:,} {chinese}")
    raise ConfigError(ROOT, got, accepted) from None


class _Bad:
    """Stands in the parsed tree for a value that JSON lets through and we do not.

    The parser's hooks do not know where they are; the walk afterwards does.
    """

    def __init__(self, text: str, accepted: Accepted) -> None:
        self.text, self.accepted = text, accepted


def _load(text: str) -> Any:
    """``json.loads`` with our hooks; a syntax error names its line and column."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=lambda name: _Bad(name, Accepted("a finite number", "有限的数")),
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}: {error.msg}"
        raise ConfigError(ROOT, where, Accepted("valid JSON", "合法的 JSON")) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                found[key] = _Bad("the same key twice", Accepted("each key once", "每个键一次"))
            seen.add(key)
    return found


def _integer(digits: str) -> int | _Bad:
    if len(digits) > MAX_DIGITS + 1:
        accepted = Accepted(
            f"an integer of at most {MAX_DIGITS} digits", f"最多 {MAX_DIGITS} 位的整数"
        )
        return _Bad(digits, accepted)
    return int(digits)


def _float(digits: str) -> float | _Bad:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        return _Bad(digits, Accepted("a finite number", "有限的数"))
    return value


def _walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Every value with its JSON pointer, outermost first; bad keys come as ``_Bad``."""
    stack: list[tuple[str, Any]] = [(ROOT, value)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, str) and not value.isascii() and _SURROGATE.search(value):
            value = _Bad("half a surrogate pair", Accepted("whole characters", "完整的字符"))
        yield place, value
        if isinstance(value, dict):
            for key, inside in value.items():
                if len(key) > MAX_TEXT or _SURROGATE.search(key):
                    yield pointer(place, key), _Bad(pointer(ROOT, key)[1:], PLAIN_TEXT)
                stack.append((pointer(place, key), inside))
        elif isinstance(value, list):
            stack.extend((pointer(place, index), inside) for index, inside in enumerate(value))
