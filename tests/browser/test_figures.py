"""Figures in prose and in widgets: their panels, by mouse, keyboard, phone and on paper."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.reader import LESSON, at_step, opened, set_cards

PANEL = "#fig-ring-sent-per-card-cards-8"


def figure(page: Page, text: str):
    return page.locator("article > p button.q", has_text=text).first


def open_panels(page: Page) -> list[str]:
    return page.locator(".panel:popover-open").evaluate_all("panels => panels.map(p => p.id)")


def test_a_click_opens_and_a_click_elsewhere_closes(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    top = "[...document.querySelectorAll('article > p')].at(-1).getBoundingClientRect().y + scrollY"
    before = page.evaluate(top)
    figure(page, "97.2 GB").click()
    panel = page.locator(PANEL)
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("2 × (N − 1) ÷ N × G = 2 × 7 ÷ 8 × 55.563 GB = 97.2 GB")
    expect(panel).to_contain_text("精确值 97,234,997,832 字节")
    assert page.evaluate(top) == before  # nothing moves
    page.mouse.click(20, 500)
    expect(panel).to_be_hidden()


def test_inputs_lead_down_to_the_config(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    figure(page, "97.2 GB").click()
    page.locator(PANEL).get_by_role("button", name="55.563 GB").click()
    page.locator("#fig-gradient-bytes").get_by_role("button", name="27,781,427,952").click()
    page.locator("#fig-model-parameters").get_by_role("button", name="1,271,398,400").first.click()
    assert len(open_panels(page)) == 4
    link = page.locator(".panel:popover-open").get_by_role("link", name="Qwen3.8-27B 的配置").first
    with page.expect_navigation():
        link.click()
    assert page.url == origin + "/data/anchor-model.json"


def test_keyboard_alone(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    first = figure(page, "97.2 GB")
    first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(PANEL)).to_be_focused()
    page.keyboard.press("Tab")
    inner = page.locator(PANEL).get_by_role("button", name="55.563 GB")
    expect(inner).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#fig-gradient-bytes")).to_be_focused()
    page.keyboard.press("Escape")
    expect(inner).to_be_focused()
    page.keyboard.press("Escape")
    expect(first).to_be_focused()
    assert open_panels(page) == []


def test_a_panel_that_the_keyboard_leaves_closes(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    figure(page, "97.2 GB").focus()
    page.keyboard.press("Enter")
    page.locator(PANEL).get_by_role("button", name="55.563 GB").focus()
    page.keyboard.press("Enter")
    deeper = page.locator("#fig-gradient-bytes")
    expect(deeper).to_be_focused()
    for last in (deeper, page.locator(PANEL)):
        last.get_by_role("button", name="关闭").focus()
        expect(last).to_be_visible()
        page.keyboard.press("Tab")
        expect(last).to_be_hidden()
    assert page.evaluate("document.activeElement !== document.body")


def test_the_close_button(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    figure(page, "97.2 GB").click()
    page.locator(PANEL).get_by_role("button", name="关闭").click()
    expect(page.locator(PANEL)).to_be_hidden()
    expect(figure(page, "97.2 GB")).to_be_focused()


def test_used_elsewhere_leads_there_and_closes(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    first, second, *_ = (
        f for f in page.locator("article > p button.q").all() if f.inner_text() == "64"
    )
    first.click()
    target = second.get_attribute("id")
    link = page.locator(f'.panel:popover-open a[href="#{target}"]')
    expect(link).to_have_text("环形每张卡要发多少")
    link.click()
    expect(page.locator(".panel:popover-open")).to_have_count(0)
    assert page.url.endswith(f"#{target}")


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_it_is_a_sheet(browser: Browser, origin: str, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 700}, has_touch=True)
    page = context.new_page()
    opened(page, origin + LESSON)
    figure(page, "97.2 GB").tap()
    box = page.locator(PANEL).bounding_box()
    assert box
    assert box["x"] == 0
    assert box["width"] == width
    assert box["y"] + box["height"] == pytest.approx(700, abs=1)
    close = page.locator(PANEL).get_by_role("button", name="关闭").bounding_box()
    assert close
    assert min(close["width"], close["height"]) >= 24
    assert page.evaluate("document.documentElement.scrollWidth") == width
    context.close()


def test_without_javascript_panels_open_all_the_same(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + LESSON)
    figure(page, "97.2 GB").click()
    expect(page.locator(PANEL)).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(PANEL)).to_be_hidden()
    context.close()


def test_on_paper_the_panels_are_a_list(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.emulate_media(media="print")
    expect(page.get_by_text("本页的数与出处")).to_be_visible()
    for panel in page.locator("article > .panels > .panel").all():
        expect(panel).to_be_visible()
        expect(panel.locator(".panel-close")).to_be_hidden()


def test_on_paper_the_list_holds_the_figures_of_widgets(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    set_cards(page, 5)
    at_step(page, 0, 8)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    listed = page.locator("article > .panels > .panel")
    shown = page.locator("#ring .ring-scale button.q").evaluate_all(
        "buttons => buttons.map(b => b.dataset.q)"
    )
    assert shown
    for name in shown:
        copy = listed.and_(page.locator(f'[data-figure="{name}"]')).last
        expect(copy).to_be_visible()
    texts = [text.strip() for text in listed.all_inner_texts()]
    assert len(set(texts)) == len(texts)  # each figure once
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)
    count = listed.count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert listed.count() < count


def test_the_same_figure_in_prose_and_in_a_widget(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    figure(page, "55.6 GB").click()
    uses = page.locator(".panel:popover-open .panel-uses")
    expect(uses.get_by_role("link", name="一步步走一遍")).to_have_count(0)
    widget = uses.get_by_role("link", name="all-reduce 步进器")
    expect(widget).to_be_visible()
    page.keyboard.press("Escape")
    page.locator('#ring button.q[data-q="gradient.bytes"]').first.click()
    inside = page.locator("#ring .panel:popover-open .panel-uses")
    expect(inside.get_by_role("link", name="你手里已经有的账")).to_be_visible()


PARTED = """() => {
  const parted = [];
  for (const button of document.querySelectorAll("article button.q")) {
    const box = button.getBoundingClientRect();
    if (!box.width || button.closest(".panel")) continue;
    const beside = [["nextSibling", /^[，。、；：？！）」]/], ["previousSibling", /[（「]$/]];
    for (const [step, pattern] of beside) {
      let node = button;
      const inline = (e) => getComputedStyle(e).display === "inline";
      while (!node[step] && inline(node.parentNode)) node = node.parentNode;
      const text = node[step];
      if (text?.nodeType !== Node.TEXT_NODE || !pattern.test(text.data)) continue;
      const at = step === "nextSibling" ? 0 : text.data.length - 1;
      const range = document.createRange();
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      const sign = range.getBoundingClientRect();
      if (sign.top > box.bottom - 4 || sign.bottom < box.top + 4) parted.push(text.data);
    }
  }
  return parted;
}"""


def test_no_line_begins_with_the_comma_behind_a_figure(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    assert page.locator(".keep button.q").count() > 10
    for width in range(320, 420, 7):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(PARTED) == [], width


def test_figures_in_a_widget_have_panels_too(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.locator("#ring .ring-scale button.q").last.click()
    expect(page.locator("#ring-fig-ring-sent-per-card-cards-4")).to_be_visible()
    page.keyboard.press("Escape")
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.locator("#ring .ring-scale button.q", has_text="97.2 GB").click()
    panel = page.locator("#ring-fig-ring-sent-per-card-cards-8")
    expect(panel).to_contain_text("2 × 7 ÷ 8 × 55.563 GB")
    # An Escape or an arrow key in the panel is not a step of the stepper.
    page.keyboard.press("ArrowRight")
    at_step(page, 0, 14)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    at_step(page, 0, 14)


def test_panels_have_names(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    figure(page, "97.2 GB").click()
    expect(page.get_by_role("dialog", name="97.2 GB")).to_be_visible()


def test_a_term_is_explained_while_the_pointer_rests_on_it(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    term, panel = page.locator("button.term").first, page.locator("#term-all-reduce")
    focused = page.evaluate("document.activeElement.tagName")
    term.hover()
    expect(panel).to_be_visible()
    assert page.evaluate("document.activeElement.tagName") == focused
    panel.hover()  # it stays for as long as one reads it
    page.wait_for_timeout(400)
    expect(panel).to_be_visible()
    page.mouse.move(5, 400)
    expect(panel).to_be_hidden()
    term.hover()
    expect(panel).to_be_visible()
    term.click()  # and a click keeps it
    expect(panel).to_be_focused()
    page.mouse.move(5, 400)
    page.wait_for_timeout(400)
    expect(panel).to_be_visible()


def test_a_term_is_explained_when_the_keyboard_comes_to_it(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    term, panel = page.locator("button.term").first, page.locator("#term-all-reduce")
    expect(term).to_have_accessible_description(panel.locator("#term-all-reduce-says").inner_text())
    figure(page, "8").focus()
    page.keyboard.press("Tab")
    expect(term).to_be_focused()
    expect(panel).to_be_visible()
    expect(term).to_be_focused()
    page.keyboard.press("Enter")
    expect(panel).to_be_focused()
    page.keyboard.press("Escape")
    expect(term).to_be_focused()
    page.wait_for_timeout(400)
    expect(panel).to_be_hidden()
    page.keyboard.press("Tab")
    expect(page.locator("button.term").nth(1)).to_be_focused()
    expect(page.locator("#term-bucket")).to_be_visible()
