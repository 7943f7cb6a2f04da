"""Every experiment, panel and page for everybody: what tests/browser/test_access.py does not
reach with the stepper, the schemes and a page at rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Literal
from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

import widgets
from tests.browser.axe import violations
from tests.browser.reader import LESSON, opened, ready, until
from widgets.state import parse

Scheme = Literal["light", "dark"]
PAGES = ("/", "/figures/", "/authors/", "/authors/hosting/", "/404.html")

# All five experiments at once, so that few rounds show every state.
STATES = {
    "prompts": "ring.predict=on&ring.step=1",
    "refused": "ring.n=99&ring.elements=3&scale.guess=skip&scale.cards=x&formula.guess=skip"
    "&formula.cards=0&formula.term=steps&overlap.guess=skip&overlap.tokens=x"
    "&overlap.bandwidth=0&average.guess=skip&average.tokens0=99",
    "answers": "ring.mode=naive&ring.step=6&scale.guess=ring-stays&formula.guess=same"
    "&overlap.guess=half&average.guess=card1",
    "one sync": "ring.mode=reduce-scatter&ring.step=3&scale.guess=skip&formula.guess=skip"
    "&formula.term=phases&overlap.guess=skip&overlap.mode=sync&average.guess=skip"
    "&average.tokens0=100&average.tokens1=32768",
    "buckets, table and ghost": "ring.mode=tree&ring.with=ring&ring.n=8&ring.step=3"
    "&scale.guess=skip&scale.time=on&formula.guess=skip&formula.term=whole&formula.time=on"
    "&overlap.guess=skip&overlap.bucket=30&overlap.table=on&overlap.pin=mode%3Dsync"
    "&overlap.time=30000&average.guess=skip&average.tokens0=25000&average.tokens1=25000",
    "several cards in a machine": "ring.mode=hierarchical&ring.n=16&ring.step=4&scale.guess=skip"
    "&scale.cards=64&scale.cards_per_node=8&formula.guess=skip&formula.term=block"
    "&formula.cards=1024&overlap.guess=skip&overlap.mode=first-iteration&average.guess=card0",
}
NAMES = ("ring", "scale", "formula", "overlap", "average")
# A key with its default value for each: whatever the query leaves out goes back.
TAKE = """(query) => {
    for (const [id, key] of [["ring", "seed=7"], ["scale", "gradient=bf16"],
            ["formula", "gradient=bf16"], ["overlap", "gradient=bf16"], ["average", "guess=ask"]]) {
        document.getElementById(id).take(new URLSearchParams(`${id}.${key}&${query}`));
    }
}"""


def show(page: Page, query: str) -> None:
    """All experiments in the state of ``query``, with everything folded out."""
    page.evaluate(TAKE, query)
    for name in NAMES:
        own = [(k.partition(".")[2], v) for k, v in parse_qsl(query) if k.startswith(f"{name}.")]
        full = parse(widgets.widget(name).FIELDS, urlencode(own)).full_query()
        expect(page.locator(f"#{name} [data-frame]")).to_have_attribute("data-full", full)
    page.locator("lesson-widget details").evaluate_all("all => all.forEach(d => d.open = true)")


Visit = Callable[..., Page]  # visit(width=390) is the lesson there, with Python at hand


@pytest.fixture
def visit(browser: Browser, origin: str) -> Iterator[Visit]:
    contexts = []

    def visited(width: int = 1280, height: int = 900, **how: Any) -> Page:
        viewport = {"width": width, "height": height}
        context = browser.new_context(locale="zh-CN", viewport=viewport, **how)
        contexts.append(context)
        page = opened(context.new_page(), origin + LESSON)
        ready(page)
        return page

    yield visited
    for context in contexts:
        context.close()


def sideways(page: Page) -> int:
    """How far the page itself scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


# -- rules -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_ux_47_experiments_break_no_rule(visit: Visit, width: int, scheme: Scheme) -> None:
    page = visit(width, color_scheme=scheme, reduced_motion="reduce")
    for name, query in STATES.items():
        show(page, query)
        assert violations(page, "#formula", "#overlap", "#average") == [], name
        assert sideways(page) <= 0, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_ux_47_the_readers_own_page_breaks_no_rule(
    visit: Visit, width: int, scheme: Scheme
) -> None:
    page = visit(width, color_scheme=scheme, reduced_motion="reduce")

    def sound(state: str) -> None:
        assert violations(page) == [], state
        assert sideways(page) <= 0, state

    page.locator(".yours-open").click()
    page.locator("#yours-model").select_option("deepseek-v3")
    expect(page.locator("html")).to_have_attribute("data-scenario", re.compile("deepseek-v3"))
    page.locator("#yours-bandwidth").fill("400")
    page.locator("#yours-bandwidth").press("Enter")
    expect(page.locator("html")).to_have_attribute("data-scenario", re.compile("bandwidth=400"))
    page.locator("#yours-cards").fill("x")
    page.locator("#yours-cards").press("Enter")
    expect(page.locator("#yours .lw-notice")).to_be_visible()
    page.locator("#your-config").fill("{")
    page.get_by_role("button", name="用这个模型").click()
    expect(page.locator("[data-own]")).to_contain_text("不是合法的 JSON")
    sound("another model, and what was refused")
    page.keyboard.press("Escape")
    expect(page.locator("button.q.moved").first).to_be_visible()
    expect(page.locator(".claim.fails").first).to_be_visible()
    sound("figures have moved, claims hold no more")
    page.locator("article > p button.q.moved").first.click()
    expect(page.locator(".panel:popover-open .panel-was")).to_be_visible()
    page.locator(".panel:popover-open button.q").first.click()
    sound("a panel out of a panel")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("#overlap-guess-skip").click()
    page.locator("#overlap .overlap-tiles button.q").first.click()
    expect(page.locator("#overlap .panel:popover-open")).to_be_visible()
    sound("a panel of an experiment")
    page.keyboard.press("Escape")
    page.locator("article button.term").first.click()
    expect(page.locator(".panel:popover-open")).to_be_visible()
    sound("a word explained")


# -- large words, narrow windows -------------------------------------------------------------

LOST = """() => {
    const lost = [], width = document.documentElement.clientWidth;
    const chrome = ".md-header, .md-sidebar, .md-skip, .lw-hidden, .panel, noscript, math";
    for (const e of document.querySelectorAll("body *")) {
        const text = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim());
        if (!text && !e.matches("button, input, select, summary")) continue;
        if (!e.checkVisibility({visibilityProperty: true}) || e.closest(chrome)) continue;
        const is = e.getBoundingClientRect();
        if (!is.width || !parseFloat(getComputedStyle(e).fontSize)) continue;
        let [left, right, top, bottom] = [0, width, -Infinity, Infinity];
        let around = e.parentElement;
        for (; around !== document.body; around = around.parentElement) {
            const { overflowX } = getComputedStyle(around);
            if (overflowX === "auto" || overflowX === "scroll") break; // it can be scrolled to
            if (overflowX === "visible") continue;
            const box = around.getBoundingClientRect();
            left = Math.max(left, box.left), right = Math.min(right, box.right);
            top = Math.max(top, box.top), bottom = Math.min(bottom, box.bottom);
        }
        if (around !== document.body) continue;
        const out = Math.max(left - is.left, is.right - right, top - is.top, is.bottom - bottom);
        if (out > 1) lost.push(e.outerHTML.slice(0, 120));
    }
    return lost;
}"""


def test_nothing_lost_is_found_where_something_is(visit: Visit) -> None:
    page = visit()
    page.evaluate("document.querySelector('#ring .ring-setup').style.height = '1rem'")
    page.evaluate("document.querySelector('#ring .ring-setup').style.overflow = 'hidden'")
    assert any("ring-n" in lost for lost in page.evaluate(LOST))


@pytest.mark.parametrize("how", ["400 % zoom", "200 % text"])
def test_ux_54_no_page_and_no_experiment_loses_anything(
    visit: Visit, origin: str, how: str
) -> None:
    page = visit(320 if how == "400 % zoom" else 1280)

    def whole(state: str) -> None:
        if how == "200 % text":
            page.evaluate("document.documentElement.style.fontSize = '200%'")
        assert sideways(page) <= 0, state
        assert page.evaluate(LOST) == [], state

    for name, query in STATES.items():
        show(page, query)
        whole(name)
    page.locator(".yours-open").click()
    page.locator("#yours-model").select_option("deepseek-v3")
    expect(page.locator("#yours-csv")).to_be_visible()
    panel = page.locator("#your-model")
    assert panel.evaluate("e => e.scrollWidth <= e.clientWidth")
    whole("your model")
    for address in PAGES:
        page.goto(origin + address)
        whole(address)


# -- targets ---------------------------------------------------------------------------------

SMALL = """([least, within]) => [...document.querySelectorAll(
        `:is(${within}) :is(button, input, select, textarea, summary)`)]
    .filter((e) => e.type !== "hidden")
    .filter((e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}))
    // In a sentence a figure is as high as its words.
    .filter((e) => !e.matches(".q") || e.parentElement.textContent.trim() === e.textContent.trim())
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, {width, height}]) => width && Math.min(width, height) < least - 0.5)
    .map(([e, {width, height}]) => `${width} × ${height}: ${e.outerHTML.slice(0, 120)}`)"""


def test_ux_48_every_target_is_24_px_large(visit: Visit) -> None:
    page = visit()
    for name, query in STATES.items():
        show(page, query)
        assert page.evaluate(SMALL, [24, "lesson-widget, body"]) == [], name
    page.locator(".yours-open").click()
    expect(page.locator("#yours-csv")).to_be_visible()
    assert page.evaluate(SMALL, [24, ".yours-panel"]) == []


def test_ux_48_for_fingers_44(visit: Visit) -> None:
    """But the bars of the timeline, which are as wide as what they stand for: buttons below it
    go from one to the next. And figures, which are words."""
    page = visit(390, 844, has_touch=True, is_mobile=True)

    def small(within: str) -> list[str]:
        found = page.evaluate(SMALL, [44, within])
        return [f for f in found if not re.search(r'class="(q|overlap-bar)\b', f)]

    for name, query in STATES.items():
        show(page, query)
        assert small("lesson-widget, .md-content") == [], name
    page.locator("#ledger ~ p button.q").first.tap()
    expect(page.locator(".panel:popover-open")).to_be_visible()
    assert small(".panel:popover-open") == []
    page.locator(".panel:popover-open .panel-close").tap()
    page.locator(".yours-open").tap()
    expect(page.locator("#yours-csv")).to_be_visible()
    assert small(".yours-panel, .md-container") == []


# -- motion and colours ----------------------------------------------------------------------

MOVES = """() => {
    const moves = [];
    const look = (e, part) => {
        const style = getComputedStyle(e, part);
        const lasts = style.transitionDuration.split(", ").map(parseFloat);
        const moved = style.transitionProperty.split(", ").some((property, i) =>
            lasts[i % lasts.length] > (property === "opacity" ? 0.1 : 0));
        if (moved || style.animationName !== "none" || style.scrollBehavior === "smooth") {
            moves.push(e.outerHTML.slice(0, 120));
        }
    };
    for (const e of document.querySelectorAll("*")) {
        for (const part of [null, "::before", "::after"]) look(e, part);
    }
    return moves;
}"""
WATCH = """() => {
    globalThis.moved = [];
    const note = (name) => function (...how) {
        moved.push(`${name} ${this.outerHTML.slice(0, 80)}`);
        return before[name].apply(this, how);
    };
    const before = {animate: Element.prototype.animate,
        beginElement: SVGAnimationElement.prototype.beginElement};
    Element.prototype.animate = note("animate");
    SVGAnimationElement.prototype.beginElement = note("beginElement");
}"""


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_ux_50_nothing_moves_for_those_who_want_no_motion(
    visit: Visit, origin: str, motion: Literal["reduce", "no-preference"]
) -> None:
    """And what does not, would."""
    page = visit(reduced_motion=motion)
    page.evaluate(WATCH)
    for query in STATES.values():
        show(page, query)
    show(page, "")
    page.locator("#ring-next").click()
    expect(page.locator("#ring .ring-counter")).to_contain_text("第 1 步")
    page.locator("#overlap-guess-half").click()  # from one sync to buckets
    expect(page.locator("#overlap .guessed")).to_be_visible()
    still = motion == "reduce"
    assert (page.evaluate("moved") == []) == still
    assert (page.evaluate(MOVES) == []) == still
    for address in PAGES:
        page.goto(origin + address)
        assert (page.evaluate(MOVES) == []) == still, address


# What differs in more than a colour that forced colours take away: [of these, from those].
APART = {
    "a pressed button": (
        "lesson-widget button[aria-pressed=true]",
        "lesson-widget button[aria-pressed=false]",
    ),
    "a button that does nothing now": (
        "#ring-back, #overlap-view-out",
        "#ring-next, #overlap-view-in",
    ),
    "a refused input": ("#ring-n", "#ring-seed"),
    "an open factor": ("#formula-term-steps", "#formula-term-block"),
    "what is sent": ("#ring td.sends", "#ring td.ring-cell:not(.sends, .receives)"),
    "what is received": ("#ring td.receives", "#ring td.sends"),
    "a contribution": ("#ring .pip.has", "#ring .pip:not(.has)"),
    "a moved figure": ("article > p button.q.moved", "article > p button.q:not(.moved)"),
    "a claim that fails": (".claim.fails", ".claim:not(.fails)"),
    "what is exposed": ("#overlap rect.hatched", "#overlap path.hidden-part"),
    "a part of the model": (".yours-parts i.part-0", ".yours-parts i.part-1"),
}
LOOKS = """(selector) => [...new Set([...document.querySelectorAll(selector)].map((e) => {
    const s = getComputedStyle(e);
    const border = s.borderTopColor === getComputedStyle(document.body).backgroundColor
        ? "none" : `${s.borderTopStyle} ${s.borderTopWidth}`;
    return [border, s.outlineStyle, s.color, s.fill, s.fontWeight, s.textDecorationLine,
        s.backgroundColor].join();
}))]"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ux_51_forced_colours_leave_differences_and_words(visit: Visit, scheme: Scheme) -> None:
    page = visit(forced_colors="active", color_scheme=scheme)
    seen = set()

    def compare() -> None:
        for what, (these, those) in APART.items():
            looks, others = page.evaluate(LOOKS, these), page.evaluate(LOOKS, those)
            if looks and others:
                assert set(looks).isdisjoint(others), what
                seen.add(what)

    show(page, "ring.step=2&" + STATES["refused"])
    compare()
    page.locator(".yours-open").click()
    page.locator("#yours-bandwidth").fill("400")
    page.locator("#yours-bandwidth").press("Enter")
    expect(page.locator(".claim.fails").first).to_be_attached()
    compare()
    assert seen == set(APART)


def test_ux_51_words_in_drawings_have_the_readers_colour(visit: Visit) -> None:
    """A light page where the reader's colours are dark, and the other way round."""
    page = visit(forced_colors="active", color_scheme="dark")
    page.evaluate("document.body.dataset.mdColorScheme = 'default'")
    show(page, STATES["buckets, table and ghost"])
    canvas = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for look in page.evaluate(
        """() => [...document.querySelectorAll("lesson-widget svg text")]
            .filter((e) => e.checkVisibility()).map((e) => getComputedStyle(e).fill)"""
    ):
        assert look != canvas


# -- nothing for the pointer alone -----------------------------------------------------------


def test_nothing_is_told_by_hovering_alone(visit: Visit, origin: str) -> None:
    """Browsers show a title to nobody but those who point. The links' own marks apart, it says
    again what stands where the link leads."""
    page = visit()
    page.locator(".yours-open").click()
    page.locator("#yours-model").select_option("gpt2")
    expect(page.locator("button.q[aria-description]").first).to_be_attached()
    for query in STATES.values():
        show(page, query)
        assert page.locator("lesson-widget [title], .yours-panel [title]").count() == 0
    for address in (LESSON, *PAGES):
        page.goto(origin + address)
        alone = page.evaluate("""() => [...document.querySelectorAll("article [title]")]
            .filter((e) => !e.matches(".headerlink"))
            .filter((e) => !document.querySelector(e.getAttribute("href"))?.textContent
                .includes(e.title)).map((e) => e.outerHTML)""")
        assert alone == [], address


def test_why_a_figure_has_no_value_can_be_read_without_pointing(visit: Visit) -> None:
    page = visit(390, 844, has_touch=True, is_mobile=True)
    page.locator(".yours-open").tap()
    page.locator("#yours-model").select_option("gpt2")
    until(page, "document.querySelectorAll('article button.q[aria-description]').length > 9")
    for name in ("scale", "formula", "overlap"):  # they follow, and move what is below them
        frame = page.locator(f"#{name} [data-full]").first
        expect(frame).to_have_attribute("data-full", re.compile("model=gpt2"))
    noted = page.locator("article > p button.q[aria-description]").first
    note = noted.get_attribute("aria-description") or ""
    page.locator("#your-model > .panel-close").tap()
    expect(page.locator("#your-model")).to_be_hidden()
    noted.tap()
    expect(page.locator(".panel:popover-open")).to_contain_text(note)
