"""Progress through a lesson, and the way back to where the reader stopped."""

from __future__ import annotations

import json

from playwright.sync_api import Page, expect

from tests.browser.conftest import Watch
from tests.browser.reader import LESSON, until

PLACES = "JSON.parse(localStorage.getItem('lesson.places') ?? '{}')"
NAPS = "const later = window.setTimeout; window.setTimeout = (f, ms) => later(f, ms / 50);"


def scroll_to(page: Page, section: str) -> None:
    page.evaluate("id => document.getElementById(id).scrollIntoView()", section)
    until(page, f"Object.values({PLACES}).some(place => place.id === '{section}')")


def test_the_line_grows_and_read_sections_are_ticked(page: Page, origin: str) -> None:
    page.add_init_script(NAPS)  # five seconds on screen make a section a read one
    page.goto(origin + LESSON)
    line = page.get_by_role("progressbar", name="这一页读到哪里")
    assert line.evaluate("e => e.value") == 0
    scroll_to(page, "ring-twice")
    assert 0.2 < line.evaluate("e => e.value") < 0.6
    link = page.locator(".md-nav--secondary a[href='#ring-twice']").last
    expect(link).to_have_accessible_name("环形每张卡要发多少 读过")
    page.keyboard.press("End")
    until(page, "document.querySelector('.lesson-progress').value === 1")
    page.reload()
    expect(link).to_have_accessible_name("环形每张卡要发多少 读过")


def test_the_way_back_to_where_one_stopped(page: Page, origin: str) -> None:
    page.goto(origin + LESSON)
    expect(page.locator(".resume")).to_have_count(0)
    scroll_to(page, "buckets")
    page.goto(origin + "/")
    bar = page.get_by_role("complementary", name="上次读到")
    expect(bar).to_contain_text("上次读到《数据并行：一张卡不够，就用很多张》里的「别等反向算完」")
    bar.get_by_role("link", name="接着读").click()
    page.wait_for_url(f"**{LESSON}#buckets")
    expect(page.locator("#buckets")).to_be_in_viewport()
    expect(bar).to_have_count(0)  # one is there already


def test_on_the_lesson_itself_and_forgotten_when_asked(page: Page, origin: str) -> None:
    page.goto(origin + LESSON)
    scroll_to(page, "rule")
    page.evaluate("history.scrollRestoration = 'manual'")
    page.reload()
    bar = page.locator(".resume")
    expect(bar).to_contain_text("上次读到「一条规律」")
    before = page.locator("#ledger").bounding_box()
    bar.get_by_role("button", name="忘掉").click()
    expect(bar).to_have_count(0)
    assert page.locator("#ledger").bounding_box() == before  # nothing moves
    assert page.evaluate(PLACES) == {}


def test_reading_on_is_an_answer_too(page: Page, origin: str) -> None:
    page.goto(origin + LESSON)
    scroll_to(page, "rule")
    page.evaluate("history.scrollRestoration = 'manual'")
    page.reload()
    expect(page.locator(".resume")).to_be_visible()
    scroll_to(page, "ledger")
    expect(page.locator(".resume")).to_have_count(0)


def test_other_pages_and_odd_notes_are_left_alone(page: Page, origin: str) -> None:
    page.goto(origin + "/figures/")
    expect(page.locator(".lesson-progress")).to_have_count(0)
    page.evaluate("localStorage.setItem('lesson.places', JSON.stringify({'/x/': 7, '/y/': null}))")
    page.goto(origin + "/")
    expect(page.locator(".resume")).to_have_count(0)
    page.evaluate("localStorage.setItem('lesson.places', '<nonsense')")
    page.goto(origin + LESSON)
    scroll_to(page, "ledger")
    assert list(page.evaluate(PLACES)) == [LESSON]
    words = json.dumps({LESSON: {"id": "a", "section": "<img src=x onerror=alert(1)>", "read": []}})
    page.evaluate("words => localStorage.setItem('lesson.places', words)", words)
    page.goto(origin + "/")
    expect(page.locator(".resume")).to_contain_text("<img src=x")
    expect(page.locator(".resume img")).to_have_count(0)


def test_without_storage_the_line_is_there_all_the_same(
    page: Page, origin: str, watch: Watch
) -> None:
    page.add_init_script("""Object.defineProperty(globalThis, "localStorage", {
        get() { throw new DOMException("forbidden", "SecurityError"); }});""")
    page.goto(origin + LESSON)
    page.keyboard.press("End")
    until(page, "document.querySelector('.lesson-progress').value === 1")
    assert not [m for m in watch.messages if "progress" in m]
    watch.messages.clear()  # the theme does need its storage
