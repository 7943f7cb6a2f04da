"""Schedules and executor against numpy, the literature's formulas and a hand-made trace."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from py_core.errors import ScheduleError, UnknownName
from py_core.executor import Run, block_bounds, run, seeded_vectors
from py_core.schedules import SCHEMES, Schedule, Step, Transfer, ring_owner, schedule

CARDS = range(2, 17)
FULL = [s for s in SCHEMES if s not in ("reduce-scatter", "all-gather")]
ONE_PORT = ["naive", "ring", "reduce-scatter", "all-gather", "tree", "halving-doubling"]


def numpy_blocks(vectors: list[list[int]], cards: int) -> list[np.ndarray]:
    """The oracle: numpy's sum over cards, cut as numpy cuts uneven arrays."""
    return np.array_split(np.array(vectors).sum(axis=0), cards)


@given(
    scheme=st.sampled_from(FULL),
    cards=st.integers(2, 16),
    extra=st.integers(0, 40),
    seed=st.integers(0, 9999),
)
def test_every_card_ends_with_numpys_sum(scheme: str, cards: int, extra: int, seed: int) -> None:
    done = run(schedule(scheme, cards), cards + extra, seed).finish()
    expected = numpy_blocks(seeded_vectors(cards, cards + extra, seed), cards)
    for row in done.cells:
        for cell, want in zip(row, expected, strict=True):
            assert list(cell.values) == want.tolist()
            assert cell.contributions == frozenset(range(cards))
    assert done.max_difference == 0


@pytest.mark.parametrize("cards", CARDS)
def test_reduce_scatter_leaves_each_card_its_own_block(cards: int) -> None:
    done = run(schedule("reduce-scatter", cards), 3 * cards + 1, 11).finish()
    expected = numpy_blocks(seeded_vectors(cards, 3 * cards + 1, 11), cards)
    for card in range(cards):
        owned = ring_owner(card, cards)
        assert list(done.cells[card][owned].values) == expected[owned].tolist()
        whole = [b for b in range(cards) if len(done.cells[card][b].contributions) == cards]
        assert whole == [owned]
    assert done.max_difference == 0
    assert done.ledger.total_sent == (cards - 1) * (3 * cards + 1)


@pytest.mark.parametrize("cards", CARDS)
def test_all_gather_starts_where_reduce_scatter_ends(cards: int) -> None:
    begun = run(schedule("all-gather", cards), cards, 3)
    assert [[bool(c.contributions) for c in row] for row in begun.cells] == [
        [b == ring_owner(r, cards) for b in range(cards)] for r in range(cards)
    ]
    assert begun.max_difference > 0
    assert begun.finish().max_difference == 0
    assert begun.ledger.total_sent == (cards - 1) * cards


@pytest.mark.parametrize("scheme", FULL)
@pytest.mark.parametrize("cards", CARDS)
def test_all_schemes_move_the_same_total(scheme: str, cards: int) -> None:
    elements = 5 * cards + 3
    ledger = run(schedule(scheme, cards), elements, 1).finish().ledger
    assert ledger.total_sent == sum(ledger.received) == 2 * (cards - 1) * elements


@pytest.mark.parametrize("cards", CARDS)
def test_ring_loads_all_cards_alike(cards: int) -> None:
    ledger = run(schedule("ring", cards), 7 * cards, 1).finish().ledger
    each = Fraction(2 * (cards - 1), cards) * 7 * cards
    assert ledger.sent == ledger.received == [each] * cards


def test_ring_ledger_with_uneven_blocks() -> None:
    ledger = run(schedule("ring", 5), 17, 1).finish().ledger
    assert ledger.sent == [27, 28, 28, 27, 26]
    assert ledger.total_sent == 136


@pytest.mark.parametrize("cards", CARDS)
def test_naive_card_0_receives_n_minus_1_times_the_others(cards: int) -> None:
    ledger = run(schedule("naive", cards), cards, 1).finish().ledger
    assert ledger.received == [(cards - 1) * cards] + [cards] * (cards - 1)
    assert ledger.sent == ledger.received


@pytest.mark.parametrize("n", CARDS)
def test_time_through_one_port(n: int) -> None:
    """In blocks: naive 2(N−1)N, ring 2(N−1), tree 2⌈log₂N⌉N; a direct step is N−1 messages."""
    elapsed = {s: run(schedule(s, n), n, 1).finish().elapsed for s in SCHEMES}
    assert elapsed["naive"] == 2 * (n - 1) * n
    assert elapsed["ring"] == elapsed["direct"] == 2 * (n - 1)
    assert elapsed["reduce-scatter"] == elapsed["all-gather"] == n - 1
    assert elapsed["tree"] == 2 * (n - 1).bit_length() * n


def test_tree_ledger_in_vectors() -> None:
    """Card 0 sends to log₂N children; every other card sends its sum up once, then copies down."""
    ledger = run(schedule("tree", 8), 8, 1).finish().ledger
    assert [sent // 8 for sent in ledger.sent] == [3, 1, 2, 1, 3, 1, 2, 1]


@pytest.mark.parametrize(
    ("scheme", "steps"),
    [
        ("naive", lambda n: 2 * (n - 1)),
        ("ring", lambda n: 2 * (n - 1)),
        ("reduce-scatter", lambda n: n - 1),
        ("all-gather", lambda n: n - 1),
        ("tree", lambda n: 2 * (n - 1).bit_length()),
        (
            "halving-doubling",
            lambda n: 2 * (n.bit_length() - 1) + (0 if n & (n - 1) == 0 else 2),
        ),
        ("direct", lambda n: 2),
    ],
)
@pytest.mark.parametrize("cards", CARDS)
def test_number_of_steps(scheme: str, steps, cards: int) -> None:
    assert len(schedule(scheme, cards).steps) == steps(cards)


@pytest.mark.parametrize("scheme", ONE_PORT)
@pytest.mark.parametrize("cards", CARDS)
def test_one_send_and_one_receive_a_step(scheme: str, cards: int) -> None:
    for step in schedule(scheme, cards).steps:
        sources = [t.source for t in step.transfers]
        targets = [t.target for t in step.transfers]
        assert len(set(sources)) == len(sources)
        assert len(set(targets)) == len(targets)


@pytest.mark.parametrize("cards", CARDS)
def test_in_every_ring_step_every_card_sends_one_block_to_the_next(cards: int) -> None:
    for step in schedule("ring", cards).steps:
        assert sorted(t.source for t in step.transfers) == list(range(cards))
        assert all(t.target == (t.source + 1) % cards for t in step.transfers)
        assert all(len(t.blocks) == 1 for t in step.transfers)


@pytest.mark.parametrize(("cards", "g"), [(4, 2), (8, 2), (8, 4), (12, 3), (16, 8), (6, 1), (6, 6)])
def test_hierarchical_crosses_nodes_with_its_share_only(cards: int, g: int) -> None:
    plan = schedule("hierarchical", cards, g)
    nodes = cards // g
    across = [0] * cards
    for step in plan.steps:
        for t in step.transfers:
            if t.source // g != t.target // g:
                across[t.source] += len(t.blocks)
    # 2(M−1)/M of a g-th of the data; every block counts one element here.
    assert across == [Fraction(2 * (nodes - 1), nodes) * Fraction(cards, g)] * cards
    assert len(plan.steps) == 2 * (g - 1) + 2 * (nodes - 1)
    assert run(plan, cards, 5).finish().max_difference == 0


def test_blocks_are_cut_as_numpy_cuts_them() -> None:
    for elements in range(16, 60):
        sizes = [len(b) for b in np.array_split(np.arange(elements), 7)]
        bounds = block_bounds(elements, 7)
        assert [high - low for low, high in bounds] == sizes
        assert all(a[1] == b[0] for a, b in pairwise(bounds))


def test_same_seed_same_data() -> None:
    assert seeded_vectors(4, 9, 7) == seeded_vectors(4, 9, 7) != seeded_vectors(4, 9, 8)
    assert {n for v in seeded_vectors(16, 500, 1) for n in v} == set(range(1, 10))


def test_transfers_of_a_step_read_what_was_there_before_it() -> None:
    swap = Step("fold", (Transfer(0, 1, (0,), "copy"), Transfer(1, 0, (0,), "copy")))
    plan = Schedule("swap", 2, (swap,), ((0,), (0,)))
    done = Run(plan, [[1, 5], [2, 6]]).finish()
    assert [row[0].values for row in done.cells] == [(2,), (1,)]


def test_a_contribution_counted_twice_is_refused() -> None:
    add = Step("gather", (Transfer(0, 1, (0,), "add"),))
    plan = Schedule("twice", 2, (add, add), ((0,), (0,)))
    with pytest.raises(ScheduleError, match="card 0 counted once"):
        Run(plan, [[1, 5], [2, 6]]).finish()


@pytest.mark.parametrize("cards", [1, 0, -3, 17, 2.5, "4", True, None])
def test_bad_number_of_cards(cards: object) -> None:
    with pytest.raises(ScheduleError) as error:
        schedule("ring", cards)  # type: ignore[arg-type]
    assert error.value.field == "cards"
    assert "from 2 to 16" in str(error.value)


def test_unknown_scheme_names_the_nearest() -> None:
    with pytest.raises(UnknownName, match="ring"):
        schedule("rign", 4)


def test_bad_node_size_lists_the_divisors() -> None:
    with pytest.raises(ScheduleError, match="a divisor of 8: 1, 2, 4, 8"):
        schedule("hierarchical", 8, 3)


def test_past_the_end_is_refused() -> None:
    begun = run(schedule("ring", 3), 3, 1).finish()
    with pytest.raises(ScheduleError):
        begun.advance()


def test_two_runs_of_one_schedule_do_not_disturb_each_other() -> None:
    plan = schedule("ring", 4)
    assert run(plan, 4, 1).finish().cells == run(plan, 4, 1).finish().cells
