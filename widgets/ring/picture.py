"""The cards on a circle, and what travels between them in one step, as SVG geometry."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import cos, hypot, pi, sin
from typing import Any

from markupsafe import Markup

from py_core.schedules import Step, Transfer

ROOMY = 6  # up to so many cards, a parcel has room for a word beside its number
MOST_PARCELS = 16  # beyond that the arrows say enough
BOW = 0.10  # how far an arrow bends, as a share of its length; opposite ones part
REST = 0.42  # where on its arrow a parcel lies,
NEAR = 0.27  # and where, if others come towards it or cross its way


@dataclass(frozen=True, slots=True)
class Point:
    """Rounded to a tenth, so that every Python draws the same bytes."""

    x: float
    y: float

    @classmethod
    def at(cls, x: float, y: float) -> Point:
        return cls(round(x, 1) + 0.0, round(y, 1) + 0.0)

    def __str__(self) -> str:
        return f"{self.x:g} {self.y:g}"

    def __sub__(self, other: Point) -> Point:
        return Point.at(self.x - other.x, self.y - other.y)


def canvas(cards: int) -> tuple[int, int]:
    return (340, 320) if cards <= 8 else (520, 480)


def card_size(cards: int) -> tuple[int, int]:
    return (62, 34) if cards <= 8 else (46, 28)


def places(cards: int) -> list[Point]:
    """Card 0 on top, the others clockwise."""
    (across, down), (width, height) = canvas(cards), card_size(cards)
    radius_x, radius_y = (across - width) / 2 - 4, (down - height) / 2 - 4
    angles = [2 * pi * r / cards - pi / 2 for r in range(cards)]
    return [Point.at(across / 2 + radius_x * cos(a), down / 2 + radius_y * sin(a)) for a in angles]


def picture(cards: int, step: Step | None) -> dict[str, Any]:
    """Cards, arrows and parcels of one step; before the first step only cards."""
    at = places(cards)
    width, height = card_size(cards)
    transfers = step.transfers if step else ()
    pairs = {(t.source, t.target) for t in transfers}
    arrows = [
        _arrow(at[t.source], at[t.target], cards, NEAR if _meets(t, pairs, cards) else REST)
        for t in transfers
    ]
    labels = [_label(t.blocks, cards) for t in transfers]
    parcels = [
        {
            "at": rest,
            "path": f"M {start - rest} L 0 0",
            "label": label,
            "width": 8 + sum(8 if c.isascii() else 12 for c in label),
            "card": t.source % 8,
        }
        for t, label, (_, start, rest) in zip(transfers, labels, arrows, strict=True)
    ]
    return {
        "width": canvas(cards)[0],
        "height": canvas(cards)[1],
        "card_width": width,
        "card_height": height,
        "cards": [{"card": r, "at": p} for r, p in enumerate(at)],
        "arrows": [d for d, _, _ in arrows],
        "parcels": parcels if len(parcels) <= MOST_PARCELS else [],
    }


def _label(blocks: tuple[int, ...], cards: int) -> str:
    if len(blocks) == cards:
        return "全部"
    if len(blocks) > 1:
        return f"{len(blocks)} 块"
    return f"块 {blocks[0]}" if cards <= ROOMY else str(blocks[0])


def _meets(t: Transfer, pairs: set[tuple[int, int]], cards: int) -> bool:
    """Whether others go the opposite way, or through the middle as this one does."""
    across = min((t.source - t.target) % cards, (t.target - t.source) % cards) > cards / 4
    return (t.target, t.source) in pairs or (across and len(pairs) > 1)


def _arrow(a: Point, b: Point, cards: int, t: float) -> tuple[str, Point, Point]:
    """A bent arrow from card to card: its path, its start, and its parcel's place at ``t``."""
    width, height = card_size(cards)
    dx, dy = b.x - a.x, b.y - a.y
    length = hypot(dx, dy)
    # Leave the boxes: as far as a box reaches in this direction, and a little air.
    reach = min(width * length / abs(dx) if dx else 1e9, height * length / abs(dy) if dy else 1e9)
    gap = min(reach / 2 + 3, length * 0.42) / length
    start = Point.at(a.x + dx * gap, a.y + dy * gap)
    end = Point.at(b.x - dx * gap, b.y - dy * gap)
    bend = Point.at((a.x + b.x) / 2 + dy * BOW, (a.y + b.y) / 2 - dx * BOW)
    rest = Point.at(
        (1 - t) ** 2 * start.x + 2 * t * (1 - t) * bend.x + t**2 * end.x,
        (1 - t) ** 2 * start.y + 2 * t * (1 - t) * bend.y + t**2 * end.y,
    )
    return f"M {start} Q {bend} {end}", start, rest


COLOURED = 8  # up to so many cards, pips wear their cards' colours
PITCH, ROW = 5, 8  # beyond, pips are dashes of a thick line: 4 long, 1 apart, 8 a row


@lru_cache(maxsize=4_096)
def pips(holds: frozenset[int], cards: int) -> Markup:
    """Whose contributions a cell holds. Cells of a frame share few sets, so each is made once."""
    words = f'role="img" aria-label="含 {len(holds)} 张卡的贡献"'
    if cards <= COLOURED:
        each = "".join(
            f'<i class="pip card-{c}{" has" if c in holds else ""}"></i>' for c in range(cards)
        )
        return Markup(f'<span class="pips" {words}>{each}</span>')
    every, held = ([c in some for c in range(cards)] for some in (range(cards), holds))
    paths = f'<path class="none" d="{pips_path(every)}"/><path d="{pips_path(held)}"/>'
    return Markup(f'<svg class="pips-path" viewBox="0 0 39 9" {words}>{paths}</svg>')


def pips_path(has: list[bool]) -> str:
    """The pips that are there, as lines to be dashed; runs of them are one line."""
    parts = []
    for row in range(0, len(has), ROW):
        y = row // ROW * PITCH + 2
        line = has[row : row + ROW]
        start = 0
        while start < len(line):
            end = start
            while end < len(line) and line[end]:
                end += 1
            if end > start:
                parts.append(f"M{start * PITCH} {y}h{(end - start) * PITCH - 1}")
            start = end + 1
    return "".join(parts)
