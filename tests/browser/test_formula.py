"""Readers at the formula that they click."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from py_core import evaluate, parse_scenario
from tests.browser.reader import LESSON


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    expect(page.locator("#formula[data-alive]")).to_be_visible()
    return page


def skipped(page: Page, origin: str) -> Page:
    opened(page, origin + LESSON).locator("#formula-guess-skip").click()
    expect(page.locator("#formula .formula-line")).to_be_visible()
    return page


def sent(page: Page, query: str) -> None:
    shown = page.locator("#formula-value-sent")
    expect(shown).to_have_text(evaluate("ring.sent_per_card", parse_scenario(query)).display())


def test_ux_36_a_guess_comes_first_and_stays(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.locator("#formula").get_by_role("button", name="变成八倍").click()
    told = page.locator("#formula .guessed p")
    expect(told).to_contain_text("没猜中。你猜的是「变成八倍」")
    expect(told).to_contain_text("1.97")
    sent(page, "cards=64")
    page.locator("#formula-cards-slider").press("Home")
    sent(page, "cards=2")
    expect(told).to_contain_text("没猜中")


def test_ux_30_31_factors_by_keyboard(page: Page, origin: str) -> None:
    skipped(page, origin)
    line = page.locator("#formula .formula-line")
    factors = [line.get_by_role("button", name=name) for name in ("2，两段", "N 减 1", "N，分成")]
    factors[0].focus()
    page.keyboard.press("ArrowRight")
    expect(factors[1]).to_be_focused()
    page.keyboard.press("Enter")
    expect(factors[1]).to_have_attribute("aria-expanded", "true")
    expect(factors[1]).to_be_focused()
    region = page.locator(f"#{factors[1].get_attribute('aria-controls')}")
    expect(region).to_contain_text("每段走这么多步")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Space")
    expect(factors[2]).to_have_attribute("aria-expanded", "true")
    expect(region).to_contain_text("每一步只传一块")
    page.keyboard.press("Escape")
    expect(factors[2]).to_have_attribute("aria-expanded", "false")
    expect(factors[2]).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # the first one; there is none before it
    expect(factors[0]).to_be_focused()


def test_ux_34_what_changes_is_marked_for_a_moment(page: Page, origin: str) -> None:
    skipped(page, origin)
    page.locator("#formula-cards-slider").press("End")
    marked = page.locator("#formula .changed")
    expect(marked).to_have_count(3)  # steps, blocks and the result; not 2, not G
    expect(page.locator("#formula-value-phases.changed")).to_have_count(0)
    expect(marked).to_have_count(0)
    sent(page, "cards=1024")


def test_ux_35_the_formula_is_mathml_and_text(page: Page, origin: str) -> None:
    skipped(page, origin)
    line = page.locator("#formula .formula-copy")
    assert line.locator("math mfrac").count() == 1
    expect(line).to_contain_text("2 × 7 ÷ 8 × 55.563 GB = 97.2 GB")


def test_other_models_and_any_number_through_python(page: Page, origin: str) -> None:
    skipped(page, origin)
    page.locator("#formula-model").select_option("qwen3-8b")
    sent(page, "cards=8&model=qwen3-8b")
    box = page.locator("#formula-cards")
    box.fill("21")
    box.press("Enter")
    sent(page, "cards=21&model=qwen3-8b")
    expect(page).to_have_url(re.compile(r"formula\.cards=21"))
    box.fill("1025")
    box.press("Enter")
    expect(page.locator("#formula-cards-error")).to_contain_text("仍用 21")
    sent(page, "cards=21&model=qwen3-8b")
    text = page.locator("#formula .formula-says").inner_text()
    page.reload()
    expect(page.locator("#formula .formula-says")).to_have_text(text)


def test_ux_37_the_three_things_lead_there_and_are_ticked(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    items = page.locator("ol:has([data-ticks='formula.guess']) > li")
    expect(items).to_have_count(3)
    items.nth(1).get_by_role("link").click()
    expect(page.locator("#formula [data-frame]")).to_be_visible()
    if page.locator("#formula-guess-skip").inner_text().startswith("不猜"):
        page.locator("#formula-guess-skip").click()
    box = page.locator("#formula-cards")
    box.fill("21")
    box.press("Enter")
    expect(page.locator("[data-ticks='formula.above']")).to_be_visible()
    expect(page.locator("[data-ticks='formula.other']")).to_be_hidden()


def test_ux_29_nothing_scrolls_sideways_on_a_phone(page: Page, origin: str) -> None:
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 800})
        opened(page, f"{origin}{LESSON}?formula.guess=skip&formula.term=steps&formula.cards=1024")
        expect(page.locator("#formula .formula-line")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == width
