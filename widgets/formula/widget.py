"""Why the ring needs about twice the gradient: the formula, factor by factor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlencode

from py_core.quantity import evaluate
from py_core.scenario import DEFAULT
from widgets.formula.picture import picture
from widgets.models import model_field
from widgets.slider import Slider, doublings
from widgets.state import Choice, State, Whole
from widgets.tasks import Task

LABEL = "环形的公式"
MINUTES = 4  # that a reader spends with it

FEW, MANY = 2, 1024
STOPS = doublings(FEW, MANY, halfway=True)
ASKED = 64  # the number of cards that readers guess at

GUESSES = {
    "ask": "还没猜",
    "skip": "不猜，直接看",
    "eightfold": "变成八倍",
    "same": "和原来一样",
    "near-two": "多一点，还是不到 2",
    "above-two": "超过 2",
}

FIELDS = (
    Choice("guess", "猜测", "ask", GUESSES),
    Whole("cards", "卡数", 8, FEW, MANY),
    model_field(),
    Choice("gradient", "梯度", "bf16", {"bf16": "bf16", "fp32": "fp32"}),
    Choice(
        "term",
        "因子",
        "none",
        {"none": "还没选", "phases": "2", "steps": "N − 1", "block": "N", "whole": "G"},
    ),
    Choice("time", "时间", "off", {"off": "只看字节", "on": "再算时间"}),
)


@dataclass(frozen=True, slots=True)
class Factor:
    """A factor of the formula: how it is written and read aloud, and what stands before it."""

    term: str
    written: str
    read: str
    sign: str
    figure: str  # the quantity that gives its value; "" for the plain 2


FACTORS = (
    Factor("phases", "2", "2，两段", "", ""),
    Factor("steps", "N − 1", "N − 1，也就是 N 减 1，每段走几步", "×", "reduce-scatter.steps"),
    Factor("block", "N", "N，分成几块", "÷", "cards"),
    Factor("whole", "G", "G，一份完整的梯度", "×", "gradient.bytes"),
)


def _crosses(state: State) -> bool:
    """Are these the fewest cards whose coefficient is above 1.9?"""
    return state["cards"] == evaluate("ring.cards_above_coefficient").value


TASKS = {
    "guess": Task(
        "guess=ask&cards=8",
        lambda s: s["guess"] not in ("ask", "skip") and s["cards"] == ASKED,
    ),
    "above": Task("guess=skip&cards=8", lambda s: s["guess"] != "ask" and _crosses(s)),
    # At the factor that another model changes.
    "other": Task(
        "guess=skip&cards=8&term=whole",
        lambda s: s["guess"] != "ask" and s["model"] == "qwen3-8b",
    ),
}


def walk() -> list[str]:
    """The prompt, the factors one by one, and every place of the slider."""
    default = {f.name: f.default for f in FIELDS}
    seen = default | {"guess": "skip"}
    factors = [seen | {"term": factor.term} for factor in FACTORS]
    return [urlencode(q) for q in (default, *factors, *(seen | {"cards": n} for n in STOPS))]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: each factor explained."""
    seen = state.values | {"guess": "skip"}
    return [(factor.written, urlencode(seen | {"term": factor.term})) for factor in FACTORS]


def view(state: State) -> dict[str, Any]:
    cards = state.whole("cards")
    scenario = DEFAULT.with_fields({k: state[k] for k in ("cards", "model", "gradient")})
    pins = scenario.changes() | {"cards": str(cards)}
    sent = evaluate("ring.sent_per_card", scenario)
    each, parameters = (n.source.name for n in evaluate("gradient.bytes", scenario).inputs)
    return {
        "cards": cards,
        "asked": ASKED,
        "pins": pins,
        "model": scenario.model.name,
        "factors": FACTORS,
        "whole": (parameters, each),
        "partly": parameters != "model.parameters",
        "substituted": sent.substituted,
        "sent": sent.display(),
        "track": Slider("cards", STOPS, cards),
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "asks": state["guess"] == "ask",
        "timed": state["time"] == "on",
        "guesses": {k: v for k, v in GUESSES.items() if k not in ("ask", "skip")},
        "right": state["guess"] == _true_guess(),
        "picture": picture(cards, str(state["term"])),
        "error": {n.field: n for n in state.notices},
    }


@cache
def _true_guess() -> str:
    """What really becomes of the coefficient from 8 cards to 64."""
    few, many = (
        evaluate("ring.coefficient", DEFAULT.with_fields({"cards": n})).value for n in (8, ASKED)
    )
    if many >= 2:
        return "eightfold" if many >= 8 * few else "above-two"
    return "same" if many == few else "near-two"
