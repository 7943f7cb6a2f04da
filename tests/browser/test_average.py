"""Readers at the two means."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from py_core import evaluate, parse_scenario
from tests.browser.reader import LESSON


def opened(page: Page, origin: str) -> Page:
    page.goto(origin + LESSON)
    expect(page.locator("#average[data-alive]")).to_be_visible()
    return page


def shows(page: Page, n0: int, n1: int) -> None:
    scenario = parse_scenario(f"tokens_card0={n0}&tokens_card1={n1}")
    for name in ("averaging.mean_of_means", "averaging.best_weighted"):
        figure = page.locator(f'#average .average-table [data-q="{name}"]')
        expect(figure).to_have_text(evaluate(name, scenario).display())


def test_ux_36_37_guess_presets_and_ticks(page: Page, origin: str) -> None:
    opened(page, origin)
    ticks = [page.locator(f"[data-ticks='average.{t}']") for t in ("example", "agree", "worst")]
    page.locator("#average").get_by_role("button", name="1 号卡的更重").click()
    expect(page.locator("#average .guessed")).to_contain_text("猜中了")
    shows(page, 30_000, 20_000)
    expect(ticks[0]).to_be_visible()
    page.locator("#average").get_by_role("button", name="一样长").click()
    shows(page, 25_000, 25_000)
    expect(page.locator("#average .average-says")).to_contain_text("两种平均也一样")
    expect(ticks[1]).to_be_visible()
    expect(ticks[2]).to_be_hidden()
    page.locator("#average").get_by_role("button", name="最坏").click()
    shows(page, 32_768, 100)
    expect(ticks[2]).to_be_visible()
    expect(page.locator("#average .guessed")).to_contain_text("猜中了")


def test_sliders_and_boxes_through_python(page: Page, origin: str) -> None:
    opened(page, origin).locator("#average-guess-skip").click()
    page.locator("#average-tokens1-slider").press("ArrowRight")
    shows(page, 30_000, 21_000)
    box = page.locator("#average-tokens0")
    box.fill("12345")
    box.press("Enter")
    shows(page, 12_345, 21_000)
    box.fill("99")
    box.press("Enter")
    expect(page.locator("#average-tokens0-error")).to_contain_text("仍用 12345")
    page.reload()
    shows(page, 12_345, 21_000)
