"""What the executor's ledger says, next to the formulas: schemes really carried out.

A run takes N cards, 16 at most, on one number per block; the ledger counts the numbers
each card sends and receives, here as multiples of one card's whole gradient. Claims set
these beside the formulas of :mod:`py_core.quantities.schemes`, so that a wrong formula
makes a claim false.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

from py_core.executor import Ledger, run
from py_core.quantity import At, quantity
from py_core.schedules import MAX_CARDS, schedule
from py_core.terms import Applied, Term, smaller

# Those that run on any number of cards; a hierarchy needs even nodes, and tests run it.
EXECUTED = ("naive", "ring", "reduce-scatter", "all-gather", "tree", "halving-doubling", "direct")

RECEIVED = ("naive", "ring")  # where the page speaks of what a card receives, too


@quantity("run.cards", "count", "执行器真的跑一遍时用的卡数：N 张，最多 16 张", "n_run")
def _(at: At) -> Term:
    most = at.given(str(MAX_CARDS), MAX_CARDS, "count", "执行器和步进器最多跑 16 张卡")
    return smaller(at.cards, most)


@cache
def _ledger(scheme: str, cards: int) -> Ledger:
    return run(schedule(scheme, cards), cards, seed=0).finish().ledger


def _read(scheme: str, entry: str, symbol: str, says: str, count: Callable[[Ledger], int]) -> None:
    @quantity(f"{scheme}.ledger_{entry}", "×", says, f"{symbol}_{scheme}")
    def _(at: At) -> Term:
        cards = at("run.cards")
        n = int(cards.value)
        return Applied("账本({})", Fraction(count(_ledger(scheme, n)), n), cards)


def read_ledger(scheme: str, says: str) -> None:
    """Register what a run of ``scheme`` moves, where the executor can run it."""
    if scheme not in EXECUTED:
        return
    told = f"{says}，真的跑一遍"
    _read(scheme, "busiest", "x", f"{told}：最忙的卡发出的是梯度的几倍", lambda b: b.busiest)
    _read(scheme, "total", "X", f"{told}：所有卡合计发出的是梯度的几倍", lambda b: b.total_sent)
    if scheme not in RECEIVED:
        return
    _read(scheme, "card0", "y₀", f"{told}：0 号卡收到的是梯度的几倍", lambda b: b.received[0])
    others = f"{told}：其余的卡最多收到梯度的几倍"
    _read(scheme, "others", "y₁", others, lambda b: max(b.received[1:]))
