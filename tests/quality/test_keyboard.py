"""A reader without a pointer: every experiment and the reader's own page by keys alone.

Nothing here clicks, and no script gives the focus to anything. Wherever keys lead, the focus is
on something, which is in sight and has a ring around it.
"""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.browser.reader import LESSON, at_step, opened

FAR = 900  # presses of Tab; the page has about as many places to go

# What is wrong with the focus, and still is some frames later (a panel that closes takes one to
# give it back). A panel or an experiment that was led to is a
# place to read, and needs no ring of its own.
FOCUS = """async () => {
    const wrong = () => {
        const e = document.activeElement;
        const {left, right, top, bottom, width} = e.getBoundingClientRect();
        const {outlineStyle, outlineWidth, outlineColor, opacity} = getComputedStyle(e);
        const header = document.querySelector(".md-header").getBoundingClientRect().bottom;
        const over = e.closest("[popover], .md-header, .md-skip") !== null;
        const ring = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2
            && !outlineColor.startsWith("rgba");
        const seen = width && opacity !== "0" && right > 0 && left < innerWidth
            && bottom > (over ? 0 : header) && top < innerHeight;
        const found = [
            e === document.body && "it is lost",
            !seen && "it is out of sight",
            !ring && e.tabIndex >= 0 && "it has no ring",
        ].filter(Boolean);
        return found.length ? `${found}: ${e.outerHTML.slice(0, 200)}` : "";
    };
    for (let frame = 0; frame < 10 && wrong(); frame++) await new Promise(requestAnimationFrame);
    return wrong();
}"""


class Keys:
    """The keyboard, and what must hold after each key."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
        assert self.page.evaluate(FOCUS) == "", keys

    def reach(self, target: str, key: str = "Tab") -> Locator:
        """Go on, or back by Shift+Tab, until what ``target`` selects has the focus."""
        for _ in range(FAR):
            self.press(key)
            if self.page.evaluate("(s) => document.activeElement.matches(s)", target):
                return self.page.locator(":focus")
        raise AssertionError(f"{key} does not lead to {target}")

    def type(self, text: str) -> None:
        self.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, words: str) -> None:
        """In a list, by its first letters."""
        self.page.keyboard.type(words)

    def looks_up(self, figure: str, key: str = "Tab") -> None:
        """A figure's panel, one more out of it, and back."""
        self.reach(figure, key)
        self.press("Enter")
        panel = self.page.locator(".panel:popover-open")
        expect(panel).to_be_focused()
        self.press("Tab")
        deeper = self.page.locator(":focus")
        if deeper.get_attribute("class") == "q":
            self.press("Enter")
            expect(panel.last).to_be_focused()
            self.press("Escape")
            expect(deeper).to_be_focused()
        self.press("Escape")
        expect(panel).to_have_count(0)
        expect(self.page.locator(":focus")).to_have_class(re.compile(r"^q\b"))
        assert self.page.evaluate("(s) => document.activeElement.matches(s)", figure)

    def task(self, name: str) -> None:
        """To where something to try begins."""
        self.reach(f'.task:has([data-ticks="{name}"]) a')
        self.press("Enter")

    def seen(self, name: str) -> None:
        expect(self.page.locator(f'[data-ticks="{name}"]')).to_be_visible()


def holds(page: Page, widget: str, **fields: object) -> None:
    for name, value in fields.items():
        expect(page.locator(f"#{widget} [data-frame]")).to_have_attribute(
            "data-full", re.compile(rf"(^|&){name}={value}(&|$)")
        )


def test_the_whole_lesson_without_a_pointer(page: Page, origin: str) -> None:
    page.emulate_media(reduced_motion="reduce")  # what has the focus shows it at once
    opened(page, origin + LESSON)
    keys = Keys(page)
    keys.press("Tab")
    expect(page.locator(".md-skip")).to_be_focused()
    page.keyboard.press("Enter")
    keys.looks_up("article button.q[data-q='cards']")
    keys.reach("article button.term")
    keys.press("Enter")
    expect(page.locator(".panel:popover-open")).to_be_focused()
    keys.press("Escape")
    the_stepper(page, keys)
    the_schemes(page, keys)
    the_formula(page, keys)
    the_timeline(page, keys)
    the_two_means(page, keys)
    your_model(page, keys)


def the_stepper(page: Page, keys: Keys) -> None:
    keys.task("ring.naive")
    holds(page, "ring", mode="naive", step=0)
    keys.press("End")
    keys.seen("ring.naive")
    keys.press("Home", "ArrowRight")
    at_step(page, 1, 6)
    keys.reach("#ring-n")
    keys.type("8")
    keys.press("Enter")
    holds(page, "ring", n=8)
    keys.reach("#ring-mode-ring", "Shift+Tab")
    keys.press("Enter")
    holds(page, "ring", mode="ring")
    keys.reach("#ring-predict")
    keys.press("Enter")
    expect(page.locator("#ring .ring-guess")).to_be_visible()
    keys.reach("#ring-next")
    keys.press("Space")
    at_step(page, 1, 14)
    keys.reach("[id^=ring-guess-]")
    keys.press("Enter")
    expect(page.locator("#ring .ring-guess [aria-pressed=true]")).to_have_count(1)
    keys.reach("#ring-step", "Shift+Tab")
    keys.press("ArrowRight", "PageDown")
    keys.press("Space")  # plays
    expect(page.locator("#ring[playing]")).to_be_attached()
    keys.press("Escape")
    expect(page.locator("#ring[playing]")).to_have_count(0)
    keys.looks_up("#ring .ring-scale button.q")
    keys.reach("#ring [data-tool=reset]")
    keys.press("Enter")
    holds(page, "ring", n=4, step=0, mode="ring")


def the_schemes(page: Page, keys: Keys) -> None:
    keys.task("scale.grow")
    keys.reach("#scale-guess-ring-stays")
    keys.press("Enter")
    expect(page.locator("#scale .guessed")).to_be_visible()
    keys.reach("#scale-cards-slider")
    keys.press("End")
    keys.seen("scale.grow")
    keys.reach("#scale-model")
    keys.choose("Qwen3-8")
    holds(page, "scale", model="qwen3-8b")
    keys.reach("#scale-time")
    keys.press("Enter")
    holds(page, "scale", time="on")
    keys.looks_up("#scale .scale-time button.q", "Shift+Tab")
    keys.reach("#scale [data-tool=reset]")
    keys.press("Enter")
    holds(page, "scale", model="qwen3\\.8-27b", guess="ask")


def the_formula(page: Page, keys: Keys) -> None:
    keys.task("formula.guess")
    keys.reach("#formula-guess-same")
    keys.press("Enter")
    keys.seen("formula.guess")
    keys.reach("#formula-cards-slider")
    keys.press("ArrowRight", "ArrowRight", "ArrowLeft")
    keys.reach("#formula-term-phases")
    keys.press("ArrowRight")
    expect(page.locator("#formula-term-steps")).to_be_focused()
    keys.press("Enter")
    expect(page.locator("#formula-term-steps")).to_have_attribute("aria-expanded", "true")
    keys.press("Escape")
    expect(page.locator("#formula-term-steps")).to_have_attribute("aria-expanded", "false")
    expect(page.locator("#formula-term-steps")).to_be_focused()
    keys.looks_up("#formula .formula-value button.q")
    keys.reach("#formula-model")
    keys.choose("Qwen3-8")
    holds(page, "formula", model="qwen3-8b")
    keys.reach("#formula [data-tool=reset]")
    keys.press("Enter")
    holds(page, "formula", model="qwen3\\.8-27b", guess="ask")


def the_timeline(page: Page, keys: Keys) -> None:
    keys.task("overlap.buckets")
    keys.reach("#overlap-guess-half")
    keys.press("Enter")
    keys.reach("#overlap-mode-buckets")
    keys.press("Enter")
    keys.seen("overlap.buckets")
    keys.reach("#overlap-tokens-slider")
    keys.press("ArrowRight", "ArrowRight")
    holds(page, "overlap", tokens=16384)
    keys.seen("overlap.hidden")
    keys.reach(".overlap-bar")
    keys.press("ArrowRight", "ArrowRight", "Enter")
    expect(page.locator("#overlap .overlap-bar[aria-current]")).to_be_focused()
    keys.press("t")
    expect(page.locator("#overlap .overlap-table")).to_be_visible()
    keys.press("t", "+")
    holds(page, "overlap", table="off", zoom=1)
    keys.press("0")
    keys.reach("#overlap-pin")
    keys.press("Enter")
    expect(page.locator("#overlap .ghost rect")).not_to_have_count(0)
    keys.reach("#overlap-time")
    keys.press("PageUp", "ArrowRight")
    keys.looks_up("#overlap .overlap-tiles button.q")
    keys.reach("#overlap-more summary")
    keys.press("Enter")
    keys.reach("#overlap-net-hierarchical")
    keys.press("Enter")
    holds(page, "overlap", cards=64)
    keys.reach("#overlap-unused")
    keys.press("ArrowDown")
    expect(page.locator("#overlap [data-frame]")).not_to_have_attribute(
        "data-full", re.compile("unused=static")
    )
    keys.reach("#overlap [data-tool=undo]")
    keys.press("Enter")
    keys.reach("#overlap [data-tool=reset]")
    keys.press("Enter")
    holds(page, "overlap", cards=8, pin="", guess="ask")


def the_two_means(page: Page, keys: Keys) -> None:
    keys.task("average.example")
    keys.reach("#average-guess-card1")
    keys.press("Enter")
    keys.seen("average.example")
    keys.reach("#average-preset-2")
    keys.press("Enter")
    keys.seen("average.agree")
    keys.reach("#average-tokens1-slider")
    keys.press("Home")
    keys.reach("#average-tokens0", "Shift+Tab")
    keys.type("12345")
    keys.press("Enter")
    holds(page, "average", tokens0=12345, tokens1=100)
    keys.looks_up("#average .average-table button.q")
    keys.reach("#average [data-tool=reset]")
    keys.press("Enter")
    holds(page, "average", tokens0=30000, guess="ask")


def your_model(page: Page, keys: Keys) -> None:
    keys.reach(".yours-open", "Shift+Tab")
    keys.press("Enter")
    panel = page.locator("#your-model")
    expect(panel).to_be_focused()
    keys.reach("#yours-model")
    keys.choose("DeepSeek-V3")
    follows = re.compile("model=deepseek-v3")
    expect(page.locator("html")).to_have_attribute("data-scenario", follows)
    keys.press("Tab")
    keys.reach("#yours-net-2")
    keys.press("Enter")
    expect(page.locator("#yours-net-2")).to_have_attribute("aria-pressed", "true")
    keys.reach("#yours-tokens")
    keys.type("8192")
    keys.press("Enter")
    expect(page.locator("html")).to_have_attribute("data-scenario", re.compile("tokens=8192"))
    keys.looks_up("#yours .yours-tiles button.q")
    keys.reach("#your-config")
    keys.type("{")
    keys.reach(".yours-tools [type=submit]")
    keys.press("Enter")
    expect(page.locator("[data-own]")).to_contain_text("不是合法的 JSON")
    keys.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(".yours-open")).to_be_focused()
    keys.looks_up("article > p button.q.moved")
    keys.reach(".yours-open", "Shift+Tab")
    keys.press("Enter")
    keys.reach("[data-forget]")
    keys.press("Enter")
    expect(page.locator("html[data-scenario]")).to_have_count(0)
    keys.press("Escape")
    expect(page.locator(".yours-open")).to_be_focused()
