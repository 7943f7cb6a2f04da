"""Collective algorithms as schedules: who sends which block to whom, step by step.

A schedule is a plan and moves nothing; :mod:`py_core.executor` carries it out and
keeps the books. All transfers of one step happen at the same time: each reads what
its source held *before* the step.

N cards always hold N blocks each, so that two schemes can be compared on the same
data. Names and step formulas follow Thakur, Rabenseifner & Gropp (2005) and, for the
ring, Patarasuk & Yuan (2009).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from py_core.errors import Accepted, ScheduleError, UnknownName, whole

MIN_CARDS, MAX_CARDS = 2, 16

Op = Literal["add", "copy"]
Phase = Literal["gather", "send back", "reduce-scatter", "all-gather", "fold", "unfold"]


@dataclass(frozen=True, slots=True)
class Transfer:
    """One message: ``source`` sends ``blocks`` to ``target``, which adds or copies them."""

    source: int
    target: int
    blocks: tuple[int, ...]
    op: Op


@dataclass(frozen=True, slots=True)
class Step:
    """Transfers that happen at the same time, and the phase they belong to."""

    phase: Phase
    transfers: tuple[Transfer, ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A collective for ``cards`` ranks.

    ``starts_reduced``: an all-gather begins with the sums already made, card r holding
    block (r+1) mod N. ``owned[r]`` lists the blocks card r must hold complete at the end.
    ``cards_per_node``: what a hierarchical schedule was made for, else None.
    """

    scheme: str
    cards: int
    steps: tuple[Step, ...]
    owned: tuple[tuple[int, ...], ...]
    starts_reduced: bool = False
    cards_per_node: int | None = None


Builder = Callable[[int, int], Iterator[Step]]


def ring_owner(card: int, cards: int) -> int:
    """The block that ``card`` holds complete after a ring reduce-scatter."""
    return (card + 1) % cards


def _all(n: int) -> tuple[int, ...]:
    return tuple(range(n))


def naive(n: int, _g: int = 1) -> Iterator[Step]:
    """Everybody sends all blocks to card 0, one after another; card 0 sends the sum back."""
    for card in range(1, n):
        yield Step("gather", (Transfer(card, 0, _all(n), "add"),))
    for card in range(1, n):
        yield Step("send back", (Transfer(0, card, _all(n), "copy"),))


def reduce_scatter(n: int, _g: int = 1) -> Iterator[Step]:
    """Ring: in step s card r passes block (r−s) mod N on, and the next card adds it."""
    for s in range(n - 1):
        yield Step(
            "reduce-scatter",
            tuple(Transfer(r, (r + 1) % n, ((r - s) % n,), "add") for r in range(n)),
        )


def all_gather(n: int, _g: int = 1) -> Iterator[Step]:
    """Ring: in step s card r passes the finished block (r+1−s) mod N on as a copy."""
    for s in range(n - 1):
        yield Step(
            "all-gather",
            tuple(Transfer(r, (r + 1) % n, ((r + 1 - s) % n,), "copy") for r in range(n)),
        )


def ring(n: int, g: int = 1) -> Iterator[Step]:
    """Reduce-scatter, then all-gather: 2(N−1) steps, 2(N−1)/N of the data per card."""
    yield from reduce_scatter(n, g)
    yield from all_gather(n, g)


def tree(n: int, _g: int = 1) -> Iterator[Step]:
    """Binomial tree to card 0 and back: 2⌈log₂N⌉ steps, whole vectors."""
    strides = [1 << k for k in range((n - 1).bit_length())]
    for d in strides:
        pairs = [(r + d, r) for r in range(0, n, 2 * d) if r + d < n]
        yield Step("gather", tuple(Transfer(a, b, _all(n), "add") for a, b in pairs))
    for d in reversed(strides):
        pairs = [(r, r + d) for r in range(0, n, 2 * d) if r + d < n]
        yield Step("send back", tuple(Transfer(a, b, _all(n), "copy") for a, b in pairs))


def halving_doubling(n: int, _g: int = 1) -> Iterator[Step]:
    """Rabenseifner: halve the range with ever nearer partners, then double it again.

    Where N is no power of two, the first ``extra`` odd cards fold into their left
    neighbour before, and get the result back after.
    """
    power = 1 << (n.bit_length() - 1)
    extra = n - power
    active = [2 * i for i in range(extra)] + list(range(2 * extra, n))
    if extra:
        folds = tuple(Transfer(2 * i + 1, 2 * i, _all(n), "add") for i in range(extra))
        yield Step("fold", folds)

    ranges = dict.fromkeys(range(power), (0, n))  # which blocks each active card still works on
    doubling: list[Step] = []
    distance = power // 2
    while distance:
        adds, copies = [], []
        for v in range(power):
            low, high = ranges[v]
            middle = (low + high) // 2
            mine, theirs = ((low, middle), (middle, high))[:: 1 if not v & distance else -1]
            me, partner = active[v], active[v ^ distance]
            if theirs[0] < theirs[1]:
                adds.append(Transfer(me, partner, tuple(range(*theirs)), "add"))
            if mine[0] < mine[1]:
                copies.append(Transfer(me, partner, tuple(range(*mine)), "copy"))
            ranges[v] = mine
        yield Step("reduce-scatter", tuple(adds))
        doubling.append(Step("all-gather", tuple(copies)))
        distance //= 2
    yield from reversed(doubling)

    if extra:
        unfolds = tuple(Transfer(2 * i, 2 * i + 1, _all(n), "copy") for i in range(extra))
        yield Step("unfold", unfolds)


def direct(n: int, _g: int = 1) -> Iterator[Step]:
    """Two shots: every card sends block j straight to card j, then card j sends it to all."""
    pairs = [(a, b) for a in range(n) for b in range(n) if a != b]
    yield Step("reduce-scatter", tuple(Transfer(a, b, (b,), "add") for a, b in pairs))
    yield Step("all-gather", tuple(Transfer(a, b, (a,), "copy") for a, b in pairs))


def hierarchical(n: int, g: int) -> Iterator[Step]:
    """Reduce-scatter inside each node of ``g`` cards, ring across nodes, all-gather inside.

    The N blocks form g chunks of M = N/g blocks: card i of a node ends the first phase
    with chunk (i+1) mod g, whose M blocks then travel round the ring of the M nodes.
    """
    m = n // g
    chunk = [tuple(range(c * m, (c + 1) * m)) for c in range(g)]

    def inside(step: Step) -> Step:
        moved = [
            Transfer(node * g + t.source, node * g + t.target, chunk[t.blocks[0]], t.op)
            for node in range(m)
            for t in step.transfers
        ]
        return Step(step.phase, tuple(moved))

    def across(step: Step) -> Step:
        moved = [
            Transfer(t.source * g + i, t.target * g + i, (chunk[(i + 1) % g][t.blocks[0]],), t.op)
            for i in range(g)
            for t in step.transfers
        ]
        return Step(step.phase, tuple(moved))

    yield from map(inside, reduce_scatter(g))
    yield from map(across, ring(m))
    yield from map(inside, all_gather(g))


SCHEMES: dict[str, Builder] = {
    "naive": naive,
    "ring": ring,
    "reduce-scatter": reduce_scatter,
    "all-gather": all_gather,
    "tree": tree,
    "halving-doubling": halving_doubling,
    "direct": direct,
    "hierarchical": hierarchical,
}


def schedule(scheme: str, cards: int, cards_per_node: int | None = None) -> Schedule:
    """The schedule ``scheme`` for ``cards`` cards (2–16).

    ``cards_per_node`` is for ``hierarchical`` only and must divide ``cards``; left out,
    it is the largest divisor that leaves at least two nodes (N itself for a prime N).
    Raises :class:`UnknownName` or :class:`ScheduleError`.
    """
    if scheme not in SCHEMES:
        raise UnknownName("scheme", scheme, SCHEMES)
    if isinstance(cards, bool) or not isinstance(cards, int):
        raise ScheduleError("cards", cards, whole(MIN_CARDS, MAX_CARDS))
    if not MIN_CARDS <= cards <= MAX_CARDS:
        raise ScheduleError("cards", cards, whole(MIN_CARDS, MAX_CARDS))
    group = _node_size(scheme, cards, cards_per_node)
    steps = tuple(SCHEMES[scheme](cards, group or 1))
    owned: tuple[tuple[int, ...], ...]
    if scheme == "reduce-scatter":
        owned = tuple((ring_owner(r, cards),) for r in range(cards))
    else:
        owned = (tuple(range(cards)),) * cards
    return Schedule(scheme, cards, steps, owned, scheme == "all-gather", group)


def _node_size(scheme: str, cards: int, asked: int | None) -> int | None:
    """Cards per node for ``hierarchical``, None for the schemes that know no nodes."""
    if scheme != "hierarchical":
        if asked is not None:
            nothing = Accepted("left out: only hierarchical knows nodes", "留空：只有分层才分机器")
            raise ScheduleError("cards_per_node", asked, nothing)
        return None
    divisors = [d for d in range(1, cards + 1) if cards % d == 0]
    if asked is None:
        return divisors[-2] if len(divisors) > 2 else cards
    if asked not in divisors:
        listed = ", ".join(map(str, divisors))
        accepted = Accepted(f"a divisor of {cards}: {listed}", f"{cards} 的约数：{listed}")
        raise ScheduleError("cards_per_node", asked, accepted)
    return asked
