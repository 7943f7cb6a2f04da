"""Hostile strings typed into every input of every widget, and given to the page around them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

import widgets
from tests.browser import unguarded
from tests.browser.conftest import Watch
from tests.browser.reader import LESSON
from tests.conftest import ROOT
from tests.hostile import CORPUS

TYPE = """async ([id, start, corpus]) => {
    const widget = document.getElementById(id);
    const rest = () => new Promise((resolve) => setTimeout(resolve, 2));
    widget.take(new URLSearchParams(start));
    await new Promise((resolve) => setTimeout(resolve, 300));
    const typed = "[data-view] input:not([type=hidden], [type=range])";
    const fields = () => [...widget.querySelectorAll(typed)];
    const names = fields().map((input) => input.name);
    for (const text of names.length ? corpus : []) {
        const before = widget.querySelector("[data-view]").textContent;
        for (const input of fields()) {
            input.focus();
            input.value = text;
            input.dispatchEvent(new InputEvent("input", {bubbles: true}));
            input.dispatchEvent(new Event("change", {bubbles: true}));
        }
        fields()[0].form.requestSubmit();
        const deadline = performance.now() + 10_000;
        while (widget.querySelector("[data-view]").textContent === before) {
            if (performance.now() > deadline) return {names, stuck: text};
            await rest();
        }
    }
    return {names, stuck: ""};
}"""

# A state in which each widget shows all that can be typed into.
OPEN = {
    "ring": "ring.guess=0",
    "scale": "scale.guess=skip",
    "formula": "formula.guess=skip",
    "overlap": "overlap.guess=skip",
    "average": "average.guess=skip",
    "yours": "cards=8",
}


@pytest.fixture(scope="module")
def bare(browser: Browser, site: Path) -> Iterator[tuple[Page, Watch]]:
    with unguarded.lesson(browser, site) as opened:
        yield opened


@pytest.mark.parametrize("name", widgets.NAMES)
def test_no_input_runs_what_is_typed(bare: tuple[Page, Watch], name: str) -> None:
    page, watch = bare
    done = page.evaluate(TYPE, [name, OPEN[name], list(CORPUS)])
    assert done["stuck"] == ""
    unguarded.nothing_ran(page, watch)


PASTE = """async (texts) => {
    const [area, says] = ["#your-config", "[data-own]"].map((s) => document.querySelector(s));
    for (const text of texts) {
        says.textContent = "";
        area.value = text;
        area.form.requestSubmit();
        const deadline = performance.now() + 10_000;
        while (!/[。：]/.test(says.textContent)) {
            if (performance.now() > deadline) return text;
            await new Promise((resolve) => setTimeout(resolve, 2));
        }
    }
    return "";
}"""


def test_no_pasted_config_runs_what_it_says(bare: tuple[Page, Watch]) -> None:
    page, watch = bare
    gpt2 = json.loads((ROOT / "docs/data/models/gpt2.json").read_text("utf-8"))["config"]
    pasted = [
        written
        for text in CORPUS
        for written in (
            text,
            json.dumps({"model_type": text}),
            json.dumps({"name": text, "config": gpt2}),
            json.dumps(gpt2 | {"n_embd": text}),
        )
    ]
    assert page.evaluate(PASTE, pasted) == ""
    unguarded.nothing_ran(page, watch)


def test_the_page_around_runs_nothing(bare: tuple[Page, Watch]) -> None:
    """Search, the fragment, the words to highlight, and what a browser has kept."""
    page, watch = bare
    page.keyboard.press("Escape")  # the panel lies over the search field
    expect(page.locator("#your-model")).to_be_hidden()
    page.locator("[data-md-component=search-query]").click()
    for text in CORPUS:
        page.evaluate(
            """async (text) => {
                const search = document.querySelector("[data-md-component=search-query]");
                search.value = text.slice(0, 200);
                search.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
                location.hash = text;
                await new Promise((resolve) => setTimeout(resolve, 20));
            }""",
            text,
        )
    unguarded.nothing_ran(page, watch)
    kept = {"lesson.tasks": f'["{quote(CORPUS[0])}"]', "lesson.speed": CORPUS[1]}
    page.evaluate("(kept) => Object.assign(localStorage, kept)", kept)
    words = " ".join(text for text in CORPUS if len(text) < 100)
    page.goto(f"{watch.origin}{LESSON}?{urlencode({'h': words, 'q': words, 'ring.n': words})}")
    expect(page.locator("#ring[data-alive]")).to_be_visible()
    expect(page.locator("#ring .lw-notice").first).to_be_visible()
    watch.messages = [m for m in watch.messages if "regular expression" not in m]
    unguarded.nothing_ran(page, watch)
