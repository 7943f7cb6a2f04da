"""The all-reduce stepper: N cards add up N blocks each, one step at a time.

Every scheme is executed by the one executor; the view only shows its cells and its ledger.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from py_core.errors import Accepted
from py_core.executor import MAX_SEED, Block, Cell, Run, run
from py_core.measured import available, measured, recorded
from py_core.schedules import MAX_CARDS, MIN_CARDS, Schedule, Step, Transfer, schedule
from py_core.units import display, number, unit
from widgets.ring.picture import picture, pips
from widgets.ring.story import MODES, STORY, milestone, phase, sentence
from widgets.state import Choice, State, Values, Whole
from widgets.tasks import Task

LABEL = "all-reduce 步进器"
MINUTES = 6  # that a reader spends with it
GUESSABLE = ("ring", "reduce-scatter", "all-gather")  # every card sends one block a step
MOST_NUMBERS = 96  # per card; more would not fit
SHOWN_NUMBERS = 4  # of a block; where one holds more, its size is shown
LIMITS = (2, 4, 8, 16)  # cards of the bars that show where the naive scheme fails

_COMPARED = {"": "不比较", **{m: label for m, label in MODES.items() if m != "limits"}}


_plan = lru_cache(maxsize=64)(schedule)  # a frame asks for the same plan several times


def plan_of(mode: object, values: Values) -> Schedule:
    node = int(values["g"]) or None
    return _plan(str(mode), int(values["n"]), node if mode == "hierarchical" else None)


def shown_of(values: Values) -> list[str]:
    """The schemes that are shown, each once."""
    asked = (str(values["mode"]), str(values["with"]))
    return [mode for mode in dict.fromkeys(asked) if mode not in ("", "limits")]


def steps_of(values: Values) -> int:
    """The steps of the longer of the schemes that are shown."""
    return max((len(plan_of(m, values).steps) for m in shown_of(values)), default=0)


FIELDS = (
    Choice("mode", "做法", "ring", MODES),
    Whole("n", "卡数 N", 4, MIN_CARDS, MAX_CARDS),
    Whole(
        "g",
        "每台机器的卡数",
        0,
        0,
        MAX_CARDS,
        fits=lambda g, values: g == 0 or int(values["n"]) % g == 0,
        hint=Accepted("a divisor of N, or nothing", "N 的约数，空着就是自动"),
        auto="自动",
    ),
    Whole(
        "elements",
        "每张卡几个数",
        0,
        0,
        MOST_NUMBERS,
        fits=lambda e, values: e == 0 or e >= int(values["n"]),
        hint=Accepted(
            f"a whole number from N to {MOST_NUMBERS}, or nothing",
            f"N 到 {MOST_NUMBERS} 之间的整数，空着就是每块一个数",
        ),
        auto="每块一个数",
    ),
    Whole("seed", "种子", 7, 0, MAX_SEED),
    Choice("with", "对照", "", _COMPARED),
    Choice("predict", "先猜再看", "off", {"off": "关", "on": "开"}),
    Whole("step", "步数", 0, 0, steps_of, cursor=True),
    Whole("guess", "猜的块", 0, 0, MAX_CARDS, cursor=True),  # block + 1; 0: not guessed
    Whole("right", "猜对", 0, 0, 999, cursor=True),
    Whole("asked", "猜过", 0, 0, 999, cursor=True),
)


def _ends(mode: str, **also: int) -> Callable[[State], bool]:
    """A run of ``mode`` at its end, where the ledger shows the point."""
    return lambda state: (
        state["mode"] == mode
        and state["step"] == steps_of(state.values)
        and all(state[name] == value for name, value in also.items())
    )


TASKS = {
    "naive": Task("mode=naive", _ends("naive")),
    "naive-8": Task("mode=naive&n=8", _ends("naive", n=8)),
    "ring": Task("mode=ring", _ends("ring")),
}


def _query(values: Values, **changes: str | int) -> str:
    return urlencode(values | changes)


def walk() -> list[str]:
    """What is prerendered at build: the story and the two halves, every step."""
    default: Values = {f.name: f.default for f in FIELDS}
    steps = [
        _query(default, mode=mode, step=step)
        for mode in (*STORY, "reduce-scatter", "all-gather")
        for step in range(steps_of(default | {"mode": mode}) + 1)
    ]
    eight = default | {"mode": "naive", "n": 8}  # a thing to try: where it begins and ends
    return [*steps, *(_query(eight, step=step) for step in (0, steps_of(eight)))]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: how both modes end, each with a word before it."""
    words = {
        "ring": "环形走完的样子",
        "naive": "朴素做法走完的样子",
    }
    return [
        (text, _query(values, step=steps_of(values)))
        for mode, text in words.items()
        for values in [state.values | {"mode": mode}]
    ]


def view(state: State) -> dict[str, Any]:
    """What the template shows: the schemes after ``step`` steps, and the controls."""
    values = state.values
    total, done = steps_of(values), state.whole("step")
    shown = shown_of(values)
    runs = [_shown(mode, values, min(done, len(plan_of(mode, values).steps))) for mode in shown]
    unit = "个数" if values["elements"] else "块"  # blocks of one number can be counted
    counter = f"第 {done} 步，共 {total} 步"
    return {
        "cards": values["n"],
        "unit": unit,
        "modes": [(m, label, m in STORY) for m, label in MODES.items()],
        "compared": _COMPARED,
        "hierarchical": "hierarchical" in shown,
        "total": total,
        "counter": counter,
        "steps": _steps(state, total),
        "predict": _prediction(state) if done < total and values["predict"] == "on" else None,
        "valuetext": f"{runs[0]['phase']}，{counter}" if runs else counter,
        "runs": runs,
        "limits": [_limit(n) for n in LIMITS] if values["mode"] == "limits" else [],
        "copied": _copied(state, runs, counter, unit),
        "error": {n.field: n for n in state.notices},
    }


def _copied(state: State, runs: list[dict[str, Any]], counter: str, unit: str) -> str:
    """What is shown as comma-separated text: the ledger, the cells, and where they come from."""
    n = state.whole("n")
    lines = []
    for shown in runs:
        lines += [
            f"# {shown['title']} all-reduce，{n} 张卡，{counter}；收发按{unit}计",
            ",".join(["卡", f"已发（{unit}）", f"已收（{unit}）", "最大差", *_blocks(n)]),
        ]
        for row in shown["rows"]:
            cells = [str(cell["value"]) for cell in row["cells"]]
            counts = (row["card"], row["sent"], row["received"], row["difference"])
            lines.append(",".join([*map(str, counts), *cells]))
        lines.append(",".join(["直接相加", "", "", str(shown["largest"]), *shown["sums"]]))
    seed = state["seed"]
    lines.append(f"# 数由种子 {seed} 生成，只供验算，不是真的梯度；每一步由 Python 执行得出")
    return "\n".join(lines)


def _blocks(n: int) -> list[str]:
    return [f"块 {b}" for b in range(n)]


def _steps(state: State, total: int) -> list[dict[str, Any]]:
    """The four buttons: id, label, what they ask for, their key, whether they would do nothing."""
    done = state.whole("step")
    buttons = (
        ("first", "最前", 0, "Home"),
        ("back", "上一步", max(done - 1, 0), "ArrowLeft"),
        ("next", "下一步", min(done + 1, total), "ArrowRight"),
        ("last", "最后", total, "End"),
    )
    return [
        {"name": n, "label": label, "go": _go(state, to), "key": key, "off": to == done}
        for n, label, to, key in buttons
    ]


def _go(state: State, step: int) -> str:
    """Another step; a guess that was made counts when the reader moves on."""
    values = state.values
    guessed = values["guess"] and values["predict"] == "on" and values["mode"] in GUESSABLE
    if not guessed or values["step"] == steps_of(values):
        return urlencode({"step": step, "guess": 0})
    right = int(values["guess"]) - 1 == _asked(state).blocks[0]
    return urlencode(
        {
            "step": step,
            "guess": 0,
            "right": min(int(values["right"]) + right, 999),
            "asked": min(int(values["asked"]) + 1, 999),
        }
    )


def _asked(state: State) -> Transfer:
    """The transfer that a prediction is about: another card in every step."""
    plan = plan_of(state["mode"], state.values)
    done = state.whole("step")
    transfers = plan.steps[min(done, len(plan.steps) - 1)].transfers
    return transfers[(done + state.whole("seed")) % len(transfers)]


def _prediction(state: State) -> dict[str, Any]:
    if state["mode"] not in GUESSABLE:
        return {"refused": "这种做法一步里传的不止一块，没法这样猜；换成环形试试。"}
    asked, guess = _asked(state), state.whole("guess") - 1
    question = (
        f"第 {state.whole('step') + 1} 步，{asked.source} 号卡会把哪一块发给 {asked.target} 号卡？"
    )
    answer = ""
    if guess >= 0:
        right = guess == asked.blocks[0]
        answer = (
            f"你猜块 {guess}，{'对了' if right else f'其实是块 {asked.blocks[0]}'}：{_why(state)}"
        )
    return {
        "refused": "",
        "question": question,
        "blocks": [(b, urlencode({"guess": b + 1})) for b in range(state.whole("n"))],
        "guess": guess,
        "answer": answer,
        "score": f"猜对 {state['right']} 次，共猜 {state['asked']} 次",
    }


def _why(state: State) -> str:
    if state.whole("step") == 0:
        if state["mode"] == "all-gather":
            return "第一步，每张卡发自己手里唯一集齐的那块。"
        return "第一步，每张卡发和自己编号相同的那块。"
    return "每张卡发的，总是它上一步刚收到的那块。"


def _shown(mode: str, values: Values, done: int) -> dict[str, Any]:
    """One scheme after ``done`` of its steps."""
    plan = plan_of(mode, values)
    elements = int(values["elements"])
    now = run(plan, elements or plan.cards, int(values["seed"]))
    before = [list(row) for row in now.advance(max(done - 1, 0)).cells]
    step = plan.steps[done - 1] if done else None
    if step:
        now.advance()
    ledger, n = now.ledger, plan.cards
    return {
        "mode": mode,
        "title": MODES[mode],
        "phase": phase(plan, step),
        "says": sentence(plan, step, elements) + milestone(plan, done),
        "picture": picture(n, step),
        "rows": [_row(now, before, step, card) for card in range(n)],
        "several": now.block_size(0) > 1,
        "sums": [_numbers(now.direct_sum(b), now.block_size(0)) for b in range(n)],
        "largest": now.max_difference,
        "only_own": mode == "reduce-scatter",
        "uneven": len({*ledger.sent}) > 1,
        "busiest_sent": ledger.busiest,
        "busiest_received": max(ledger.received),
        "total_sent": ledger.total_sent,
        "elapsed": now.elapsed,
        "steps": len(plan.steps),
        "measured": _measured(mode, n) if not plan.cards_per_node else None,
    }


def _measured(mode: str, n: int) -> dict[str, Any] | None:
    """Bytes per card as gloo really sent them, beside the ledger's; None where not measured."""
    if n not in available().get(mode, ()):
        return None
    m, facts = measured(mode, n), recorded()
    rows = [
        (rank, number(computed, 3), number(sent, 3), display(difference, unit("%"), 2))
        for rank, (computed, sent, difference) in enumerate(
            zip(m.computed_sent, m.sent, m.sent_difference, strict=True)
        )
    ]
    return {"rows": rows, "how": facts.how_chinese, "date": facts.date, "torch": facts.torch}


def _numbers(block: Block, longest: int) -> str:
    """A block's numbers, or how many they are where the longest block holds too many."""
    return " ".join(map(str, block)) if longest <= SHOWN_NUMBERS else f"{len(block)} 个数"


def _row(now: Run, before: list[list[Cell]], step: Step | None, card: int) -> dict[str, Any]:
    transfers = step.transfers if step else ()
    sends = {b for t in transfers if t.source == card for b in t.blocks}
    receives: dict[int, list[Transfer]] = {}
    for t in transfers:
        if t.target == card:
            for b in t.blocks:
                receives.setdefault(b, []).append(t)
    return {
        "card": card,
        "cells": [
            _cell(now, before, card, b, b in sends, receives.get(b, []))
            for b in range(now.schedule.cards)
        ],
        "sent": now.ledger.sent[card],
        "received": now.ledger.received[card],
        "difference": now.difference(card),
    }


def _cell(
    now: Run,
    before: list[list[Cell]],
    card: int,
    block: int,
    sends: bool,
    arrivals: list[Transfer],
) -> dict[str, Any]:
    cell, cards = now.cells[card][block], now.schedule.cards
    how = ""
    if arrivals and arrivals[0].op == "copy":
        how = f"抄 {arrivals[0].source} 号"
    elif arrivals and now.block_size(0) > 1:
        several = len(arrivals) > 1
        how = f"加 {len(arrivals)} 张卡" if several else f"加 {arrivals[0].source} 号"
    elif arrivals:
        came = [before[t.source][block].values[0] for t in arrivals]
        had = before[card][block].values[0]
        added = f"{had} + {came[0]}" if cards <= 4 else f"+ {came[0]}"  # cells grow narrow
        how = added if len(came) == 1 else f"加 {len(came)} 张"
    return {
        "value": _numbers(cell.values, now.block_size(0)) if cell.contributions else "空",
        "pips": pips(cell.contributions, cards),
        "holds": len(cell.contributions),
        "sends": sends,
        "receives": bool(arrivals),
        "how": how,
    }


def _limit(n: int) -> dict[str, Any]:
    """How the naive scheme ends with ``n`` cards: gradients received by card 0 and by another."""
    received = run(schedule("naive", n), n, 0).finish().ledger.received
    # A block is an n-th of a gradient.
    bars = [("0 号卡", received[0] // n), ("别的每张卡", received[1] // n)]
    most = (max(LIMITS) - 1) * received[1] // n
    return {
        "cards": n,
        "times": received[0] // received[1],
        "bars": [
            {"who": who, "copies": copies, "width": round(280 * copies / most, 1), "first": i == 0}
            for i, (who, copies) in enumerate(bars)
        ],
    }
