"""The overlap timeline: the backward and the buckets it sends, on one time axis."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, lru_cache
from typing import Any
from urllib.parse import urlencode

from py_core.lanes import Bucket
from py_core.quantity import Quantity, evaluate
from py_core.readouts import readouts
from py_core.timeline import Timeline, simulate
from py_core.trace import trace_json
from widgets.overlap.curve import FEW, MANY, curve
from widgets.overlap.picture import Window, bars, parts
from widgets.overlap.scene import scene
from widgets.overlap.setting import (
    BANDWIDTH,
    CONFIGURATION,
    FIELDS,
    GUESSES,
    MODES,
    MOST_ZOOM,
    NODE,
    NODE_BANDWIDTH,
    PLACES,
    Step,
    step_of,
)
from widgets.overlap.told import copied, detail, running, touchable
from widgets.overlap.words import Clock
from widgets.slider import Slider, doublings
from widgets.state import Choice, Pinned, State, Values, parse
from widgets.tasks import Task

LABEL = "通信藏进反向的时间线"
MINUTES = 7  # that a reader spends with it

TOKENS = doublings(FEW, MANY)
CARDS = (1, *doublings(2, 1024))
BANDWIDTHS = tuple(map(Fraction, ("5", "12.5", "25", "50", "100", "160", "200", "400", "900")))
FLOPS = (50, 100, 200, 400, 800, 1600, 3200)
CAPS = (1, 2, 5, 10, 25, 50, 100, 200, 400, 800, 1600, 2400, 4096)
LATENCIES = (0, 1, 2, 5, 10, 14, 20, 50, 100)

# One press sets several fields: what a cluster is, and how it is wired.
NET_PRESETS = {
    "ib": {"bandwidth": BANDWIDTH},
    "nvlink": {"bandwidth": NODE_BANDWIDTH},
    "hierarchical": {"bandwidth": BANDWIDTH, "cards": "64"},
}
GUESSED = {k: v for k, v in GUESSES.items() if k not in ("ask", "skip")}
DEFAULTS = {f.name: f.default for f in FIELDS}
_PIN = next(f for f in FIELDS if isinstance(f, Pinned))
_KEPT = ("bucket", "zoom", "from", "time", "table")  # places that a new configuration keeps


# ── tasks and walk ──────────────────────────────────────────────────────────────────────


def _is(state: State, **fields: str | int) -> bool:
    """The lesson's configuration but for these fields, seen and not guessed at."""
    changed = {f.name: fields.get(f.name, f.default) for f in CONFIGURATION}
    return state["guess"] != "ask" and all(state[k] == v for k, v in changed.items())


@cache
def _even() -> int:
    return int(evaluate("communication.break_even_tokens").value)


TASKS = {
    "buckets": Task("guess=ask&mode=sync", _is),
    "hidden": Task(f"guess=skip&tokens={DEFAULTS['tokens']}", lambda s: _is(s, tokens=16_384)),
    # Near by, and on the far side of it.
    "even": Task("guess=skip&tokens=8192", lambda s: _is(s, tokens=_even())),
    "stub": Task(
        "guess=skip&tokens=16384",
        lambda s: _is(s, tokens=16_384, unused="absent"),
        at="unused",
    ),
}


def walk() -> list[str]:
    """The prompt and its answers; both ways of sending at every stop of the tokens."""
    seen: Values = DEFAULTS | {"guess": "skip"}
    return [
        urlencode(query)
        for query in (
            *(DEFAULTS | {"guess": guess} for guess in GUESSES if guess != "skip"),
            *(seen | {"tokens": tokens} for tokens in TOKENS),
            *(seen | {"mode": "sync", "tokens": tokens} for tokens in (DEFAULTS["tokens"], 16_384)),
            seen | {"tokens": 16_384, "unused": "absent"},
        )
    ]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: one sync, buckets, and enough tokens."""
    seen = state.values | {"guess": "skip"}
    return [
        ("分桶，边算边传", urlencode(seen | {"mode": "buckets"})),
        (
            "每张卡的 token 再多些",
            urlencode(seen | {"mode": "buckets", "tokens": 16_384, "table": "on"}),
        ),
    ]


def trace(state: State) -> dict[str, str]:
    """The step as a file that Perfetto opens beside a real profile."""
    step, found = _simulated(_configuration(state.values))
    name = f"{step.scenario.model.slug}-{step.setting.cards}x{step.setting.tokens}.trace.json"
    return {"name": name, "type": "application/json", "text": trace_json(found)}


EXPORTS = {"trace": trace}


# ── the view ────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=8)
def _simulated(configuration: str) -> tuple[Step, Timeline]:
    step = step_of(parse(CONFIGURATION, configuration).values)
    return step, simulate(step.setting)


def _readouts(configuration: str) -> dict[str, Quantity]:
    step, found = _simulated(configuration)
    return readouts(found, step.scenario)


def _configuration(values: Values, **changes: str | int) -> str:
    return urlencode({f.name: values[f.name] for f in CONFIGURATION} | changes)


def view(state: State) -> dict[str, Any]:
    values = state.values
    asks = values["guess"] == "ask" and all(values[f.name] == f.default for f in CONFIGURATION)
    # While it asks, it shows what there is to be hidden.
    step, found = _simulated(_configuration(values, **({"mode": "sync"} if asks else {})))
    ghost = _simulated(str(values["pin"]))[1] if values["pin"] else None
    whole = max(1, _ticks(found, found.end), _ticks(found, ghost.end) if ghost else 0)
    window, zoom = _window(values, whole)
    clock = Clock.for_span(window.span, whole, found.ticks_per_second)
    shown = list(parts(found, window)) if found.communication else []
    groups = bars(window, shown)
    chosen = _chosen(values, found)
    told = readouts(found, step.scenario)
    now = whole * state.whole("time") // PLACES

    def go(**changes: str | int) -> str:
        """What a button asks for; whoever presses any of them is done with guessing."""
        skips = {"guess": "skip"} if values["guess"] == "ask" else {}
        return urlencode(skips | changes)

    return {
        "go": go,
        "asks": asks,
        "guesses": GUESSED,
        "again": urlencode(DEFAULTS),
        "right": values["guess"] == _true_guess(),
        "truth": _readouts(_configuration(DEFAULTS)) if values["guess"] in GUESSED else {},
        "lesson": {n: evaluate(n).display() for n in ("tokens", "flops", "bandwidth")},
        "mode": "sync" if asks else values["mode"],
        "modes": MODES,
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "cursor": urlencode({name: values[name] for name in _KEPT}),
        "tracks": _tracks(values),
        "nets": {net: NET_PRESETS[net] for net in NET_PRESETS},
        "node": NODE,
        "instead": step.instead,
        "problem": found.problem,
        "nothing": _nothing(found),
        "late": found.exposed > 0,
        "told": {k: q for k, q in told.items() if not found.problem or k in _OWN},
        "pinned": _readouts(str(values["pin"])) if ghost else {},
        "pin": _PIN.written(values),
        "says": _says(found, told, step.setting.sending),
        "picture": scene(found, window, clock, shown, ghost),
        "bars": touchable(groups, window, clock, found, chosen),
        "now": {
            "at": window.per_cent(now) if window.low <= now <= window.high else "",
            "low": window.low * PLACES // whole,
            "high": -(-window.high * PLACES // whole),
            "step": max(1, (PLACES >> zoom) // 256),
            "text": running(found, now, clock),
            "clock": clock(now),
        },
        "chosen": detail(chosen, found, clock, window) if chosen else None,
        "missing": values["bucket"] != "" and not chosen and len(found.buckets) > 0,
        "neighbours": _neighbours(values, found),
        "view": _moves(values, found, whole, zoom),
        "curve": None if asks else _curve(values, told),  # it would give the answer away
        "copied": copied(step, told, groups, found),
        "error": {n.field: n for n in state.notices},
    }


_OWN = ("backward", "forward", "buckets")  # readouts that need no communication


def _ticks(found: Timeline, seconds: Fraction) -> int:
    """Seconds, perhaps another timeline's, in ticks of this one; rounded up."""
    return -int(-seconds * found.ticks_per_second // 1)


@cache
def _true_guess() -> str:
    found = _simulated(_configuration(DEFAULTS))[1]
    left = found.exposed / found.communication
    return "none" if not left else "half" if left < Fraction(3, 4) else "most"


def _tracks(values: Values) -> dict[str, Slider]:
    """The sliders; what is typed beyond their ends stays, and they stand at an end."""
    bandwidth = str(values["bandwidth"])
    return {
        "tokens": Slider("tokens", TOKENS, int(values["tokens"])),
        "cards": Slider("cards", CARDS, int(values["cards"])),
        "bandwidth": Slider(
            "bandwidth",
            BANDWIDTHS,
            BANDWIDTHS[-1] if bandwidth == "inf" else Fraction(bandwidth),
        ),
        "flops": Slider("flops", FLOPS, Fraction(str(values["flops"]))),
        "cap": Slider("cap", CAPS, int(values["cap"])),
        "latency": Slider("latency", LATENCIES, Fraction(str(values["latency"]))),
    }


def _nothing(found: Timeline) -> str:
    """Why a lane is empty, where it is no fault."""
    setting = found.setting
    if setting.cards == 1:
        return "只有一张卡：没有谁要同步，通信是零。"
    if not found.problem and not found.communication:
        return "带宽不限，也没有固定开销：每个桶一发就到，通信不花时间。"
    if not setting.tokens:
        return "一个 token 也没有：反向不花时间，没有什么能把通信藏起来。"
    return ""


def _says(found: Timeline, told: dict[str, Quantity], sending: str) -> list[tuple[str, str]]:
    """The step in a sentence: words, and the readout that follows each."""
    if found.problem:
        return [(f"{found.problem.chinese}。", "")]
    if not found.communication:
        return [("反向 ", "backward"), ("，通信不花时间，没有什么要藏。", "")]
    if sending == "sync":
        return [
            ("反向 ", "backward"),
            (" 做完，才开始同步：", "communication"),
            (" 的通信全露在外面，一个训练步要 ", "step"),
            ("。", ""),
        ]
    lanes: list[tuple[str, str]] = [("反向 ", "backward"), ("，通信 ", "communication")]
    if not found.hidden:
        return [*lanes, ("，一点也没藏住，全露在外面。", "")]
    rest = "，露在外面的还有 " if found.exposed else "，露在外面的是 "
    return [*lanes, ("；藏住了 ", "hidden_share"), (rest, "exposed"), ("。", "")]


# ── window, cursor, chosen bucket ───────────────────────────────────────────────────────


def _window(values: Values, whole: int) -> tuple[Window, int]:
    """What is shown of ``whole`` ticks, and how far it really is zoomed."""
    zoom = int(values["zoom"])
    width = PLACES >> zoom
    begin = min(int(values["from"]), PLACES - width)
    low = begin * whole // PLACES
    return Window(low, max(low + 1, (begin + width) * whole // PLACES)), zoom


def _moves(values: Values, found: Timeline, whole: int, zoom: int) -> list[dict[str, Any]]:
    """The buttons of the view: label, key, what each asks for, whether it would do nothing."""
    width = PLACES >> zoom
    begin = min(int(values["from"]), PLACES - width)
    middle = begin + width // 2
    if begin < int(values["time"]) < begin + width:
        middle = int(values["time"])

    def at(level: int, centre: int) -> dict[str, int]:
        half = (PLACES >> level) // 2
        return {"zoom": level, "from": min(max(centre - half, 0), PLACES - 2 * half)}

    over = _ticks(found, found.end - found.exposed) if found.exposed else whole
    tail = next(
        z
        for z in range(MOST_ZOOM, -1, -1)
        if (PLACES >> z) * whole >= (whole - over) * 5 // 4 * PLACES or not z
    )
    moves = (
        ("in", "放大", "+", at(min(zoom + 1, MOST_ZOOM), middle)),
        ("out", "缩小", "-", at(max(zoom - 1, 0), middle)),
        ("left", "往前", "[", {"zoom": zoom, "from": max(begin - width // 2, 0)}),
        ("right", "往后", "]", {"zoom": zoom, "from": min(begin + width // 2, PLACES - width)}),
        ("whole", "全部", "0", {"zoom": 0, "from": 0}),
        ("tail", "只看红的", "9", at(tail, PLACES)),
    )
    here = {"zoom": zoom, "from": begin}
    return [
        {"name": name, "label": label, "key": key, "to": to, "off": to == here}
        for name, label, key, to in moves
        if name != "tail" or found.exposed
    ]


def _chosen(values: Values, found: Timeline) -> Bucket | None:
    number = str(values["bucket"])
    if not number or int(number) >= len(found.buckets):
        return None
    return found.buckets[int(number)]


def _neighbours(values: Values, found: Timeline) -> list[dict[str, Any]]:
    """Buttons from bucket to bucket."""
    last = len(found.buckets) - 1
    if last < 0:
        return []
    number = str(values["bucket"])
    here = min(int(number), last) if number else -1
    moves = (
        ("first", "第一桶", "Home", 0),
        ("back", "上一桶", "ArrowLeft", max(here - 1, 0)),
        ("next", "下一桶", "ArrowRight", min(here + 1, last)),
        ("last", "最后一桶", "End", last),
    )
    return [
        {"name": n, "label": label, "key": key, "to": {"bucket": to}, "off": to == here}
        for n, label, key, to in moves
    ]


def _curve(values: Values, told: dict[str, Quantity]) -> Any:
    share = told.get("hidden_share")
    even = told.get("break_even")
    return curve(
        values,
        _configuration(values, tokens=0),
        None if share is None else round(10_000 * share.value),
        None if even is None else int(even.value),
    )


__all__ = ["FIELDS", "LABEL", "TASKS", "still", "view", "walk"]
