"""A small ring: two rounds of arrows, one card's gradient in blocks, and what a factor means."""

from __future__ import annotations

from math import cos, pi, sin

from markupsafe import Markup

DRAWN = 12  # cards, at most; more would be a blur
WIDTH, RING, BAR = 260, 236, 34
MIDDLE_X, MIDDLE_Y = WIDTH // 2, RING // 2
OUTER, CARDS, INNER = 104, 84, 62

# What a factor lights up: the two rounds, one block's way, one block, or all of them.
_WORDS = {
    "none": "外圈是 reduce-scatter，内圈是 all-gather；下面是一张卡的梯度，切成一块一块。",
    "phases": "外圈和内圈都亮着：一段 reduce-scatter，一段 all-gather。",
    "steps": "一块从 0 号卡出发，走过其余每一张卡：这几支箭头亮着。",
    "block": "下面那条梯度里，亮着的是其中一块。",
    "whole": "下面那条梯度整条亮着。",
}


def picture(cards: int, term: str) -> Markup:
    """The ring of ``cards`` cards (up to 12 are drawn) with ``term`` lit."""
    n = min(cards, DRAWN)
    parts = []
    for i in range(n):
        on = term == "phases" or (term == "steps" and i < n - 1)
        parts.append(_arrow(i, n, OUTER, "on" if on else ""))
        parts.append(_arrow(i, n, INNER, "on" if term == "phases" else ""))
    for i in range(n):
        x, y = _at(i / n, CARDS)
        parts.append(f'<circle class="formula-card c{i % 8}" cx="{x}" cy="{y}" r="13"/>')
        label = "…" if cards > n and i == n - 1 else str(i)
        parts.append(f'<text x="{x}" y="{y + 4}">{label}</text>')
    parts.append(f'<text class="formula-round" x="{MIDDLE_X}" y="16">reduce-scatter</text>')
    parts.append(f'<text class="formula-round" x="{MIDDLE_X}" y="{MIDDLE_Y + 4}">all-gather</text>')
    width = 240 // n
    left = (WIDTH - width * n) // 2
    for i in range(n):
        on = term == "whole" or (term == "block" and i == 0)
        parts.append(
            f'<rect class="formula-block{" on" if on else ""}" x="{left + i * width}" y="{RING}" '
            f'width="{width - 2}" height="16" rx="2"/>'
        )
    few = "" if n == cards else f"只画出 {n} 张卡。"
    return Markup(
        f'<svg class="formula-picture" viewBox="0 0 {WIDTH} {RING + BAR}" role="img" '
        f'aria-label="{_WORDS[term]}{few}">{"".join(parts)}</svg>'
    )


def _at(turn: float, radius: int) -> tuple[int, int]:
    """A point of the circle, 0 at the top, clockwise; whole, so that its bytes are the same."""
    angle = 2 * pi * turn - pi / 2
    return round(MIDDLE_X + radius * cos(angle)), round(MIDDLE_Y + 6 + radius * sin(angle))


def _arrow(i: int, n: int, radius: int, on: str) -> str:
    """From card ``i`` to the next one, along the circle."""
    gap = 0.16 / n + 0.012
    (x0, y0), (x1, y1) = _at(i / n + gap, radius), _at((i + 1) / n - gap, radius)
    bx, by = _at((i + 1) / n - gap - 0.018, radius + 5)
    cx, cy = _at((i + 1) / n - gap - 0.018, radius - 5)
    return (
        f'<path class="formula-arrow {on}" d="M{x0} {y0}A{radius} {radius} 0 0 1 {x1} {y1}'
        f'M{bx} {by}L{x1} {y1}L{cx} {cy}"/>'
    )
