"""The two figures of the lesson for everybody: rules of accessibility, sizes, paper, zoom."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

import widgets
from tests.browser.axe import violations
from tests.browser.reader import LESSON, at_step, opened, ready
from widgets.state import parse

# A key of each figure with its default value: whatever the query leaves out goes back.
TAKE = """(query) => {
    for (const [id, key] of [["ring", "ring.seed=7"], ["scale", "scale.gradient=bf16"]]) {
        document.getElementById(id).take(new URLSearchParams(`${key}&${query}`));
    }
}"""

# Both figures at once, so that few rounds show every state.
STATES = {
    "initial, prompt": "",
    "mid-run, guessed": "ring.step=2&scale.guess=ring-doubles&scale.cards=64",
    "final, with time": "ring.step=6&scale.guess=skip&scale.cards=1024&scale.time=on",
    "compare, refused": "ring.mode=tree&ring.with=ring&ring.n=8&ring.step=3"
    "&scale.guess=skip&scale.cards=100&scale.cards_per_node=8&scale.time=on",
    "predict, uneven": "ring.predict=on&ring.step=2&ring.guess=1&ring.n=5&ring.elements=17",
    "sixteen": "ring.n=16&ring.step=5",
    "limits": "ring.mode=limits",
    "notices": "ring.n=99&ring.elements=3&scale.cards=x&scale.guess=skip",
}
WIDTHS = (390, 1280)


def show(page: Page, query: str) -> None:
    """Both figures in the state of ``query``, with everything folded out."""
    page.evaluate(TAKE, query)
    for name in ("ring", "scale"):
        own = [(k.removeprefix(f"{name}."), v) for k, v in parse_qsl(query) if k.startswith(name)]
        full = parse(widgets.widget(name).FIELDS, urlencode(own)).full_query()
        expect(page.locator(f"#{name} [data-frame]")).to_have_attribute("data-full", full)
    page.evaluate("for (const d of document.querySelectorAll('#ring details')) d.open = true")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_ux_47_29_54_no_rule_is_broken_and_nothing_sticks_out(
    browser: Browser, origin: str, width: int, scheme: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = opened(context.new_page(), origin + LESSON)
    ready(page)
    for name, query in STATES.items():
        show(page, query)
        assert violations(page, "#ring", "#scale") == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert small_targets(page) == [], name
    context.close()


PAGES = (
    "/",
    LESSON + "?formula.guess=skip&formula.term=steps&average.guess=skip",
    LESSON + "?formula.guess=same&formula.cards=x&formula.time=on&average.guess=card0",
    "/figures/",
    "/authors/",
    "/404.html",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_whole_pages_break_no_rule(browser: Browser, origin: str, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    for address in PAGES:
        page.goto(origin + address)
        for widget in page.locator("lesson-widget").all():
            expect(widget).to_have_attribute("data-alive", "")
        assert violations(page) == [], address
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    context.close()


def test_open_panels_break_no_rule(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.locator("article > p button.q[data-q='state.bytes']").first.click()
    page.locator(".panel:popover-open button.q").first.click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("button.term").first.click()
    expect(page.locator(".panel:popover-open")).to_be_visible()
    assert violations(page) == []


def small_targets(page: Page) -> list[str]:
    """UX 48: every control of the figures is 24 px high and wide; figures in text are text."""
    return page.evaluate("""() => [...document.querySelectorAll(
            "lesson-widget :is(button:not(.q), input, select, summary)")]
        .filter((e) => e.type !== "hidden" && e.checkVisibility() && !e.closest(".panel"))
        .filter((e) => Math.min(e.offsetHeight, e.offsetWidth) < 24).map((e) => e.outerHTML)""")


def test_ux_12_51_sending_and_receiving_are_told_in_words_and_by_border(
    page: Page, origin: str
) -> None:
    opened(page, origin + LESSON + "?ring.step=2")
    at_step(page, 2, 6)
    page.emulate_media(forced_colors="active")
    for kind, word, border in (("sends", "发", "solid"), ("receives", "收到", "dashed")):
        found = page.locator(f"#ring td.{kind}")
        expect(found).to_have_count(4)
        for cell in found.all():
            assert word in (cell.text_content() or "")
            assert cell.evaluate("e => getComputedStyle(e).borderTopStyle") == border
            assert cell.evaluate("e => parseFloat(getComputedStyle(e).borderTopWidth)") >= 2
    idle = page.locator("#ring td.ring-cell:not(.sends, .receives)").first
    assert "发" not in (idle.text_content() or "")


def test_ux_16_another_n_keeps_focus_and_place(page: Page, origin: str) -> None:
    # What stands above the control may not move; what stands below it has to.
    page.add_init_script("""new PerformanceObserver((list) => {
        const above = ({ node }) => node && document.querySelector("#ring-n")
            .compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING;
        globalThis.shift = (globalThis.shift ?? 0) + list.getEntries()
            .filter((e) => !e.hadRecentInput && e.sources.some(above))
            .reduce((sum, e) => sum + e.value, 0);
    }).observe({type: "layout-shift", buffered: true});""")
    opened(page, origin + LESSON)
    ready(page)
    box = page.locator("#ring-n")
    box.focus()
    place = "[document.querySelector('#ring-n').getBoundingClientRect().y, scrollY]"
    before = page.evaluate(place)
    for n in (8, 3, 16):
        box.fill(str(n))
        box.press("Enter")
        at_step(page, 0, 2 * (n - 1))
        expect(box).to_be_focused()
        assert page.evaluate(place) == before
    assert page.evaluate("globalThis.shift ?? 0") < 0.02


def test_ux_48_the_focus_is_not_hidden_behind_the_header(page: Page, origin: str) -> None:
    page.set_viewport_size({"width": 390, "height": 700})
    opened(page, origin + LESSON)
    page.locator("#ring [data-tool=copy]").focus()
    bottom = page.locator(".md-header").bounding_box()
    assert bottom
    for _ in range(24):  # backwards through the figure, so that it scrolls downwards
        page.keyboard.press("Shift+Tab")
        box = page.evaluate("""() => {
            const {y, height} = document.activeElement.getBoundingClientRect();
            return [y, y + height];
        }""")
        assert box[1] > bottom["height"], page.evaluate("document.activeElement.outerHTML")


@pytest.mark.parametrize("width", [320, 1280])
def test_ux_54_nothing_is_lost_when_words_are_twice_as_big(
    browser: Browser, origin: str, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = opened(context.new_page(), origin + LESSON)
    if width == 1280:  # text alone; 320 px are 1280 at four times
        page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for name in ("最前", "上一步", "下一步", "最后", "播放", "先猜再看", "撤销", "复制数据"):
        shown = page.locator("#ring").get_by_role("button", name=name, exact=True)
        box = shown.bounding_box()
        assert box, name
        assert box["x"] >= 0, name
        assert box["x"] + box["width"] <= width, name
    context.close()


def test_ux_56_on_paper_the_state_and_its_address_without_controls(page: Page, origin: str) -> None:
    opened(page, origin + LESSON + "?ring.n=5&ring.step=3")
    at_step(page, 3, 8)
    page.emulate_media(media="print")
    chosen = "[aria-pressed=true], [type=text], select"  # printed as plain words
    for control in page.locator("#ring :is(button, input, select)").all():
        if control.evaluate(f"e => !e.closest('.panel') && !e.matches('.q, {chosen}')"):
            expect(control).to_be_hidden()
    for plain in page.locator("#ring").locator(chosen).all():
        if plain.is_visible():
            expect(plain).to_have_css("border-style", "none")
            expect(plain).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    expect(page.locator("#ring .ring-table")).to_be_visible()
    expect(page.locator("#ring [data-says]")).to_be_visible()
    expect(page.locator("#ring [data-address]")).to_have_text(page.url)
    expect(page.locator("#ring [data-address]")).to_be_visible()


def test_ux_57_names_are_chinese(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    assert page.evaluate("document.documentElement.lang").startswith("zh")
    slider = page.get_by_role("slider", name="步", exact=True)
    expect(slider).to_have_attribute("aria-valuetext", "还没开始，第 0 步，共 6 步")
    for name in ("卡数 N", "每张卡几个数", "种子", "对照"):
        expect(page.locator("#ring").get_by_label(name)).to_be_visible()


def test_ux_68_words_are_readable_on_a_phone(browser: Browser, origin: str) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = opened(context.new_page(), origin + LESSON)
    ready(page)
    for name, query in STATES.items():
        show(page, query)
        smallest = page.evaluate("""() => Math.min(...[...document.querySelectorAll(
                "#ring [data-view] *, #scale [data-view] *")]
            .filter((e) => e.checkVisibility() && !e.closest(".panel, .lw-hidden, title, desc"))
            .filter((e) => [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
            .map((e) => {
                const svg = e.closest("svg");
                const scale = svg ? svg.clientWidth / svg.viewBox.baseVal.width : 1;
                return parseFloat(getComputedStyle(e).fontSize) * scale;
            }).filter((size) => size > 0))""")  # 0: a word that gives way to its arrow
        assert smallest >= 9, name
    context.close()
