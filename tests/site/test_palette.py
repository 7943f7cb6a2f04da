"""The colours of the style sheet: contrast, and told apart by everybody."""

from __future__ import annotations

import re
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE

SCHEMES = ("default", "slate")
CARDS = [f"card-{i}" for i in range(8)]
GROUNDS = ("surface", "sunken", "flight-soft")
VISION = {
    "normal": None,
    **{
        kind: {"name": "sRGB1+CVD", "cvd_type": kind, "severity": 100}
        for kind in ("protanomaly", "deuteranomaly", "tritanomaly")
    },
}


@pytest.fixture(scope="module", params=SCHEMES)
def palette(request: pytest.FixtureRequest, root: Path) -> dict[str, np.ndarray]:
    css = (root / "build_tools/lesson.css").read_text(encoding="utf-8")
    block = re.search(rf'scheme="{request.param}"\] \{{(.*?)\}}', css, re.S)
    assert block
    named = re.findall(r"--([a-z0-9-]+): #([0-9a-f]{6});", block[1])
    return {name: np.array(list(bytes.fromhex(code))) / 255 for name, code in named}


def luminance(colour: np.ndarray) -> float:
    linear = np.where(colour <= 0.04045, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a: np.ndarray, b: np.ndarray) -> float:
    """WCAG 2.2 contrast ratio."""
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_reads_on_every_ground(palette: dict[str, np.ndarray]) -> None:
    texts = ("ink", "muted", "accent", "flight", "good", "exposed")
    weak = {
        (text, ground): round(contrast(palette[text], palette[ground]), 2)
        for text, ground in product(texts, ("paper", "surface", "sunken"))
        if contrast(palette[text], palette[ground]) < 4.5
    }
    assert weak == {}
    assert contrast(palette["on-accent"], palette["accent"]) >= 4.5
    assert contrast(palette["warn-ink"], palette["warn-soft"]) >= 4.5


def test_shapes_stand_out_from_every_ground(palette: dict[str, np.ndarray]) -> None:
    shapes = (*CARDS, "flight", "compute", "communication", "exposed", "control")
    weak = {
        (shape, ground): round(contrast(palette[shape], palette[ground]), 2)
        for shape, ground in product(shapes, GROUNDS)
        if contrast(palette[shape], palette[ground]) < 3
    }
    assert weak == {}


@pytest.mark.parametrize("vision", VISION)
def test_cards_are_told_apart(palette: dict[str, np.ndarray], vision: str) -> None:
    """CAM02-UCS distance of every two cards; 2.3 is just noticeable side by side."""
    seen = {
        card: np.clip(
            palette[card]
            if VISION[vision] is None
            else cspace_convert(palette[card], VISION[vision], "sRGB1"),
            0,
            1,
        )
        for card in CARDS
    }
    close = {
        (a, b): round(float(deltaE(seen[a], seen[b], input_space="sRGB1")), 1)
        for a, b in combinations(CARDS, 2)
        if deltaE(seen[a], seen[b], input_space="sRGB1") < 10
    }
    assert close == {}
