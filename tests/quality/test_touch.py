"""Fingers on the experiments (UX 55): swipes, taps, a long press, and the page beneath."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reader import LESSON, opened, ready, until


@pytest.fixture
def phone(browser: Browser, origin: str) -> Iterator[Page]:
    context = browser.new_context(
        locale="zh-CN", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    page = opened(context.new_page(), origin + LESSON + "?overlap.guess=skip")
    ready(page)
    yield page
    context.close()


def touch(page: Page, *points: tuple[float, float], hold: int = 0) -> None:
    """A finger goes down on the first point, over the others, and up."""
    devtools = page.context.new_cdp_session(page)

    def send(kind: str, *at: tuple[float, float]) -> None:
        touched = [{"x": x, "y": y} for x, y in at]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    send("touchStart", points[0])
    page.wait_for_timeout(hold)
    for point in points[1:]:
        send("touchMove", point)
        page.wait_for_timeout(20)
    send("touchEnd")


def line(
    start: tuple[float, float], end: tuple[float, float], steps: int = 12
) -> list[tuple[float, float]]:
    (x0, y0), (x1, y1) = start, end
    parts = [i / steps for i in range(steps + 1)]
    return [(x0 + (x1 - x0) * p, y0 + (y1 - y0) * p) for p in parts]


def box(page: Page, selector: str) -> tuple[float, float, float, float]:
    """Left, top, width and height of what is scrolled into the middle of the screen."""
    page.locator(selector).evaluate("e => e.scrollIntoView({block: 'center', behavior: 'instant'})")
    found = page.locator(selector).bounding_box()
    assert found
    return found["x"], found["y"], found["width"], found["height"]


@pytest.mark.parametrize(
    ("slider", "box_of", "shown"),
    [("#ring-step", "#ring .ring-counter", "第 6 步"), ("#overlap-tokens-slider", "", "65536")],
)
def test_ux_55_a_swipe_moves_a_slider_and_not_the_page(
    phone: Page, slider: str, box_of: str, shown: str
) -> None:
    x, y, width, height = box(phone, slider)
    before = phone.evaluate("scrollY")
    touch(phone, *line((x + 4, y + height / 2), (x + width - 1, y + height / 2)))
    if box_of:
        expect(phone.locator(box_of)).to_contain_text(shown)
    else:
        expect(phone.locator("#overlap-tokens")).to_have_value(shown)
    assert phone.evaluate("scrollY") == before


def test_ux_55_the_timeline_by_taps(phone: Page) -> None:
    box(phone, "#overlap .overlap-time")
    phone.locator("#overlap .overlap-bar").nth(2).tap()
    expect(phone.locator("#overlap .overlap-bar[aria-current]")).to_have_count(1)
    bucket = phone.locator("#overlap .overlap-bucket strong")
    first = bucket.inner_text()
    phone.locator("#overlap-bucket-next").tap()
    expect(bucket).not_to_have_text(first)
    for button in ("in", "right", "whole"):
        before = phone.locator("#overlap [data-frame]").get_attribute("data-full") or ""
        phone.locator(f"#overlap-view-{button}").tap()
        expect(phone.locator("#overlap [data-frame]")).not_to_have_attribute("data-full", before)
    phone.locator("#overlap-pin").tap()
    expect(phone.locator("#overlap .ghost rect")).not_to_have_count(0)
    phone.locator("#overlap-mode-sync").tap()
    expect(phone.locator("#overlap [data-frame]")).to_have_attribute(
        "data-full", re.compile("mode=sync")
    )


def test_ux_28_55_a_table_scrolls_in_its_frame_and_the_page_beneath(phone: Page) -> None:
    frame = "#overlap .lw-scroll:has(.overlap-table)"
    phone.locator("#overlap-table").tap()
    x, y, width, height = box(phone, frame)
    middle = y + height / 2
    assert phone.locator(frame).evaluate("e => e.scrollLeft") == 0
    touch(phone, *line((x + width - 10, middle), (x + 30, middle)))
    until(phone, f"document.querySelector('{frame}').scrollLeft > 20")
    assert phone.evaluate("scrollX") == 0
    before = phone.evaluate("scrollY")
    touch(phone, *line((x + width / 2, middle), (x + width / 2, middle - 200)))
    until(phone, f"scrollY > {before} + 100")


def test_ux_55_a_long_press_marks_no_words(phone: Page) -> None:
    for control in ("#ring-next", "#overlap-view-in", "#average-guess-skip"):
        x, y, width, height = box(phone, control)
        touch(phone, (x + width / 2, y + height / 2), hold=900)
        assert phone.evaluate("getSelection().toString()") == "", control
