"""The all-reduce stepper: N cards add up N blocks each, one step at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from py_core.executor import MAX_SEED, Cell, Run, run
from py_core.schedules import MAX_CARDS, MIN_CARDS, Step, Transfer, schedule
from widgets.state import Choice, State, Values, Whole

LABEL = "all-reduce 步进器"

MODES = {"naive": "朴素", "ring": "环形"}

PHASES = {
    "gather": "收集：一张一张发给 0 号卡",
    "send back": "发回：0 号卡一张一张发回去",
    "reduce-scatter": "第一段 reduce-scatter：边传边加",
    "all-gather": "第二段 all-gather：只传不加",
}


def steps_of(values: Values) -> int:
    return len(schedule(str(values["mode"]), int(values["n"])).steps)


FIELDS = (
    Choice("mode", "做法", "ring", MODES),
    Whole("n", "卡数 N", 4, MIN_CARDS, MAX_CARDS),
    Whole("seed", "种子", 7, 0, MAX_SEED),
    Whole("step", "步数", 0, 0, steps_of, cursor=True),
)


def walk() -> list[str]:
    """The default walk, prerendered at build: both modes, every step."""
    default = {f.name: f.default for f in FIELDS}
    return [
        urlencode(default | {"mode": mode, "step": step})
        for mode in MODES
        for step in range(steps_of(default | {"mode": mode}) + 1)
    ]


def still(state: State) -> list[tuple[str, str]]:
    """What readers without JavaScript see: how both modes end, each with a word before it."""
    words = {
        "ring": "没有 JavaScript，只能看开头和结尾。这是环形走完的样子：",
        "naive": "这是朴素做法走完的样子：",
    }
    return [
        (text, urlencode(values | {"step": steps_of(values)}))
        for mode, text in words.items()
        for values in [state.values | {"mode": mode}]
    ]


def view(state: State) -> dict[str, Any]:
    """What the template shows: the run after ``step`` steps, and the step that led there."""
    plan = schedule(str(state["mode"]), state.whole("n"))
    begun = run(plan, plan.cards, state.whole("seed"))
    done = state.whole("step")
    before = begun.advance(done - 1).cells if done else begun.cells
    before = [list(row) for row in before]
    if done:
        begun.advance()
    step = plan.steps[done - 1] if done else None
    total = len(plan.steps)
    return {
        "cards": plan.cards,
        "modes": MODES,
        "steps": _steps(done, total),
        "counter": f"第 {done} 步，共 {total} 步",
        "phase": PHASES[step.phase] if step else "还没开始",
        "rows": [_row(begun, before, step, card) for card in range(plan.cards)],
        "sums": [begun.direct_sum(b)[0] for b in range(plan.cards)],
        "says": _sentence(plan.cards, step) + _milestone(plan.scheme, plan.cards, done, total),
        "largest": begun.max_difference,
        "total_sent": begun.ledger.total_sent,
        "uneven": len({*begun.ledger.sent}) > 1,
        "busiest_sent": begun.ledger.busiest,
        "busiest_received": max(begun.ledger.received),
        "elapsed": begun.elapsed,
        "error": {n.field: n for n in state.notices},
    }


def _steps(done: int, total: int) -> list[dict[str, Any]]:
    """The four buttons: id, label, the step it leads to, its key."""
    buttons = (
        ("first", "最前", 0, "Home"),
        ("back", "上一步", max(done - 1, 0), "ArrowLeft"),
        ("next", "下一步", min(done + 1, total), "ArrowRight"),
        ("last", "最后", total, "End"),
    )
    return [{"name": n, "label": label, "to": to, "key": key} for n, label, to, key in buttons]


def _row(now: Run, before: list[list[Cell]], step: Step | None, card: int) -> dict[str, Any]:
    transfers = step.transfers if step else ()
    sends = {b for t in transfers if t.source == card for b in t.blocks}
    receives = {b: t for t in transfers if t.target == card for b in t.blocks}
    return {
        "card": card,
        "cells": [
            _cell(now, before, card, b, b in sends, receives.get(b))
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
    arrival: Transfer | None,
) -> dict[str, Any]:
    cell = now.cells[card][block]
    how = ""
    if arrival:
        came = before[arrival.source][block].values[0]
        had = before[card][block].values[0]
        how = f"{had} + {came}" if arrival.op == "add" else f"抄 {arrival.source} 号"
    return {
        "value": cell.values[0],
        "pips": [c in cell.contributions for c in range(now.schedule.cards)],
        "holds": len(cell.contributions),
        "sends": sends,
        "receives": arrival is not None,
        "how": how,
    }


def _sentence(cards: int, step: Step | None) -> str:
    if step is None:
        return f"{cards} 张卡各有 {cards} 块自己的数，只含自己的贡献。"
    t = min(step.transfers, key=lambda t: t.blocks[0])  # its blocks stand in the first columns
    if len(step.transfers) == 1:
        takes = "加到自己的数上" if t.op == "add" else "照抄下来"
        return f"{t.source} 号卡把全部 {cards} 块发给 {t.target} 号卡，{t.target} 号卡{takes}。"
    takes = "把它加到自己的同一块上" if t.op == "add" else "照抄下来"
    return (
        f"每张卡发出一块，也收到一块。比如 {t.source} 号卡把块 {t.blocks[0]} 发给 "
        f"{t.target} 号卡，{t.target} 号卡{takes}。"
    )


def _milestone(scheme: str, cards: int, done: int, total: int) -> str:
    if done == total:
        return "到此，每张卡都有了完整的和。"
    if done == total // 2:
        if scheme == "naive":
            return "0 号卡加完了，接下来把和发回去。"
        return f"到此，每张卡恰好有一块集齐了 {cards} 张卡的贡献。"
    return ""
