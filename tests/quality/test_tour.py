"""A full tour: whatever was pressed and chosen, ids and what speaks of them stay in order, and
the console silent (the ``page`` of the tests sees to that, warnings included)."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.reader import LESSON, opened, ready
from tests.quality.test_access import NAMES, PAGES, STATES, show

DISORDER = """() => {
    const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
    const there = new Set(ids);
    const twice = ids.filter((id, i) => ids.indexOf(id) !== i);
    const gone = [];
    for (const name of ["for", "popovertarget", "aria-controls", "aria-describedby",
            "aria-labelledby"]) {
        for (const e of document.querySelectorAll(`[${name}]`)) {
            const ids = e.getAttribute(name).split(" ");
            if (!ids.every((id) => there.has(id))) gone.push(e.outerHTML.slice(0, 120));
        }
    }
    for (const e of document.querySelectorAll("article a[href^='#'], .panel a[href^='#']")) {
        if (!there.has(decodeURIComponent(e.hash.slice(1)))) gone.push(e.outerHTML);
    }
    for (const e of document.querySelectorAll("[fill^='url(#'], [marker-end]")) {
        const url = e.getAttribute("fill") ?? e.getAttribute("marker-end");
        if (!there.has(url.slice(5, -1))) gone.push(e.outerHTML);
    }
    return {twice, gone};
}"""


def in_order(page: Page, where: str) -> None:
    assert page.evaluate(DISORDER) == {"twice": [], "gone": []}, where


def test_ux_46_a_full_tour(page: Page, origin: str, watch: Watch) -> None:
    for address in PAGES[:-1]:
        page.goto(origin + address)
        in_order(page, address)
    opened(page, origin + LESSON)
    in_order(page, "as it comes")
    ready(page)
    for name, query in STATES.items():
        show(page, query)
        in_order(page, name)
    every_panel(page)
    page.locator(".yours-open").click()
    for model in ("deepseek-v3", "gpt2", "qwen3-8b"):
        page.locator("#yours-model").select_option(model)
        followed = re.compile(f"model={model}")
        expect(page.locator("html")).to_have_attribute("data-scenario", followed)
        for name in ("scale", "formula", "overlap"):
            frame = page.locator(f"#{name} [data-full]").first
            expect(frame).to_have_attribute("data-full", followed)
        in_order(page, model)
    page.keyboard.press("Escape")
    every_panel(page)
    for name in NAMES:
        page.locator(f"#{name} [data-tool=undo]").click()
        page.locator(f"#{name} [data-tool=reset]").click()
    in_order(page, "reset")
    page.locator(".yours-open").click()
    page.locator("[data-forget]").click()
    expect(page.locator("html[data-scenario]")).to_have_count(0)
    in_order(page, "forgotten")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    in_order(page, "on paper")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert not [url for url in watch.requests if url.endswith(".map")]


def every_panel(page: Page) -> None:
    """Each figure and word of the page that can be seen, opened and closed."""
    shut = page.evaluate("""async () => {
        const shut = [];
        for (const button of document.querySelectorAll("article button.q")) {
            if (!button.checkVisibility() || button.closest(".panel")) continue;
            button.click();
            await new Promise(requestAnimationFrame);
            const open = document.querySelector(".panel:popover-open");
            if (!open?.textContent.trim()) shut.push(button.outerHTML);
            open?.hidePopover();
        }
        return shut;
    }""")
    assert shut == []
