"""The schemes at real scale: bytes of the busiest card and time of one all-reduce."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from py_core.errors import LessonError
from py_core.quantity import evaluate
from py_core.scenario import DEFAULT, Scenario
from widgets.models import model_field
from widgets.scale.picture import Curve, loglog
from widgets.slider import Slider, doublings
from widgets.state import Choice, State, Whole
from widgets.tasks import Task

LABEL = "真实规模"
MINUTES = 3  # that a reader spends with it

FEW, MANY = 8, 1024  # where the slider begins and ends
STOPS = doublings(FEW, MANY)

# In the order of the table: the hierarchy last, because it alone may refuse.
SCHEMES = {
    "naive": "朴素",
    "tree": "二项树",
    "ring": "环形",
    "halving-doubling": "递归减半加倍",
    "hierarchical": "分层",
}

GUESSES = {
    "ask": "还没猜",
    "skip": "不猜，直接看",
    "both-grow": "两样都涨到一百多倍",
    "ring-doubles": "0 号卡一百多倍，环形翻一倍",
    "ring-stays": "0 号卡一百多倍，环形几乎不变",
    "neither": "两样都几乎不变",
}

FIELDS = (
    Choice("guess", "猜测", "ask", GUESSES),
    Whole("cards", "卡数", FEW, 2, MANY),
    model_field(),
    Choice("gradient", "梯度", "bf16", {"bf16": "bf16", "fp32": "fp32"}),
    Choice("cards_per_node", "每台机器的卡数", "1", {"1": "1 张", "8": "8 张"}),
    Choice("time", "时间", "off", {"off": "只看字节", "on": "把时间也算出来"}),
)


TASKS = {
    "grow": Task("cards=8", lambda s: s["guess"] != "ask" and s["cards"] == MANY),
}


def walk() -> list[str]:
    """The prompt, and behind it every place of the slider.

    Frames with time come from Python: panels make each of them twice as long as these.
    """
    default = {f.name: f.default for f in FIELDS}
    seen = default | {"guess": "skip"}
    return [urlencode(query) for query in (default, *(seen | {"cards": n} for n in STOPS))]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: both ends of the slider."""
    seen = state.values | {"guess": "skip"}
    return [
        (f"{FEW} 张卡", urlencode(seen | {"cards": FEW})),
        (f"{MANY:,} 张卡，连时间一起", urlencode(seen | {"cards": MANY, "time": "on"})),
    ]


def scenario_of(state: State, cards: int) -> Scenario:
    return DEFAULT.with_fields(
        {name: state[name] for name in ("model", "gradient", "cards_per_node")} | {"cards": cards}
    )


@dataclass(frozen=True, slots=True)
class Row:
    """A scheme of the table; ``instead`` says why it has no figures of its own here."""

    scheme: str
    label: str
    note: str
    instead: str


def view(state: State) -> dict[str, Any]:
    cards = state.whole("cards")
    scenario = scenario_of(state, cards)
    asks, timed = state["guess"] == "ask", state["time"] == "on"
    pins = {name: value for name, value in scenario.changes().items() if name != "cards"}
    rows = [_row(scheme, scenario) for scheme in SCHEMES]
    run = [row for row in rows if not row.instead]
    totals = {evaluate(f"{row.scheme}.sent_in_total", scenario).value for row in run}
    return {
        "cards": cards,
        "track": Slider("cards", STOPS, cards),
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "pins": pins | {"cards": str(cards)},
        "at_few": pins | {"cards": str(FEW)},
        "model": scenario.model.name,
        "asks": asks,
        "timed": timed,
        "guesses": {k: v for k, v in GUESSES.items() if k not in ("ask", "skip")},
        "right": state["guess"] == _true_guess(),
        "rows": rows,
        "layered": not _is_ring(scenario),
        "run": len(run),
        "one_total": len(totals) == 1,
        "pictures": [] if asks else _pictures(state, cards, timed),
        "turn": _turn(scenario) if timed else {},
        "copied": _copied(scenario, rows, timed),
        "error": {n.field: n for n in state.notices},
    }


def _copied(scenario: Scenario, rows: list[Row], timed: bool) -> str:
    """The table as comma-separated text: exact values with their units, and what they rest on."""
    kinds = {"sent_by_busiest": "最忙的卡发出", "steps": "步数", "sent_in_total": "全部卡合计"}
    if timed:
        kinds["seconds"] = "时间"
    lines = [
        f"# {scenario.cards} 张卡同步 {scenario.model.name} 的梯度（{scenario.gradient}）；"
        "由公式算出，不是测量",
        ",".join(["做法", *kinds.values()]),
    ]
    for row in rows:
        if row.instead:
            lines.append(f"{row.label},{row.instead}")
            continue
        values = (evaluate(f"{row.scheme}.{kind}", scenario) for kind in kinds)
        # In a table program a comma would begin another cell.
        lines.append(",".join([row.label, *(q.display().replace(",", "") for q in values)]))
    return "\n".join(lines)


def _row(scheme: str, scenario: Scenario) -> Row:
    cards, per_node = scenario.cards, scenario.cards_per_node
    instead = ""
    if _value(f"{scheme}.seconds", scenario) is None:
        instead = (
            f"{cards:,} 张卡分不成每台 {per_node} 张，最后一台装不满。"
            "分层要每台一样多，这里走不了。"
        )
    elif scheme == "hierarchical" and _is_ring(scenario):
        where = "每台只有 1 张卡" if per_node == 1 else f"{cards} 张卡都在一台机器里"
        instead = f"{where}，没有里外两层，和环形一模一样。"
    note = "最忙的是 0 号卡" if scheme == "naive" else ""
    return Row(scheme, SCHEMES[scheme], note, instead)


def _is_ring(scenario: Scenario) -> bool:
    """One layer only: the hierarchy is the ring, and is neither listed nor drawn again."""
    return scenario.cards_per_node == 1 or scenario.cards <= scenario.cards_per_node


def _value(name: str, scenario: Scenario) -> Fraction | None:
    """Its value, or None where a scheme refuses these cards."""
    try:
        return evaluate(name, scenario).value
    except LessonError:
        return None


@cache
def _true_guess() -> str:
    naive = evaluate("naive.growth_8_to_1024").value
    ring = evaluate("ring.growth_8_to_1024").value
    grows = {"naive": naive > 100, "ring": ring > 100}
    if grows["naive"] != grows["ring"]:
        return "ring-doubles" if abs(ring - 2) < abs(ring - 1) else "ring-stays"
    return "both-grow" if grows["naive"] else "neither"


def _turn(scenario: Scenario) -> dict[str, bool]:
    """On which side of the turning points the whole gradient and one bucket lie."""
    balance = evaluate("ring.balance_bytes", scenario).value
    gradient = evaluate("gradient.bytes", scenario).value
    from_bytes = evaluate("ring.beats_tree_from_bytes", scenario).value
    return {
        "gradient_is_bytes": gradient > balance,
        "gradient_beats_tree": gradient > from_bytes,
        "always_beats_tree": from_bytes <= 0,
        "bucket_is_bytes": evaluate("bucket_cap", scenario).value > balance,
    }


def _pictures(state: State, cards: int, timed: bool) -> Iterator[dict[str, Any]]:
    begin = min(FEW, 1 << (cards.bit_length() - 1))
    grid = [begin << k for k in range((MANY // begin).bit_length())]
    scenarios = {n: scenario_of(state, n) for n in [*grid, cards]}
    layered = state["cards_per_node"] != "1"

    def curve(key: str, label: str, name: str) -> Curve:
        points = [(n, _value(name, scenarios[n])) for n in grid]
        kept = [(n, v) for n, v in points if v]
        return Curve(key, label, kept, _value(name, scenarios[cards]) or None)

    drawn = {s: label for s, label in SCHEMES.items() if s != "hierarchical" or layered}

    def schemes(what: str) -> list[Curve]:
        return [curve(scheme, label, f"{scheme}.{what}") for scheme, label in drawn.items()]

    def told(curves: list[Curve], what: str) -> str:
        shown = (
            f"{c.label} {evaluate(f'{c.key}.{what}', scenarios[cards]).display()}"
            for c in curves
            if c.now
        )
        return f"{cards:,} 张卡时：{'，'.join(shown)}。"

    def picture(key: str, title: str, words: str, unit: str, curves: list[Curve]) -> dict[str, Any]:
        def svg(element_id: str) -> Markup:
            return loglog(f"{element_id}-{key}", title, words, unit, curves, cards, grid)

        return {"key": key, "title": title, "svg": svg}

    by_bytes = schemes("sent_by_busiest")
    words = (
        "横轴是卡数，竖轴是字节，都按对数。朴素的线一路往上，二项树慢慢往上，其余几条几乎是平的。"
    )
    yield picture(
        "bytes",
        "最忙的卡发出的字节",
        words + told(by_bytes, "sent_by_busiest"),
        "byte",
        by_bytes,
    )
    if not timed:
        return
    by_time = schemes("seconds")
    words = "横轴是卡数，竖轴是秒，都按对数。"
    yield picture(
        "time", "一次 all-reduce 的时间", words + told(by_time, "seconds"), "second", by_time
    )
    turning = [
        curve("gradient", "整份梯度", "gradient.bytes"),
        curve("bucket", "一个桶", "bucket_cap"),
        curve("balance", "S* 各半", "ring.balance_bytes"),
        curve("beats", "环形快过树", "ring.beats_tree_from_bytes"),
    ]
    words = (
        "横轴是卡数，竖轴是一次要归约的字节，都按对数。S* 随卡数成比例地往上："
        "线以下，环形的时间多半花在固定开销上；线以上，多半花在传字节上。"
        "另一条线以上，环形比二项树快。两条横线是整份梯度和一个桶，相交处画了圈。"
    )
    yield picture("turn", "归约多少字节，环形才划算", words, "byte", turning)
