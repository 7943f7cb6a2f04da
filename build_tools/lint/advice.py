"""What an author should write instead of a figure: a quantity that shows the same one."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from build_tools.lint import fields
from build_tools.lint.figures import Typed
from build_tools.lint.finding import COUNT, SCENARIO
from build_tools.lint.units import units_named
from py_core.errors import LessonError

if TYPE_CHECKING:
    from py_core.quantity import Quantity
    from py_core.units import Unit

# Of all quantities that show the same figure, the lesson's own come first.
_OURS = ("ring.sent_per_card", "state.", "ring.", "gradient.", "model.")
_ELSEWHERE = (64, 1024)  # numbers of cards that the lesson speaks of besides its own


class Around(NamedTuple):
    """What stands around a figure: its sentence, and the quantities that its page shows."""

    sentence: str = ""
    used: frozenset[str] = frozenset()


_NOTHING = Around()


def instead(typed: Typed, text: str, around: Around) -> str:
    """What an author should write: a quantity that shows the same figure, if there is one."""
    if typed.kind.rule == SCENARIO and typed.number is not None:
        says = _of_field(typed, typed.number * typed.size, around)
        if says:
            return says
    close = matches(typed, around)[:3]
    if close:
        return f"write {' or '.join(close)}"
    if typed.unit == "分钟" and re.search(r"[读看]|这一[课页]", around.sentence):
        return (
            'how long a lesson takes is counted: {{ lesson_head("…", n) }} above the title '
            "says it, so leave the minutes out here"
        )
    shown = " ".join(text.split())
    what = "a count above ten" if typed.kind.rule == COUNT else "a figure typed by hand"
    return (
        f"{what}: write a quantity {{{{ q(…) }}}} or a fact {{{{ fact(…) }}}}, put the sentence "
        f'into a claim that vouches for it, or say why: {{{{ lit("{shown}", why="…") }}}}'
    )


def _of_field(typed: Typed, value: Fraction, around: Around) -> str:
    """What to write for a field of the Scenario; nothing where a quantity says it better."""
    match typed.kind.what:
        case "cards" if value == 0:
            return "a card has a number, 0 号卡, or there is none: 没有卡"
        case "cards":
            return _pinned("cards", value, " 张卡")
        case "nodes":
            return 'a Scenario has them: write {{ q("cluster.nodes") }}, or say it in words'
        case "field":
            return _pinned(typed.field or "cards", value, "", f"{typed.symbol} = ")
        case "named" if typed.field:
            return _pinned(typed.field, value, "")
        case "named":
            return 'a Scenario has it: write a quantity {{ q("…") }}, or say it in words'
        case "ways":
            field = next((f for w, f in fields.WAYS.items() if w in typed.unit), "")
            return _pinned(field, value, "") if field else ""
        case "tokens" if not matches(typed, around):
            return _pinned("tokens", value, "")
    return ""


def _pinned(field: str, value: Fraction, behind: str, before: str = "") -> str:
    from py_core.scenario import SPECS, decimal

    shown = decimal(value)
    pinned = shown if SPECS[field].integer else f'"{shown}"'
    if not SPECS[field].low <= value <= SPECS[field].high:
        return f'a Scenario field: write {{{{ q("{field}") }}}}{behind}, or say it in words'
    return (
        f'a Scenario field: write {before}{{{{ q("{field}", {field}={pinned}) }}}}{behind}, '
        f'or {{{{ q("{field}") }}}} to follow the reader\'s choice'
    )


class _Shown(NamedTuple):
    """A figure that a call would show; ``cards`` is pinned where its value depends on them."""

    name: str
    quantity: Quantity
    cards: int | None
    number: str  # of its display, without commas

    def call(self, more: str = "") -> str:
        pinned = f", cards={self.cards}" if self.cards else ""
        return f'{{{{ q("{self.name}"{pinned}{more}) }}}}'


@cache
def _all_shown() -> list[_Shown]:
    """Every quantity for the lesson's Scenario, then those that differ on more cards."""
    from py_core.quantity import evaluate, names
    from py_core.scenario import DEFAULT

    def every(cards: int) -> dict[str, Quantity]:
        made = {}
        scenario = DEFAULT.with_fields({"cards": cards})
        for name in names():
            try:
                made[name] = evaluate(name, scenario)
            except LessonError:  # not for this model
                continue
        return made

    def shown(name: str, q: Quantity, cards: int | None) -> _Shown:
        number = re.match(r"[0-9,]+(?:\.[0-9]+)?", q.display())
        return _Shown(name, q, cards, number.group().replace(",", "") if number else "")

    here = every(DEFAULT.cards)
    others = {cards: every(cards) for cards in _ELSEWHERE}
    moving = {n for o in others.values() for n, q in o.items() if q.value != here[n].value}
    listed = [shown(n, q, DEFAULT.cards if n in moving else None) for n, q in here.items()]
    listed += [
        shown(n, q, cards) for cards, o in others.items() for n, q in o.items() if n in moving
    ]
    return listed


def _units_of(typed: Typed) -> tuple[str, ...]:
    """The core's units that a typed unit may mean; none for a bare number."""
    if typed.kind.what == "percent":
        return ("%",)
    if typed.kind.what == "times":
        return ("×", "ratio")
    return units_named(typed.unit) if typed.unit else ()


def _significant(digits: str) -> int:
    bare = digits.replace(",", "").lstrip("0.")
    return len((bare if "." in digits else bare.rstrip("0")).replace(".", ""))


def matches(typed: Typed, around: Around = _NOTHING, exact: bool = False) -> list[str]:
    """Calls that show the typed figure; the likeliest first.

    Those the page uses already come before others, then those that share words with the
    sentence, then the lesson's own, then short names.

    ``exact``: only figures that look the same without options.
    """
    if typed.number is None or typed.kind.what in ("fraction", "product", "ratio"):
        return []
    units = _units_of(typed)
    if typed.unit and not units:
        return []
    ranked: list[tuple[int, bool, int, int, int, int, str]] = []
    for order, shown in enumerate(_all_shown()):
        rank = _rank(typed, units, shown)
        if rank is None or (exact and rank[0]):
            continue
        name = shown.name
        alike = _alike(around.sentence, shown.quantity.says) + _named(around.sentence, name)
        other = next((i for i, ours in enumerate(_OURS) if name.startswith(ours)), len(_OURS))
        fit = (rank[0], name not in around.used, -alike, other, len(name), order)
        ranked.append((*fit, shown.call(rank[1])))
    best = min((r[0] for r in ranked), default=0)
    calls = [r[-1] for r in sorted(ranked) if r[0] == best]
    return calls if exact else calls + _facts(typed, units)


def _rank(typed: Typed, units: tuple[str, ...], shown: _Shown) -> tuple[int, str] | None:
    """How well a quantity fits: 0 as it shows itself, 1 with options; and those options."""
    from py_core.units import UNITS, display

    q, digits = shown.quantity, typed.digits.replace(",", "")
    if not digits.isascii():
        digits = str(typed.number)
    decimals = len(digits.partition(".")[2])
    if q.unit.name == "B/param" and typed.unit == "字节" and typed.size == 1:
        # "每个参数占 16 字节" has said what each of them is
        return (0, ', unit="bytes each"') if digits == shown.number else None
    if typed.size == 1 and digits == shown.number and (not units or q.unit.name in units):
        bare = not units and not q.unit.label
        if units or bare or _significant(digits) >= 3:
            return 0, ""
    if typed.number is None or _significant(digits) < 3:
        return None
    for name in units:
        unit: Unit = UNITS[name]
        if unit.dimension != q.term.dimension:
            continue
        if round(q.value / unit.scale / typed.size * 10**decimals) == typed.number * 10**decimals:
            if typed.size != 1:
                return (2 if unit == q.unit else 3), ""
            options = "" if unit == q.unit else f', unit="{name}"'
            if display(q.value, unit) != display(q.value, unit, decimals):
                options += f", digits={decimals}"
            return 1, options
    return None


def _alike(sentence: str, says: str) -> int:
    """How many pairs of neighbouring characters two texts share."""

    def pairs(text: str) -> set[str]:
        return {text[i : i + 2] for i in range(len(text) - 1) if text[i : i + 2].isalnum()}

    return len(pairs(sentence) & pairs(says))


def _named(sentence: str, name: str) -> int:
    """How many words of a quantity's name a sentence has: ZeRO-1 has zero1."""
    said = re.sub(r"[^a-z0-9]", "", sentence.lower())
    return sum(len(word) > 2 and word in said for word in re.split(r"[._-]", name))


def _facts(typed: Typed, units: tuple[str, ...]) -> list[str]:
    from py_core import facts

    if typed.number is None or not (units or _significant(typed.digits) >= 3):
        return []
    calls = []
    for fact_id in facts.ids():
        fact = facts.fact(fact_id)
        if not fact.quotable or fact.unit == "year":
            continue
        try:
            same = fact.number == typed.number * typed.size
            unit = fact.stated_in.name
        except LessonError:
            continue
        if same and (not units or unit in units):
            calls.append(f'{{{{ fact("{fact_id}") }}}}')
    return calls
