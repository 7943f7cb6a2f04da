"""A browser older than popovers: the page reads, steps and computes; figures do not open."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.hosts import Host, started
from tests.browser.reader import LESSON, at_step, button, opened, ready, set_cards

# Such a browser keeps the attribute; this one must not know it for what it is.
UNKNOWN = {
    "<div popover ": "<div data-popover ",
    "[popover]": "[data-popover]",
    ":popover-open": ":unknown",
}
OLDER = """for (const name of ["popover", "showPopover", "hidePopover", "togglePopover"]) {
    delete HTMLElement.prototype[name];
}"""
READING = (".html", ".js", ".css")


def test_without_popovers(page: Page, watch: Watch, site: Path, tmp_path: Path) -> None:
    shutil.copytree(site, tmp_path, dirs_exist_ok=True)
    for file in tmp_path.rglob("*"):
        if file.suffix in READING:
            text = file.read_text("utf-8")
            for known, unknown in UNKNOWN.items():
                text = text.replace(known, unknown)
            file.write_text(text, "utf-8")
    page.add_init_script(OLDER)
    with started(Host(tmp_path)) as host:
        watch.origin = host.origin
        opened(page, host.origin + LESSON)
        expect(page.locator(".panel").first).to_be_attached()
        expect(page.locator(".panel:visible, .yours-open:visible")).to_have_count(0)
        button(page, "下一步").click()
        at_step(page, 1, 6)
        page.keyboard.press("ArrowRight")
        at_step(page, 2, 6)
        page.locator("article button.q").first.click()
        ready(page)
        set_cards(page, 8)
        at_step(page, 0, 14)
        page.goto(f"{host.origin}{LESSON}?cards=64")
        expect(page.locator("html[data-scenario*='cards=64']")).to_be_attached()
