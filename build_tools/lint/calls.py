"""Calls in prose: literals without a reason, units said twice, figures that must look alike."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from build_tools.calls import Call, parse_call
from build_tools.lint import units
from build_tools.lint.advice import matches
from build_tools.lint.figures import figures
from build_tools.lint.finding import COMPARE, FIGURE, FRONT_MATTER, LIT, SCENARIO, Finding
from build_tools.lint.numerals import GAP, normalised
from build_tools.source import Prose, Source, Written

if TYPE_CHECKING:
    from py_core.quantity import Quantity


def called(written: Written) -> Call | None:
    """None where it is no call: the figures themselves are checked when the page is built."""
    try:
        return parse_call(written.inner)
    except (ValueError, TypeError, RecursionError, MemoryError):  # the page reports it
        return None


def names_called(source: Source) -> Iterator[str]:
    for written in source.calls:
        call = called(written)
        if call and call.name == "q" and call.args and isinstance(call.args[0], str):
            yield call.args[0]


def literal(written: Written) -> Iterator[Finding]:
    call = called(written)
    if call is None or call.name != "lit" or not call.args or not isinstance(call.args[0], str):
        return
    text, why = call.args[0], call.options.get("why")
    place = (*written.position, written.text, LIT)
    if not isinstance(why, str) or not why.strip(" .…"):
        yield Finding(*place, f'say why it may be typed: {{{{ lit("{text}", why="…") }}}}')
    for typed in figures(text):
        same = matches(typed, exact=True) if typed.kind.rule != SCENARIO else []
        if same:
            yield Finding(*place, f"that figure is computed: write {' or '.join(same[:3])}")


def front_matter(prose: Prose) -> Iterator[Finding]:
    if prose.kind.startswith("page "):
        for m in re.finditer(r"\{\{.*?\}\}|\{%.*?%\}", prose.text):
            says = "nothing is computed in front matter: say it without the figure"
            yield Finding(*prose.position(m.start()), m.group(), FRONT_MATTER, says)


def without_braces(prose: Prose) -> Iterator[Finding]:
    """What was meant to be a call: ``{ { q("…") }}``."""
    for m in re.finditer(
        r"(?:\{[\s{]*)?(?<![A-Za-z0-9_.])(?:q|fact|cite|lit)\([\"'“‘]", prose.text
    ):
        text = prose.written(m.start(), m.end())
        says = "it is read as text: a call stands between {{ and }}, code between backticks"
        yield Finding(*prose.position(m.start()), text, FIGURE, says)


_UNIT_BEHIND = re.compile(
    rf"{GAP}(?P<u>{units.RATES}|{units.BYTES}|{units.TIME}|{units.FLOP}|倍|[%％]|(?:B{GAP})?参数(?=[^\w]|$))"
)


def doubled_units(prose: Prose) -> Iterator[Finding]:
    """Units typed behind a figure that shows its own."""
    for at, written in prose.calls:
        behind = _UNIT_BEHIND.match(normalised(prose.text), at + 1)
        call = called(written) if behind else None
        text = _text_of(call) if call else ""
        label = re.fullmatch(r"(?s).*?[0-9](?P<label> ?[^0-9.,]*)", text)
        if behind and label and (own := label["label"].strip()):
            says = f"the figure shows its own unit ({own}): leave this one out"
            unit = prose.written(*behind.span("u"))
            yield Finding(*prose.position(behind.start("u")), unit, FIGURE, says)


def _text_of(call: Call) -> str:
    """What a call shows; nothing where it is wrong, which the page reports."""
    from py_core import facts

    try:
        if call.name == "fact":
            cited = facts.fact(call.one_name("fact"))
            return cited.display(call.text_option("unit"), call.whole_option("item", 0, 99))
        if call.name == "q":
            q, unit, digits = _asked(call)
            return q.display(unit, digits)
    except (ValueError, TypeError):
        pass
    return ""


def _asked(call: Call) -> tuple[Quantity, str | None, int | None]:
    """The quantity that ``q`` asks for, its unit and digits. Raises LessonError."""
    from py_core.quantity import evaluate
    from py_core.scenario import DEFAULT

    unit, digits = call.text_option("unit"), call.whole_option("digits", 0, 12)
    pins = {k: str(v) for k, v in call.options.items() if k not in ("unit", "digits")}
    return evaluate(call.one_name("quantity"), DEFAULT.with_fields(pins)), unit, digits


def compared(sentence: Prose) -> Iterator[Finding]:
    """Figures of one sentence that do not look alike."""
    figures = [(w, c) for _, w in sentence.calls if (c := called(w)) and c.name == "q"]
    if len(figures) < 2:
        return
    from py_core.units import dimension_name

    shown = [(w, c, view) for w, c in figures if (view := _view(c))]
    for i, (written, call, view) in enumerate(shown):
        for other, earlier, before in shown[:i]:
            if view.dimension != before.dimension or _says_again(call, earlier):
                continue
            differ = view.differs_from(before)
            if differ:
                says = (
                    f"it stands beside {other.text} and is shown {differ}: "
                    f"figures of one sentence ({dimension_name(view.dimension)}) must look alike"
                )
                yield Finding(*written.position, written.text, COMPARE, says)
                break


def _says_again(call: Call, earlier: Call) -> bool:
    """Whether both are one figure, in two units: 55.6 GB，也就是 51.7 GiB."""
    how = ("unit", "digits")
    pins = [{k: v for k, v in c.options.items() if k not in how} for c in (call, earlier)]
    other = call.options.get("unit") != earlier.options.get("unit")
    return other and call.args == earlier.args and pins[0] == pins[1]


class _View(NamedTuple):
    """How a figure is shown."""

    dimension: tuple[int, ...]
    value: Fraction
    own: str  # the quantity's own unit
    unit: str
    digits: int | None  # as overridden
    decimals: int

    def differs_from(self, other: _View) -> str:
        from py_core.units import COUNT as PLAIN

        if self.unit != other.unit:
            # 304 years and 54.2 days are told apart by size, 2,664,000 hours are the same
            # time as 304 years, and 8 cards are not compared with 1.75.
            low, high = sorted((abs(self.value), abs(other.value)))
            same_size = low and 1 < high / low < 1000
            if self.own == other.own or (self.dimension != PLAIN and same_size):
                return f"in {self.unit}, not in {other.unit}"
        elif self.digits != other.digits and self.decimals != other.decimals:
            return f"with {self.decimals} decimals, not {other.decimals}"
        return ""


def _view(call: Call) -> _View | None:
    try:
        q, unit, digits = _asked(call)
        text = q.display(unit, digits)
    except (ValueError, TypeError):  # LessonError too; the page reports it
        return None
    number = re.match(r"−?[0-9,]+(?:\.([0-9]+))?", text)
    decimals = len(number[1] or "") if number else 0
    return _View(q.term.dimension, q.value, q.unit.name, unit or q.unit.name, digits, decimals)
