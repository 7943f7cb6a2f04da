"""The all-reduce stepper: N cards add up N blocks each, one step at a time."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from py_core.executor import MAX_SEED, Cell, Run, run
from py_core.schedules import MAX_CARDS, MIN_CARDS, Step, Transfer, schedule
from widgets.state import Choice, State, Values, Whole

LABEL = "all-reduce 步进器"
COLOURS = 8  # card colours; card 8 wears the colour of card 0 with a second cue

MODES = {"naive": "朴素：都发给 0 号卡", "ring": "环形 all-reduce"}

PHASES = {
    "gather": "收集",
    "send back": "发回",
    "reduce-scatter": "reduce-scatter",
    "all-gather": "all-gather",
}


def steps_of(values: Values) -> int:
    return len(schedule(str(values["mode"]), int(values["n"])).steps)


FIELDS = (
    Choice("mode", "做法", "ring", MODES),
    Whole("n", "卡数 N ", 4, MIN_CARDS, MAX_CARDS),
    Whole("seed", "随机种子", 7, 0, MAX_SEED),
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


def last(state: State) -> str:
    """The query of the last step of ``state``'s configuration."""
    return urlencode(state.values | {"step": steps_of(state.values)})


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
        "last_step": total,
        "phase": PHASES[step.phase] if step else "开始",
        "rows": [_row(begun, before, step, card) for card in range(plan.cards)],
        "sums": [begun.direct_sum(b)[0] for b in range(plan.cards)],
        "says": _sentence(plan.scheme, plan.cards, step, done, total),
        "largest": begun.max_difference,
        "finished": done == total,
        "total_sent": begun.ledger.total_sent,
        "error": {n.field: n for n in state.notices},
    }


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
        how = f"{had} + {came}" if arrival.op == "add" else f"抄自 {arrival.source} 号卡"
    return {
        "block": block,
        "value": cell.values[0],
        "pips": [c in cell.contributions for c in range(now.schedule.cards)],
        "holds": len(cell.contributions),
        "sends": sends,
        "receives": arrival is not None,
        "how": how,
    }


def _sentence(scheme: str, cards: int, step: Step | None, done: int, total: int) -> str:
    if step is None:
        return f"还没开始：{cards} 张卡各有 {cards} 块自己的数，只含自己的贡献。"
    t = step.transfers[0]
    block = f"块 {t.blocks[0]} " if len(t.blocks) == 1 else f"全部 {len(t.blocks)} 块"
    takes = "加到自己的数上" if t.op == "add" else "照抄下来"
    head = f"第 {done} 步（共 {total} 步）："
    if scheme == "naive":
        what = f"{t.source} 号卡把{block}发给 {t.target} 号卡，{t.target} 号卡{takes}。"
    else:
        what = (
            f"每张卡发出一块，也收到一块。比如 {t.source} 号卡把{block}发给 "
            f"{t.target} 号卡，{t.target} 号卡{takes}。"
        )
    return head + what + _milestone(scheme, cards, done, total)


def _milestone(scheme: str, cards: int, done: int, total: int) -> str:
    if done == total:
        return "到此，每张卡都有了完整的和。"
    if done == total // 2:
        if scheme == "naive":
            return "0 号卡加完了，接下来把和发回去。"
        return f"到此，每张卡恰好有一块集齐了 {cards} 张卡的贡献。"
    return ""
