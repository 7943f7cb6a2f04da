"""A least-squares problem small enough to add up token by token: what two means of a loss do.

Card c holds tokens (x, y) with y ≈ slope_c · x. For the loss ½(w·x − y)² the gradient at
w = 0 is −Σxy ÷ n, and the best w is Σxy ÷ Σx²: all that is needed are two sums. Whole
numbers from a fixed seed, so everything is exact.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from py_core.errors import ScenarioError, whole

SLOPES = (1, 3)  # what each card's text has in it: they disagree, as real batches do
SEED = 7
LEAST, MOST = 100, 8 * 4096  # valid tokens of a card: at most eight sequences, all full


@dataclass(frozen=True, slots=True)
class Sums:
    """Over the first tokens of a card: Σx² and Σxy."""

    squares: int
    products: int


@cache
def _running(card: int) -> tuple[list[int], list[int]]:
    draw = random.Random(SEED + card)
    xs = draw.choices(range(1, 10), k=MOST)
    errors = draw.choices(range(-2, 3), k=MOST)
    ys = [SLOPES[card] * x + error for x, error in zip(xs, errors, strict=True)]
    squares = accumulate((x * x for x in xs), initial=0)
    products = accumulate((x * y for x, y in zip(xs, ys, strict=True)), initial=0)
    return list(squares), list(products)


def sums(card: int, tokens: int) -> Sums:
    """Of the first ``tokens`` tokens of card 0 or 1. Raises ScenarioError out of range."""
    if not LEAST <= tokens <= MOST:
        raise ScenarioError(f"tokens_card{card}", tokens, whole(LEAST, MOST))
    squares, products = _running(card)
    return Sums(squares[tokens], products[tokens])
