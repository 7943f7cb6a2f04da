"""Links to a state of a widget, and the things to try that begin with one (UX 37, 40)."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Lesson, Watch
from tests.browser.reader import (
    LESSON,
    at_step,
    button,
    cells,
    frame_text,
    listen,
    opened,
    ready,
    shows,
)


def task(page: Page, name: str):
    return page.locator(f'.task:has([data-ticks="{name}"])')


def test_ux_37_a_link_sets_the_stepper_in_place(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    ready(page)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    before = frame_text(page)
    listen(page)
    page.evaluate("globalThis.same = true")
    length = page.evaluate("history.length")
    page.get_by_role("link", name="二项树").first.click()
    shows(page, mode="tree", n=8, step=6)
    expect(page.locator("#ring [data-total]")).to_have_text("112 块")
    expect(page).to_have_url(f"{origin}{LESSON}?ring.mode=tree&ring.n=8&ring.step=6#ring")
    expect(page.locator("#ring")).to_be_in_viewport()
    expect(page.locator("#ring")).to_be_focused()
    assert page.evaluate("same")  # the page was not loaded again
    assert page.evaluate("history.length") == length  # UX 40
    assert len(page.evaluate("said")) == 1
    button(page, "撤销").click()
    at_step(page, 1, 6)
    assert frame_text(page) == before


def test_ux_37_another_step_alone_can_be_undone_too(lesson: Lesson) -> None:
    page = lesson("?ring.mode=reduce-scatter&ring.step=2")
    at_step(page, 2, 3)
    page.get_by_role("link", name="只做 reduce-scatter").first.click()
    at_step(page, 0, 3)
    button(page, "撤销").click()
    at_step(page, 2, 3)


@pytest.mark.parametrize(
    "click", [{"modifiers": ["ControlOrMeta"]}, {"button": "middle"}], ids=["modifier", "middle"]
)
def test_a_link_opened_elsewhere_leaves_this_page_alone(
    page: Page, origin: str, click: dict[str, object]
) -> None:
    opened(page, origin + LESSON)
    with page.context.expect_page() as other:
        page.get_by_role("link", name="只做 all-gather").first.click(**click)
    at_step(other.value, 0, 3)
    at_step(page, 0, 6)


def test_a_link_that_asks_for_more_than_widgets_loads_the_page(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.evaluate("""() => {
        document.querySelector(".task a").href = "?cards=64&ring.mode=naive#ring";
    }""")
    with page.expect_navigation():
        page.locator(".task a").first.click()
    shows(page, mode="naive", step=0)
    expect(page).to_have_url(f"{origin}{LESSON}?cards=64&ring.mode=naive#ring")


def test_ux_37_tasks_begin_with_a_click_and_are_ticked_when_seen(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    for name in ("ring.naive", "ring.naive-8", "ring.ring", "scale.grow"):
        expect(task(page, name).locator(".task-seen")).to_be_hidden()
    # (a) naive, with four cards and then with eight
    task(page, "ring.naive").get_by_role("link").click()
    shows(page, mode="naive", n=4, step=0)
    listen(page)
    page.keyboard.press("End")  # the widget has the focus
    at_step(page, 6, 6)
    assert cells(page, "received") == [12, 4, 4, 4]
    expect(task(page, "ring.naive").locator(".task-seen")).to_be_visible()
    assert [words.endswith("✓ 看到了") for words in page.evaluate("said")] == [True]
    task(page, "ring.naive-8").get_by_role("link").click()
    shows(page, mode="naive", n=8, step=0)
    expect(task(page, "ring.naive-8").locator(".task-seen")).to_be_hidden()
    page.keyboard.press("End")
    expect(task(page, "ring.naive-8").locator(".task-seen")).to_be_visible()
    # (b) the ring
    task(page, "ring.ring").get_by_role("link").click()
    at_step(page, 0, 6)
    page.keyboard.press("End")
    expect(task(page, "ring.ring").locator(".task-seen")).to_be_visible()
    assert cells(page, "largest") == [0]
    # (c) the real scale, behind a guess
    task(page, "scale.grow").get_by_role("link").click()
    expect(page.locator("#scale")).to_be_in_viewport()
    page.locator("#scale-guess-ring-stays").click()
    expect(task(page, "scale.grow").locator(".task-seen")).to_be_hidden()
    page.locator("#scale-cards-slider").press("End")
    expect(task(page, "scale.grow").locator(".task-seen")).to_be_visible()
    # The ticks are this reader's, not the link's.
    page.goto(origin + LESSON)
    expect(page.locator(".task-seen:visible")).to_have_count(4)


def test_without_storage_tasks_are_ticked_for_the_visit(
    page: Page, origin: str, watch: Watch
) -> None:
    page.add_init_script("""Object.defineProperty(globalThis, "localStorage", {
        get() { throw new DOMException("forbidden", "SecurityError"); }});""")
    opened(page, origin + LESSON)
    button(page, "最后").click()
    expect(task(page, "ring.ring").locator(".task-seen")).to_be_visible()
    watch.messages.clear()  # the theme does need its storage


def test_without_javascript_links_load_the_page(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + LESSON)
    with page.expect_navigation():
        page.locator(".task a").first.click()
    assert page.url == f"{origin}{LESSON}?ring.mode=naive#ring"
    context.close()


def test_from_the_file_system_links_work_in_place(browser: Browser, site: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto((site / "data-parallel/index.html").as_uri())
    page.evaluate("globalThis.same = true")
    page.get_by_role("link", name="只做 all-gather").first.click()
    at_step(page, 0, 3)
    assert page.evaluate("same")
    context.close()


# What a reader has folded out stays so


def test_a_reader_opened_detail_stays_open(lesson: Lesson) -> None:
    page = lesson()
    summary = page.locator("#ring .ring-measured summary")
    summary.click()
    table = page.locator("#ring .ring-measured table")
    expect(table).to_be_visible()
    for step in (1, 2):
        button(page, "下一步").click()
        at_step(page, step, 6)
        expect(table).to_be_visible()
    page.locator("#ring [data-tool=reset]").click()
    at_step(page, 0, 6)
    expect(table).to_be_visible()
    summary.click()
    button(page, "下一步").click()
    at_step(page, 1, 6)
    expect(table).to_be_hidden()
