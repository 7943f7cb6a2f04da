"""Two cards, unequal numbers of valid tokens: two means, and the gradient's error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from py_core.least_squares import LEAST, MOST, SEED, SLOPES
from py_core.quantity import evaluate
from py_core.scenario import DEFAULT
from widgets.slider import Slider
from widgets.state import Choice, State, Whole
from widgets.tasks import Task

LABEL = "两种平均"
MINUTES = 4  # that a reader spends with it

STOPS = (LEAST, *range(1_000, MOST, 1_000), MOST)
MIDDLE = 25_000

GUESSES = {
    "ask": "还没猜",
    "skip": "不猜，直接看",
    "same": "一样重",
    "card0": "0 号卡的更重",
    "card1": "1 号卡的更重",
}

FIELDS = (
    Choice("guess", "猜测", "ask", GUESSES),
    Whole("tokens0", "0 号卡的有效 token", DEFAULT.tokens_card0, LEAST, MOST),
    Whole("tokens1", "1 号卡的有效 token", DEFAULT.tokens_card1, LEAST, MOST),
)

_UNEQUAL = DEFAULT.tokens_card0, DEFAULT.tokens_card1
PRESETS = (
    (f"{_UNEQUAL[0]:,} 与 {_UNEQUAL[1]:,}", *_UNEQUAL),
    ("一样长", MIDDLE, MIDDLE),
    ("最坏", MOST, LEAST),
)


def _at(state: State, tokens0: int, tokens1: int) -> bool:
    return state["guess"] != "ask" and (state["tokens0"], state["tokens1"]) == (tokens0, tokens1)


TASKS = {
    "example": Task(
        "guess=ask",
        lambda s: s["guess"] not in ("ask", "skip") and _at(s, PRESETS[0][1], PRESETS[0][2]),
    ),
    "agree": Task("guess=skip", lambda s: s["guess"] != "ask" and s["tokens0"] == s["tokens1"]),
    "worst": Task("guess=skip", lambda s: _at(s, MOST, LEAST) or _at(s, LEAST, MOST)),
}


def walk() -> list[str]:
    """The prompt, the presets, and each slider's places while the other stays."""
    default: dict[str, Any] = {f.name: f.default for f in FIELDS}
    seen = default | {"guess": "skip"}
    presets = [seen | {"tokens0": a, "tokens1": b} for _, a, b in PRESETS]
    return list(dict.fromkeys(urlencode(q) for q in (default, *presets)))


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: the presets."""
    seen = state.values | {"guess": "skip"}
    return [(name, urlencode(seen | {"tokens0": a, "tokens1": b})) for name, a, b in PRESETS]


def view(state: State) -> dict[str, Any]:
    tokens = [state.whole("tokens0"), state.whole("tokens1")]
    pins = {f"tokens_card{c}": str(n) for c, n in enumerate(tokens)}
    scenario = DEFAULT.with_fields(pins)
    values = {
        name: evaluate(f"averaging.{name}", scenario).value
        for name in ("gradient_card0", "gradient_card1", "mean_of_means", "weighted")
    }
    share = evaluate("averaging.share_of_card0", scenario).value
    return {
        "tokens": tokens,
        "pins": pins,
        "tracks": [Slider(f"tokens{c}", STOPS, n) for c, n in enumerate(tokens)],
        "filled": [100 * n // MOST for n in tokens],
        "share": round(100 * share),
        "least": LEAST,
        "most": MOST,
        "slopes": SLOPES,
        "seed": SEED,
        "places": _places(values),
        "differs": (values["mean_of_means"] > values["weighted"])
        - (values["mean_of_means"] < values["weighted"]),
        "presets": [
            (name, urlencode({"tokens0": a, "tokens1": b}), tokens == [a, b])
            for name, a, b in PRESETS
        ],
        "asks": state["guess"] == "ask",
        "guesses": {k: v for k, v in GUESSES.items() if k not in ("ask", "skip")},
        "right": state["guess"] == "card1",
        "error": {n.field: n for n in state.notices},
    }


def _places(values: dict[str, Fraction]) -> dict[str, int]:
    """Where the gradients stand on a line 320 units long that ends at 120."""
    return {name: round(value * 320 / 120) for name, value in values.items()}
