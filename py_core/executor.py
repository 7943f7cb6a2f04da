"""The one executor: runs any schedule on integer blocks and keeps the ledger.

Stepper, formulas and the measured comparison all read this ledger, so they cannot
disagree. Integers make every check exact.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from py_core.errors import ScheduleError, whole
from py_core.schedules import Schedule, Step, ring_owner

MAX_SEED = 9_999
MAX_ELEMENTS = 100_000
SMALLEST, LARGEST = 1, 9  # of the test data: small enough to add up in one's head

Block = tuple[int, ...]


def block_bounds(elements: int, blocks: int) -> list[tuple[int, int]]:
    """Cut ``elements`` into ``blocks`` runs whose sizes differ by one at most."""
    size, longer = divmod(elements, blocks)
    starts = [b * size + min(b, longer) for b in range(blocks + 1)]
    return list(pairwise(starts))


def seeded_vectors(cards: int, elements: int, seed: int) -> list[list[int]]:
    """Test data, shape (cards, elements): whole numbers from 1 to 9, the same for one seed."""
    if not 0 <= seed <= MAX_SEED:
        raise ScheduleError("seed", seed, whole(0, MAX_SEED))
    if not cards <= elements <= MAX_ELEMENTS:
        raise ScheduleError("elements", elements, whole(cards, MAX_ELEMENTS))
    draw = random.Random(seed)
    return [[draw.randint(SMALLEST, LARGEST) for _ in range(elements)] for _ in range(cards)]


@dataclass(slots=True)
class Cell:
    """One block on one card: its numbers, and whose contributions they already hold."""

    values: Block
    contributions: frozenset[int]


@dataclass(slots=True)
class Ledger:
    """What each card has sent and received so far, in elements."""

    sent: list[int]
    received: list[int]

    @classmethod
    def empty(cls, cards: int) -> Ledger:
        return cls([0] * cards, [0] * cards)

    @property
    def total_sent(self) -> int:
        return sum(self.sent)

    @property
    def busiest(self) -> int:
        """The most that one card has sent."""
        return max(self.sent)


@dataclass(slots=True)
class Run:
    """A schedule being carried out: ``cells[card][block]``, the ledger, steps done.

    ``elapsed`` counts time in elements: every card has one port, so a step takes as long
    as its busiest card needs to send, or to receive, its elements of that step.
    """

    schedule: Schedule
    vectors: Sequence[Sequence[int]]
    cells: list[list[Cell]] = field(init=False)
    ledger: Ledger = field(init=False)
    done: int = field(init=False, default=0)
    elapsed: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        n = self.schedule.cards
        lengths = {len(v) for v in self.vectors}
        if len(self.vectors) != n or len(lengths) != 1:
            raise ScheduleError("vectors", sorted(lengths), f"{n} vectors of one length")
        self._bounds = block_bounds(lengths.pop(), n)
        self._total = tuple(map(sum, zip(*self.vectors, strict=True)))
        self.ledger = Ledger.empty(n)
        everyone = frozenset(range(n))
        if self.schedule.starts_reduced:
            self.cells = [
                [
                    Cell(self.direct_sum(b), everyone)
                    if b == ring_owner(r, n)
                    else Cell((0,) * self.block_size(b), frozenset())
                    for b in range(n)
                ]
                for r in range(n)
            ]
        else:
            self.cells = [
                [Cell(tuple(v[low:high]), frozenset([r])) for low, high in self._bounds]
                for r, v in enumerate(self.vectors)
            ]

    _bounds: list[tuple[int, int]] = field(init=False, repr=False)
    _total: Block = field(init=False, repr=False)

    def block_size(self, block: int) -> int:
        low, high = self._bounds[block]
        return high - low

    def direct_sum(self, block: int) -> Block:
        """The oracle: block ``block`` of all cards' vectors added up directly."""
        low, high = self._bounds[block]
        return self._total[low:high]

    @property
    def next_step(self) -> Step | None:
        steps = self.schedule.steps
        return steps[self.done] if self.done < len(steps) else None

    def advance(self, steps: int = 1) -> Run:
        """Carry out the next ``steps`` steps. Raises :class:`ScheduleError` past the end."""
        for _ in range(steps):
            step = self.next_step
            if step is None:
                raise ScheduleError("step", self.done + 1, whole(0, len(self.schedule.steps)))
            sent, received = self.ledger.sent[:], self.ledger.received[:]
            self._carry_out(step)
            self.done += 1
            self.elapsed += max(
                now - before
                for now, before in zip(
                    self.ledger.sent + self.ledger.received, sent + received, strict=True
                )
            )
        return self

    def finish(self) -> Run:
        return self.advance(len(self.schedule.steps) - self.done)

    def _carry_out(self, step: Step) -> None:
        # Read everything before writing anything: transfers of a step are simultaneous.
        in_flight = [
            (t, b, self.cells[t.source][b].values, self.cells[t.source][b].contributions)
            for t in step.transfers
            for b in t.blocks
        ]
        for t, b, values, contributions in in_flight:
            cell = self.cells[t.target][b]
            if t.op == "copy":
                self.cells[t.target][b] = Cell(values, contributions)
            else:
                twice = cell.contributions & contributions
                if twice:
                    raise ScheduleError("step", self.done + 1, f"card {min(twice)} counted once")
                added = tuple(a + c for a, c in zip(cell.values, values, strict=True))
                self.cells[t.target][b] = Cell(added, cell.contributions | contributions)
            self.ledger.sent[t.source] += len(values)
            self.ledger.received[t.target] += len(values)

    def difference(self, card: int) -> int:
        """Largest distance of ``card``'s blocks from the direct sum.

        Only blocks the card must own in the end are compared: all of them, or for a
        reduce-scatter the one that becomes its own.
        """
        return max(
            abs(have - want)
            for b in self.schedule.owned[card]
            for have, want in zip(self.cells[card][b].values, self.direct_sum(b), strict=True)
        )

    @property
    def max_difference(self) -> int:
        return max(self.difference(card) for card in range(self.schedule.cards))


def run(schedule: Schedule, elements: int, seed: int) -> Run:
    """A run at its start, on seeded test data of ``elements`` numbers per card."""
    return Run(schedule, seeded_vectors(schedule.cards, elements, seed))
