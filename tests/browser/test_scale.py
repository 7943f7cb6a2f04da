"""Readers at the real-scale panel of the lesson."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

import widgets
from py_core import evaluate, parse_scenario
from tests.browser.conftest import Watch
from tests.browser.reader import LESSON, until
from widgets import frame
from widgets.scale.widget import walk

SECOND = "scale-two"


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    expect(page.locator("#scale[data-alive]")).to_be_visible()
    return page


def skipped(page: Page, origin: str) -> Page:
    opened(page, origin + LESSON).locator("#scale-guess-skip").click()
    expect(page.locator("#scale table")).to_be_visible()
    expect(page.locator("#scale-guess-skip")).to_be_focused()
    return page


def busiest(page: Page, scheme: str) -> str:
    return page.locator(f'#scale table [data-q="{scheme}.sent_by_busiest"]').inner_text()


def shows(page: Page, query: str) -> None:
    """Until the table shows the Scenario of ``query``, figure by figure."""
    scenario = parse_scenario(query)
    for scheme in ("naive", "tree", "ring", "halving-doubling"):
        name = f"{scheme}.sent_by_busiest"
        shown = page.locator(f'#scale table [data-q="{name}"]')
        expect(shown).to_have_text(evaluate(name, scenario).display())


def spare(page: Page) -> int:
    """How far the page itself scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_a_guess_is_answered_and_stays(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    expect(page.locator("#scale table")).to_have_count(0)
    page.locator("#scale").get_by_role("button", name="环形翻一倍").click()
    truth = page.locator("#scale .guessed p")
    expect(truth).to_contain_text("没猜中。你猜的是「0 号卡一百多倍，环形翻一倍」")
    expect(truth).to_contain_text(evaluate("naive.growth_8_to_1024").display())
    expect(page.locator("#scale-guess-ring-doubles")).to_be_focused()
    page.locator("#scale-cards-slider").press("End")
    shows(page, "cards=1024")
    expect(truth).to_contain_text("没猜中")
    expect(page).to_have_url(origin + LESSON + "?scale.cards=1024&scale.guess=ring-doubles")
    text = page.locator("#scale [data-view]").inner_text()
    page.reload()
    shows(page, "cards=1024")
    assert page.locator("#scale [data-view]").inner_text() == text


def test_the_slider_by_keyboard_needs_no_python(page: Page, origin: str, watch: Watch) -> None:
    page.route("**/*.wasm", lambda route: route.abort())
    page.route("**/python.*.json", lambda route: route.abort())
    skipped(page, origin)
    slider = page.get_by_role("slider", name="卡数").first
    expect(slider).to_have_attribute("aria-valuetext", "8 张卡")
    for key, cards in [
        ("ArrowRight", 16),
        ("ArrowUp", 32),
        ("End", 1024),
        ("ArrowLeft", 512),
        ("Home", 8),
        ("ArrowRight", 16),
    ]:
        slider.press(key)
        expect(slider).to_have_attribute("aria-valuetext", f"{cards:,} 张卡")
        expect(slider).to_be_focused()
        expect(page.locator("#scale-cards")).to_have_value(str(cards))
        shows(page, f"cards={cards}")
    expect(page).to_have_url(origin + LESSON + "?scale.cards=16&scale.guess=skip")
    expect(page.locator("#scale")).to_have_attribute("python", "failed")
    watch.messages[:] = [m for m in watch.messages if "net::ERR_FAILED" not in m]


def test_a_typed_number(page: Page, origin: str) -> None:
    skipped(page, origin)
    box = page.locator("#scale-cards")
    box.fill("100")
    box.press("Enter")
    shows(page, "cards=100")
    expect(page.locator("#scale-cards-slider")).to_have_value("4")
    expect(page.locator("#scale-cards-slider")).to_have_attribute("aria-valuetext", "100 张卡")
    box.fill("1025")
    box.press("Enter")
    expect(page.locator("#scale .lw-notice")).to_contain_text("卡数要填 2 到 1,024 之间的整数")
    shows(page, "cards=100")
    box.fill("300")
    page.locator("#scale-gradient-fp32").click()
    shows(page, "cards=300&gradient=fp32")
    page.locator('#scale [data-tool="undo"]').click()  # both at once were one change
    shows(page, "cards=100")


def test_python_answers_for_another_model(page: Page, origin: str) -> None:
    skipped(page, origin)
    page.locator("#scale-model").select_option("deepseek-v3")
    shows(page, "model=deepseek-v3")
    page.locator("#scale-cards_per_node-8").click()
    page.locator("#scale-cards-slider").press("End")
    shows(page, "model=deepseek-v3&cards=1024")
    page.locator("#scale-time").click()
    scenario = parse_scenario("model=deepseek-v3&cards=1024&cards_per_node=8")
    for scheme in ("naive", "tree", "ring", "halving-doubling", "hierarchical"):
        shown = page.locator(f'#scale table [data-q="{scheme}.seconds"]')
        expect(shown).to_have_text(evaluate(f"{scheme}.seconds", scenario).display())
    expect(page.locator("#scale-time")).to_be_focused()
    expect(page.locator("#scale svg[role=img]")).to_have_count(3)
    page.locator('#scale [data-tool="reset"]').click()
    expect(page.locator("#scale table")).to_have_count(0)
    page.locator('#scale [data-tool="undo"]').click()
    expect(page.locator("#scale-model")).to_have_value("deepseek-v3")


def test_a_panel_opens_and_closes(page: Page, origin: str) -> None:
    skipped(page, origin)
    figure = page.locator('#scale table [data-q="ring.sent_by_busiest"]')
    figure.click()
    panel = page.locator("#scale .panel:popover-open")
    expect(panel).to_contain_text(busiest(page, "ring"))
    expect(panel).to_contain_text("环形")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(figure).to_be_focused()


def with_a_second_panel(page: Page) -> None:
    """Have the lesson delivered with another copy of the panel behind the first."""

    def deliver(route: Route) -> None:
        lesson = route.fetch()
        runtime = re.search(r'runtime="\.\./([^"]+)"', lesson.text())
        assert runtime
        copy = frame.element(
            widgets.widget("scale"),
            "guess=skip&cards=64",
            SECOND,
            "../",
            runtime[1],
            "",
        )
        route.fulfill(
            response=lesson, body=lesson.text().replace("</article>", f"{copy}</article>")
        )

    page.route(lambda url: url.endswith(LESSON), deliver)


def test_two_copies_keep_apart(page: Page, origin: str) -> None:
    with_a_second_panel(page)
    skipped(page, origin)
    expect(page.locator(f"#{SECOND}-cards")).to_have_value("64")
    page.locator(f"#{SECOND}-cards-slider").press("End")
    expect(page.locator(f"#{SECOND}-cards")).to_have_value("1024")
    expect(page.locator("#scale-cards")).to_have_value("8")
    expect(page).to_have_url(f"{origin}{LESSON}?scale.guess=skip&{SECOND}.cards=1024")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_built_frames_are_the_browsers_frames(page: Page, origin: str) -> None:
    skipped(page, origin)
    shipped = until(page, "lessonFrames.scale")
    assert sorted(shipped.values()) == sorted(
        widgets.render("scale", q, base="../") for q in walk()
    )
    assert len("".join(shipped.values()).encode()) < 300_000
    page.locator("#scale-model").select_option("gpt2")
    shows(page, "model=gpt2")
    ask = """async (query) => (await lessonPython(document.querySelector("#scale")
        .getAttribute("runtime")).ask({widget: "scale", query, id: "scale", base: "../"})).html"""
    for query in [*walk()[:3], "guess=skip&cards=100&cards_per_node=8&time=on&model=kimi-k2"]:
        assert page.evaluate(ask, query) == widgets.render("scale", query, base="../"), query


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_scrolls_sideways_but_the_table(
    browser: Browser, origin: str, width: int, scheme: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for query in (
        "",
        "?scale.guess=skip&scale.cards=64",
        "?scale.guess=neither&scale.cards=100&scale.cards_per_node=8&scale.time=on",
        "?scale.guess=skip&scale.cards=5&scale.model=kimi-k2&scale.gradient=fp32&scale.time=on",
    ):
        opened(page, origin + LESSON + query)
        if query:
            expect(page.locator("#scale table")).to_be_visible()
        assert spare(page) <= 0
        outside = page.locator("#scale").evaluate("""(widget) => {
            const edge = widget.getBoundingClientRect().right;
            return [...widget.querySelectorAll("[data-view] *")].filter((e) =>
                !e.closest(".lw-scroll, .panel, .lw-hidden")
                && e.getBoundingClientRect().right > edge
            ).map((e) => e.outerHTML.slice(0, 80));
        }""")
        assert outside == []
    context.close()


def test_without_javascript(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + LESSON)
    tables = page.locator("#scale table.scale-table:visible")
    assert tables.count() == 2  # both ends of the slider
    for name in ("naive.sent_by_busiest", "ring.sent_by_busiest", "naive.seconds"):
        shown = page.locator(f'#scale table [data-q="{name}"]').last.text_content()
        assert shown == evaluate(name, parse_scenario("cards=1024")).display()
    expect(page.locator("#scale-cards-slider")).to_have_count(0)
    context.close()


def test_no_frame_moves_a_button_from_under_the_pointer(page: Page, origin: str) -> None:
    skipped(page, origin)
    box = page.locator("#scale-cards")
    box.fill("1025")
    box.press("Enter")
    expect(page.locator("#scale .lw-notice")).to_be_visible()
    box.fill("300")
    button = page.locator("#scale-gradient-fp32")
    place = button.bounding_box()
    assert place
    page.mouse.move(place["x"] + 10, place["y"] + 10)
    page.mouse.down()  # leaves the box, whose 300 is taken; its notice would go
    page.wait_for_timeout(1500)
    assert button.bounding_box() == place
    page.mouse.up()
    shows(page, "cards=300&gradient=fp32")
