"""What components look like, compared with pictures that are kept in ``looks/``.

`make looks` takes the pictures anew. They are made small, and blurred before they are compared:
letters that another version of the fonts draws a little differently pass, a change of colour,
place or size does not. What fails is in ``test-results/``: got, wanted, and where they differ.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest
from PIL import Image, ImageChops, ImageFilter
from playwright.sync_api import Browser, Page, expect

from tests.browser.reader import LESSON
from tests.conftest import ROOT

KEPT = Path(__file__).parent / "looks"
RESULTS = ROOT / "test-results"
RENEW = "RENEW_LOOKS" in os.environ

BLUR = 2  # pixels of a kept picture: strokes of letters run together, shapes do not
TOLERANCE = 20  # of 255, in any channel
SHARE = 0.001  # of pixels that may differ more
STRETCH = 0.02  # by which another version of the fonts may make a component larger


@dataclass(frozen=True)
class Look:
    path: str
    element: str
    width: int = 1280
    scheme: Literal["light", "dark"] = "light"
    press: str = ""
    """What is pressed before."""


FIGURE = "#ledger ~ p button.q[data-q='state.bytes']"
LOOKS = {
    "map": Look("/", ".cover-route"),
    "map-dark-phone": Look("/", ".cover-route", 390, "dark"),
    "prose": Look(LESSON, "#design ~ .admonition"),
    "prose-dark-phone": Look(LESSON, "#design ~ .admonition", 390, "dark"),
    "stages": Look(LESSON, ".stages"),
    "stages-phone": Look(LESSON, ".stages", 390),
    "ring": Look(f"{LESSON}?ring.step=2", "#ring [data-view]"),
    "ring-dark-phone": Look(f"{LESSON}?ring.step=2", "#ring [data-view]", 390, "dark"),
    "scale": Look(f"{LESSON}?scale.guess=skip&scale.cards=64", "#scale [data-view]"),
    "scale-dark": Look(f"{LESSON}?scale.guess=skip", "#scale [data-view]", scheme="dark"),
    "formula": Look(f"{LESSON}?formula.guess=skip&formula.term=block", "#formula [data-view]"),
    "overlap-asks": Look(LESSON, "#overlap [data-view]"),
    "overlap": Look(f"{LESSON}?overlap.guess=skip", "#overlap .overlap-time"),
    "overlap-dark-phone": Look(
        f"{LESSON}?overlap.guess=skip", "#overlap .overlap-time", 390, "dark"
    ),
    "average": Look(f"{LESSON}?average.guess=skip", "#average [data-view]"),
    "table": Look("/authors/hosting/", "#pages ~ .md-typeset__scrollwrap"),
    "panel": Look(LESSON, ".panel:popover-open", press=FIGURE),
    "panel-dark-phone": Look(LESSON, ".panel:popover-open", 390, "dark", press=FIGURE),
    "your-model": Look(LESSON, "#yours [data-view]", press=".yours-open"),
}

Shown = Callable[[Look], Page]


@pytest.fixture(scope="module")
def shown(browser: Browser, origin: str) -> Iterator[Shown]:
    """Opens a page and brings it into the state of a look; the one before is closed."""
    contexts = {}

    def show(look: Look) -> Page:
        kind = look.width, look.scheme
        if kind not in contexts:
            contexts[kind] = browser.new_context(
                viewport={"width": look.width, "height": 2400},  # no component is taller
                color_scheme=look.scheme,
                reduced_motion="reduce",
                locale="zh-CN",
            )
        for former in contexts[kind].pages:
            former.close()
        page = contexts[kind].new_page()
        page.goto(origin + look.path)
        for key, value in parse_qsl(urlsplit(look.path).query):
            widget, field = key.split(".")
            frame = page.locator(f"#{widget} [data-view] > [data-full]")
            expect(frame).to_have_attribute("data-full", re.compile(rf"\b{field}={value}\b"))
        if look.press:
            page.locator(look.press).first.click()
            page.mouse.move(0, 0)
        else:  # it lies over the page's corner
            page.evaluate("document.querySelector('.yours-open')?.remove()")
        expect(page.locator(look.element).first).to_be_visible()
        return page

    yield show
    for context in contexts.values():
        context.close()


def picture(page: Page, look: Look) -> Image.Image:
    """The component as it is seen, at half its size."""
    taken = page.locator(look.element).first.screenshot(animations="disabled")
    seen = Image.open(BytesIO(taken)).convert("RGB")
    return seen.resize((seen.width // 2, seen.height // 2), Image.Resampling.LANCZOS)


def difference(got: Image.Image, wanted: Image.Image) -> tuple[float, Image.Image]:
    """Which share of the pixels differs, and where: white on black."""
    if any(abs(a / b - 1) > STRETCH for a, b in zip(got.size, wanted.size, strict=True)):
        return 1, Image.new("L", wanted.size, "white")
    blur = ImageFilter.GaussianBlur(BLUR)
    away = ImageChops.difference(got.resize(wanted.size).filter(blur), wanted.filter(blur))
    differs = np.asarray(away).max(axis=2) > TOLERANCE
    return float(differs.mean()), Image.fromarray(differs)


def kept(name: str) -> Image.Image:
    with Image.open(KEPT / f"{name}.png") as image:
        return image.convert("RGB")


@pytest.mark.parametrize("name", LOOKS)
def test_a_component_looks_as_it_did(shown: Shown, name: str) -> None:
    got = picture(shown(LOOKS[name]), LOOKS[name])
    if RENEW:
        KEPT.mkdir(exist_ok=True)
        got.quantize(256).save(KEPT / f"{name}.png", optimize=True)
    share, where = difference(got, kept(name))
    if share > SHARE:
        RESULTS.mkdir(exist_ok=True)
        for kind, image in {"got": got, "wanted": kept(name), "differs": where}.items():
            image.save(RESULTS / f"{name}-{kind}.png")
        pytest.fail(
            f"{name}: {share:.1%} of the picture differs: test-results/{name}-*.png. "
            "If it is meant: make looks"
        )


CHANGES = {
    "overlap": "document.body.style.setProperty('--communication', '#3a9d60')",
    "overlap-dark-phone": "document.querySelector('#overlap .label.exposed').remove()",
    "map": "document.querySelector('.cover-route li:nth-child(4) small').remove()",
    "ring": "document.querySelector('#ring .sends').classList.remove('sends')",
    "prose": "document.querySelector('#design ~ .admonition').style.borderLeft = 0",
    "stages-phone": "document.querySelector('.stages .new').classList.remove('new')",
    "scale": "document.querySelector('#scale .scale-says').style.marginTop = '12px'",
    "panel": "document.querySelector('.panel:popover-open .panel-close').style.color = 'red'",
    "table": "document.querySelector('#pages ~ * tr:last-child').remove()",
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(shown: Shown, name: str) -> None:
    page = shown(LOOKS[name])
    page.evaluate(CHANGES[name])
    share, _ = difference(picture(page, LOOKS[name]), kept(name))
    assert share > SHARE


@pytest.mark.parametrize("name", ["prose", "panel", "map-dark-phone"])
def test_letters_a_little_elsewhere_are_no_change(shown: Shown, name: str) -> None:
    page = shown(LOOKS[name])
    page.locator(LOOKS[name].element).first.evaluate("e => e.style.letterSpacing = '0.02px'")
    share, _ = difference(picture(page, LOOKS[name]), kept(name))
    assert share <= SHARE


def test_pictures_are_few_and_small() -> None:
    files = list(KEPT.iterdir())
    assert {file.stem for file in files} == set(LOOKS)
    assert sum(file.stat().st_size for file in files) < 600_000
