"""A log–log picture of curves over the number of cards, as SVG text.

Coordinates have one decimal, so that any Python gives the same bytes; colours and dashes
come from the style sheet, by class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, log2, log10

from markupsafe import Markup

from py_core.units import number

WIDTH, HEIGHT = 360, 232
TOP, BOTTOM = 30, 26
RIGHT = 92  # the names of the curves stand there
LINE = 14.5  # least distance of two names
LEAST = 1  # decades that the upright axis spans at least

Place = Callable[[float], float]

# Powers of ten as readers see them.
BYTES = {0: "B", 3: "kB", 6: "MB", 9: "GB", 12: "TB", 15: "PB"}
SECONDS = {-6: "µs", -3: "ms", 0: "s"}
UNITS = {"byte": BYTES, "second": SECONDS}

# Which curves cross in a way that means something: here a circle is drawn.
CROSSING = (("bucket", "balance"), ("bucket", "beats"), ("gradient", "balance"))


@dataclass(frozen=True, slots=True)
class Curve:
    """``points`` by number of cards; ``now`` is the value at the present one, if it has one."""

    key: str
    label: str
    points: list[tuple[int, Fraction]]
    now: Fraction | None


def _tick(exponent: int, unit: str) -> str:
    """A power of ten: ``100 GB``. Seconds stay seconds above one."""
    names = UNITS[unit]
    base = max((e for e in names if e <= exponent), default=min(names))
    # GB is the lesson's own unit: 1,000 and 10,000 GB stay GB as everywhere on the page.
    if unit == "byte" and exponent >= 9:
        base = 9
    scaled = Fraction(10) ** (exponent - base)
    digits = max(base - exponent, 0)
    return f"{number(scaled, digits)} {names[base]}"


def _f(value: float) -> str:
    return f"{value:.1f}"


def _path(points: list[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_f(x)} {_f(y)}" for x, y in points)


def _apart(wanted: list[float], low: float, high: float) -> list[float]:
    """Places from top to bottom near the wanted ones (in that order), ``LINE`` apart."""
    groups: list[tuple[float, int]] = []  # centre and size
    for at in wanted:
        centre, size = at, 1
        while groups:
            above, count = groups[-1]
            if centre - above >= LINE * (size + count) / 2:
                break
            groups.pop()
            centre = (centre * size + above * count) / (size + count)
            size += count
        groups.append((centre, size))
    placed = [centre + LINE * (i - (size - 1) / 2) for centre, size in groups for i in range(size)]
    for i, at in enumerate(placed):  # keep within the frame, top first, then bottom
        placed[i] = max(at, low + LINE * i)
    for i in reversed(range(len(placed))):
        placed[i] = min(placed[i], high - LINE * (len(placed) - 1 - i))
    return placed


def loglog(
    element_id: str,
    title: str,
    words: str,
    unit: str,
    curves: list[Curve],
    cards: int,
    grid: list[int],
) -> Markup:
    """The picture. ``cards`` is marked; ``grid`` are the numbers of cards on the level axis."""
    values = [v for c in curves for _, v in c.points] + [c.now for c in curves if c.now]
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    high = max(high, low + LEAST)
    ticks = range(low, high + 1, ceil((high - low) / 6))
    names = {e: _tick(e, unit) for e in ticks}
    left = 6.8 * max(map(len, names.values())) + 8
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(n: int) -> float:
        begin, end = log2(grid[0]), log2(grid[-1])
        return left + (right - left) * (log2(n) - begin) / (end - begin)

    def y(value: Fraction) -> float:
        return bottom - (bottom - TOP) * (log10(value) - low) / (high - low)

    out = [
        f'<svg class="scale-picture" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-labelledby="{element_id}-t" aria-describedby="{element_id}-d">'
        f'<title id="{element_id}-t">{title}</title><desc id="{element_id}-d">{words}</desc>'
    ]
    heights = {e: _f(y(Fraction(10) ** e)) for e in ticks}
    lines_across = "".join(f"M{_f(left)} {at}H{right}" for at in heights.values())
    out.append(f'<path class="scale-grid" d="{lines_across}"/><g class="scale-tick end">')
    out += [
        f'<text x="{_f(left - 5)}" y="{heights[e]}" dy=".35em">{names[e]}</text>' for e in ticks
    ]
    out.append('</g><g class="scale-tick">')
    for n in grid:
        if n == grid[-2] != cards:  # no room beside the last one
            continue
        bold = ' class="now"' if n == cards else ""
        out.append(f'<text{bold} x="{_f(x(n))}" y="{bottom + 16}">{n:,}</text>')
    out.append("</g>")

    here = x(cards)
    edge = " end" if here > right - 24 else " start" if here < left + 24 else ""
    out.append(f'<path class="scale-now" d="M{_f(here)} {TOP - 8}V{bottom}"/>')
    out.append(
        f'<text class="scale-here{edge}" x="{_f(here)}" y="{TOP - 14}">{cards:,} 张卡</text>'
    )

    lines = {c.key: [(x(n), y(v)) for n, v in c.points] for c in curves}
    for c in reversed(curves):
        if c.points:
            out.append(f'<path class="scale-line s-{c.key}" d="{_path(lines[c.key])}"/>')
    for a, b in CROSSING:
        if a in lines and b in lines:
            out += [
                f'<circle class="scale-cross" cx="{_f(cx)}" cy="{_f(cy)}" r="6"/>'
                for cx, cy in _crossings(lines[a], lines[b])
            ]
    for c in reversed(curves):
        if c.now:
            level = _f(y(c.now))
            out.append(
                f'<circle class="scale-dot s-{c.key}" cx="{_f(here)}" cy="{level}" r="3.6"/>'
            )

    ending = sorted((c for c in curves if c.points), key=lambda c: lines[c.key][-1][1])
    places = _apart([lines[c.key][-1][1] for c in ending], TOP - 8, bottom)
    for c, at in zip(ending, places, strict=True):
        out.append(f'<text class="scale-name s-{c.key}" x="{right + 7}" y="{_f(at)}" dy=".35em">')
        out.append(f"{c.label}</text>")
    out.append("</svg>")
    return Markup("".join(out))


def _crossings(
    a: list[tuple[float, float]], b: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Where two lines over the same numbers of cards change places."""
    heights = dict(a)
    both = [(px, heights[px], py) for px, py in b if px in heights]
    found = []
    for (x0, a0, b0), (x1, a1, b1) in pairwise(both):
        before, after = a0 - b0, a1 - b1
        if (before < 0) != (after < 0):
            part = before / (before - after)
            found.append((x0 + part * (x1 - x0), a0 + part * (a1 - a0)))
    return found
