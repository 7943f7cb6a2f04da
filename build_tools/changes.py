"""What differs between two versions of ``numbers.json``, by page and line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from build_tools.numbers import SCHEMA
from py_core.errors import LessonError

Record = dict[str, Any]

# How an entry changed. The first that fits is told: a new value has a new display too.
ADDED, VANISHED, VALUE, FORMULA, DISPLAY = "added", "vanished", "value", "formula", "display"
PLACES = "places"  # nothing but how often, or where, it stands

_READ: dict[str, tuple[str, ...]] = {
    "figures": ("display", "exact", "formula", "inputs"),
    "facts": ("value", "unit", "paper", "where"),
    "claims": ("holds", "comparisons"),
}
_LISTS = ("inputs", "comparisons", "used")


def parsed(content: bytes, place: str) -> Record:
    """The document in a file called ``place``. Raises LessonError for anything else."""
    try:
        document = json.loads(content)
        if not isinstance(document, dict) or "schema" not in document:
            raise TypeError
    except (ValueError, TypeError, RecursionError):
        raise LessonError(place, "something else", "a numbers.json of this site") from None
    if document["schema"] != SCHEMA:
        raise LessonError(f"{place}: schema", document["schema"], str(SCHEMA))
    for kind, needed in _READ.items():
        entries = document.get(kind)
        if not isinstance(entries, list) or not all(_sound(entry, needed) for entry in entries):
            raise LessonError(f"{place}: {kind}", "something else", "what schema 1 says")
    if not isinstance(document.get("data"), dict):
        raise LessonError(f"{place}: data", "something else", "what schema 1 says")
    return document


def _sound(entry: object, needed: tuple[str, ...]) -> bool:
    """Does an entry have what comparing it will read?"""
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("key"), str)
        and all(name in entry for name in (*needed, "used"))
        and all(isinstance(entry.get(name, []), list) for name in _LISTS)
        and all(isinstance(c, dict) for c in entry.get("comparisons", ()))
        and all(
            isinstance(use, dict)
            and isinstance(use.get("page"), str)
            and isinstance(use.get("line"), int)
            and isinstance(use.get("column"), int)
            for use in entry["used"]
        )
    )


def compare(old: Record, new: Record) -> Record:
    """What changed from ``old`` to ``new``; what moved to another line only did not change.

    Entries that no page shows are left out: what they change shows in those that rest on them.
    """
    changed = [
        *_compared("figure", old["figures"], new["figures"], _figure, _figure_told),
        *_compared("fact", old["facts"], new["facts"], _fact, _fact_told),
        *_compared("claim", old["claims"], new["claims"], _claim, _claim_told),
    ]
    return {
        "data": sorted(
            name
            for name in {*old["data"], *new["data"]}
            if old["data"].get(name) != new["data"].get(name)
        ),
        "changes": sorted(changed, key=_order),
    }


def _compared(
    what: str,
    old: list[Record],
    new: list[Record],
    how: Callable[[Record, Record], str | None],
    told: Callable[[Record, str], str],
) -> Iterator[Record]:
    before = {entry["key"]: entry for entry in old if entry["used"]}
    after = {entry["key"]: entry for entry in new if entry["used"]}
    for key in {*before, *after}:
        was, now = before.get(key), after.get(key)
        change = ADDED if was is None else VANISHED if now is None else how(was, now)
        if was and now and change is None and _pages(was) != _pages(now):
            change = PLACES
        if change:
            tell = _pages_told if change == PLACES else told
            texts = [tell(entry, change) if entry else None for entry in (was, now)]
            if was and now and change == VALUE and texts[0] == texts[1]:  # changed a little
                texts = [str(was.get("exact", texts[0])), str(now.get("exact", texts[1]))]
            yield {
                "what": what,
                "key": key,
                "how": change,
                "old": texts[0],
                "new": texts[1],
                "used": (now or was or {})["used"],
            }


def _pages(entry: Record) -> Counter[str]:
    """How often it stands on each page; lines move with every edit."""
    return Counter(use["page"] for use in entry["used"])


def _pages_told(entry: Record, _how: str) -> str:
    return ", ".join(f"{page} × {times}" for page, times in sorted(_pages(entry).items()))


def _figure(old: Record, new: Record) -> str | None:
    if old["exact"] != new["exact"]:
        return VALUE
    if (old["formula"], old["inputs"]) != (new["formula"], new["inputs"]):
        return FORMULA
    return DISPLAY if _displays(old) != _displays(new) else None


def _displays(figure: Record) -> list[str]:
    """As it is shown by itself, then as pages show it, which may be in another unit."""
    at_places = sorted({str(use.get("display", "")) for use in figure["used"]})
    return list(dict.fromkeys([figure["display"], *at_places]))


def _figure_told(figure: Record, how: str) -> str:
    if how == FORMULA:
        return f"{figure['formula']} = {figure.get('substituted', '')}"
    return " | ".join(_displays(figure))


def _fact(old: Record, new: Record) -> str | None:
    if (old["value"], old["unit"]) != (new["value"], new["unit"]):
        return VALUE
    if (old["paper"], old["where"]) != (new["paper"], new["where"]):
        return FORMULA
    shown = [{use.get("display") for use in fact["used"]} for fact in (old, new)]
    return DISPLAY if shown[0] != shown[1] else None


def _fact_told(fact: Record, how: str) -> str:
    if how == FORMULA:
        return f"{fact['paper']}: {fact['where']}"
    return f"{fact['value']} {fact['unit'] or ''}".strip()


def _claim(old: Record, new: Record) -> str | None:
    if old["holds"] != new["holds"]:
        return VALUE
    return FORMULA if old["comparisons"] != new["comparisons"] else None


def _claim_told(claim: Record, how: str) -> str:
    if how == FORMULA:
        return "; ".join(str(c.get("substituted", "")) for c in claim["comparisons"])
    return "true" if claim["holds"] else "false"


def _order(change: Record) -> tuple[Any, ...]:
    first = change["used"][0]
    return first["page"], first["line"], first["column"], change["what"], change["key"]
