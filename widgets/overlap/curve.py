"""The hidden share over tokens per card, with the present place and the break-even marked."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log2

from py_core.timeline import simulate
from py_core.units import display, unit
from widgets.overlap.picture import written
from widgets.overlap.setting import CONFIGURATION, step_of
from widgets.slider import doublings
from widgets.state import Values, parse

FEW, MANY = 512, 65_536
STOPS = doublings(FEW, MANY, halfway=True)
LABELLED = doublings(FEW, MANY)[1:-1:2]


@dataclass(frozen=True, slots=True)
class Curve:
    """Thousandths to the right, hundredths down; ``now`` and ``even`` as per cents."""

    path: str
    labels: list[tuple[str, str]]
    now: tuple[str, str] | None
    even: str
    rises: bool  # by a tenth at least
    most: str  # what the last stop hides


def across(tokens: int) -> int:
    """Ten-thousandths from the left; beyond the ends, at the ends."""
    return min(max(round(10_000 * log2(max(tokens, 1) / FEW) / log2(MANY / FEW)), 0), 10_000)


@lru_cache(maxsize=32)
def _shares(configuration: str) -> list[int] | None:
    """At each stop, in ten-thousandths; None where there is nothing to hide."""
    found = simulate(step_of(parse(CONFIGURATION, configuration).values).setting)
    shares = [found.hidden_share_at(tokens) for tokens in STOPS]
    return (
        None if None in shares else [round(10_000 * share) for share in shares if share is not None]
    )


def curve(values: Values, configuration: str, share: int | None, even: int | None) -> Curve | None:
    """``configuration``: the query without its tokens; ``share`` in ten-thousandths."""
    shares = _shares(configuration)
    if shares is None or share is None:
        return None
    points = [
        f"{across(tokens) // 10} {100 - round(at / 100)}"
        for tokens, at in zip(STOPS, shares, strict=True)
    ]
    labels = [(written(across(tokens)), f"{tokens:,}") for tokens in LABELLED]
    shown = even is not None and FEW <= even <= MANY
    return Curve(
        "M" + "L".join(points),
        labels,
        (written(across(int(values["tokens"]))), written(10_000 - share)),
        written(across(even)) if even is not None and shown else "",
        shares[-1] >= shares[0] + 1_000,
        display(Fraction(shares[-1], 10_000), unit("%")),
    )
