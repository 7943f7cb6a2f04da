"""What a screen reader is told: each step once, and what every picture and table is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Lesson
from tests.browser.reader import LESSON, opened, ready, until
from tests.quality.test_access import PAGES, STATES, Visit, show, visit

__all__ = ["visit"]

# All that any live region of the page says, however it is put there.
LISTEN = """() => {
    globalThis.said = [];
    const regions = document.querySelectorAll(
        "[aria-live], [role=status], [role=alert], [role=log], output");
    globalThis.loud = [...regions].filter((e) => e.ariaLive === "assertive" || e.role === "alert");
    for (const region of regions) {
        new MutationObserver(() => {
            const words = region.ariaLive !== "off" && region.textContent.trim();
            if (words) said.push(words);
        }).observe(region, {childList: true, characterData: true, subtree: true});
    }
}"""
CALM = 700  # ms; the timeline says at most one thing in 500

# The state each walk starts from, and what a reader presses, in order: #id, or a key.
WALKS = {
    "ring": ("ring.n=4", ["#ring-next", "#ring-back", "End", "Home", "#ring-mode-naive"]),
    "ring, guessing": ("ring.predict=on&ring.step=1", ["#ring-guess-1", "#ring-next"]),
    "scale": (
        "scale.guess=ask",
        ["#scale-guess-ring-stays", "#scale-time", "#scale-gradient-fp32"],
    ),
    "formula": ("formula.guess=skip", ["#formula-term-steps", "#formula-gradient-fp32"]),
    "overlap": (
        "overlap.guess=ask",
        ["#overlap-guess-half", "#overlap-mode-sync", "#overlap-bucket-next", "#overlap-pin"],
    ),
    "average": ("average.guess=ask", ["#average-guess-card1", "#average-preset-2"]),
}


@pytest.mark.parametrize("walk", WALKS)
def test_ux_53_each_step_is_said_once_and_politely(lesson: Lesson, walk: str) -> None:
    start, steps = WALKS[walk]
    page = lesson(f"?{start}")
    widget = page.locator(f"#{walk.partition(',')[0]}")
    widget.hover()
    expect(widget).to_have_attribute("python", "ready")
    page.wait_for_timeout(CALM)
    page.evaluate(LISTEN)
    assert page.evaluate("loud.length") == 0
    for step in steps:
        page.evaluate("said.length = 0")
        if step.startswith("#"):
            page.locator(step).click()
        else:
            page.keyboard.press(step)
        until(page, "said.length")
        page.wait_for_timeout(CALM)
        said = page.evaluate("said")
        assert len(said) == 1, step
        assert said[0].rstrip("✓ 看到了").endswith(("。", "）")), (step, said)


def test_ux_53_the_readers_own_setting_is_said_once(page: Page, origin: str) -> None:
    ready(opened(page, origin + LESSON))
    page.locator(".yours-open").click()
    expect(page.locator("#yours-csv")).to_be_visible()
    page.evaluate(LISTEN)
    page.locator("#yours-model").select_option("qwen3-8b")
    for name in ("scale", "formula", "overlap"):  # which follow, and keep quiet
        frame = page.locator(f"#{name} [data-full]").first
        expect(frame).to_have_attribute("data-full", re.compile("model=qwen3-8b"))
    page.wait_for_timeout(CALM)
    said = page.evaluate("said")
    assert len(said) == 1, said
    assert said[0].startswith("Qwen3-8B：参数 ")


def test_where_the_reader_is_python_is_waited_for_aloud(page: Page, origin: str) -> None:
    """All experiments wait for the same Python; one says so."""
    held: list[Route] = []
    page.route("**/*.wasm", lambda route: held.append(route))  # noqa: PLW0108
    opened(page, origin + LESSON)
    page.evaluate(LISTEN)
    page.locator("#ring-n").focus()
    expect(page.locator("#scale [data-status]")).to_contain_text("正在载入")
    expect(page.locator("#ring [data-status]")).to_contain_text("正在载入")
    page.wait_for_timeout(CALM)
    said = page.evaluate("said")
    assert len(said) == 1, said
    assert said[0].startswith("正在载入 Python")
    held[0].continue_()
    expect(page.locator("#ring")).to_have_attribute("python", "ready")


def test_ux_53_play_says_nothing_until_its_end(lesson: Lesson) -> None:
    page = lesson("?ring.step=3")
    page.locator("#ring [data-speed]").select_option("fast")
    page.evaluate(LISTEN)
    page.locator("#ring [data-play]").click()
    until(page, "said.length")
    page.wait_for_timeout(CALM)
    (said,) = page.evaluate("said")
    assert said.startswith("第 6 步，共 6 步。")


# -- pictures and tables ---------------------------------------------------------------------

# Pictures that are neither hidden from those who listen nor told in words: a name, and, where
# the name is but a title, a description.
MUTE = """() => [...document.querySelectorAll("article svg, .yours-panel svg")]
    .filter((e) => e.checkVisibility() && !e.closest("[aria-hidden=true], a, summary"))
    .filter((e) => !e.parentElement.closest("svg"))
    .filter((e) => {
        const told = [e.ariaLabel, ...[...e.querySelectorAll(":scope > :is(title, desc)")]
            .map((t) => t.textContent)].join("");
        const role = ["img", "group"].includes(e.getAttribute("role"));
        const around = e.closest("td") || e.closest("figure")?.querySelector("figcaption");
        return !role || told.length < (around ? 3 : 10);
    }).map((e) => e.outerHTML.slice(0, 120))"""
NAMELESS = """() => [...document.querySelectorAll("article figure, .yours-panel figure")]
    .filter((e) => !e.matches("[aria-label]") && !e.querySelector("figcaption, svg[aria-label]"))
    .map((e) => e.outerHTML.slice(0, 120))"""
HEADLESS = """() => [...document.querySelectorAll("table")].filter((table) => {
    const heads = [...table.querySelectorAll("th")];
    const columns = table.tHead?.rows[0].cells.length;
    return !columns || heads.some((h) => !["col", "row"].includes(h.scope))
        || heads.filter((h) => h.scope === "col").length < columns;
}).map((e) => e.outerHTML.slice(0, 120))"""


def test_ux_57_pictures_and_tables_are_told_in_words(visit: Visit, origin: str) -> None:
    page = visit()

    def told(where: str) -> None:
        for check in (MUTE, NAMELESS, HEADLESS):
            assert page.evaluate(check) == [], where

    for name, query in STATES.items():
        show(page, query)
        assert page.locator("#ring svg[role=img]").count() > 0
        told(name)
    page.locator(".yours-open").click()
    expect(page.locator(".yours-parts svg").first).to_be_visible()
    told("your model")
    for address in PAGES:
        page.goto(origin + address)
        told(address)
