"""What a reader does at the stepper, and what then stands there."""

from __future__ import annotations

import re
import time
from typing import Any

from playwright.sync_api import Locator, Page, expect

LESSON = "/data-parallel/"


def opened(page: Page, address: str) -> Page:
    """The page loaded anew, its stepper alive."""
    page.goto(address)
    expect(page.locator("#ring[data-alive]")).to_be_visible()
    return page


def cells(page: Page, kind: str) -> list[int]:
    return [int(t) for t in page.locator(f"#ring [data-{kind}]").all_inner_texts()]


def frame_text(page: Page) -> str:
    return page.locator("#ring [data-view]").inner_text()


def button(page: Page, name: str) -> Locator:
    return page.locator("#ring").get_by_role("button", name=name, exact=True)


def ready(page: Page) -> None:
    """Until Python answers."""
    page.locator("#ring").hover()
    expect(page.locator("#ring")).to_have_attribute("python", "ready")


def set_cards(page: Page, n: object) -> None:
    box = page.locator("#ring-n")
    box.fill(str(n))
    box.press("Enter")


def shows(page: Page, **fields: object) -> None:
    """Until the frame's state holds these fields."""
    for name, value in fields.items():
        expect(page.locator("#ring [data-frame]")).to_have_attribute(
            "data-full", re.compile(rf"(^|&){name}={value}(&|$)")
        )


def at_step(page: Page, step: int, last: int) -> None:
    expect(page.locator("#ring .ring-counter")).to_have_text(f"第 {step} 步，共 {last} 步")


def take(page: Page, query: str) -> None:
    """The stepper in the state of a link on the page, such as ``ring.n=8``."""
    page.evaluate("q => document.querySelector('#ring').take(new URLSearchParams(q))", query)


def listen(page: Page) -> None:
    """From now on, keep what the stepper says to a screen reader in ``said``."""
    page.evaluate("""() => {
        globalThis.said = [];
        const live = document.querySelector("#ring [data-live]");
        new MutationObserver(() => said.push(live.textContent)).observe(live, {childList: true});
    }""")


# Events of a slider that no real pointer gives so quickly.
SLIDE = """([element, ...values]) => {
    const slider = document.querySelector(element);
    for (const value of values) {
        slider.value = String(value);
        slider.dispatchEvent(new Event("input", {bubbles: true}));
    }
}"""
RELEASE = """element => document.querySelector(element)
    .dispatchEvent(new Event("change", {bubbles: true}))"""

SLOW_PYTHON = """() => {
    const python = lessonPython(document.querySelector("lesson-widget").getAttribute("runtime"));
    const ask = python.ask.bind(python);
    globalThis.asked = [];
    globalThis.answers = [];
    python.ask = (request) => new Promise((resolve) => {
        asked.push(new URLSearchParams(request.query).get("step"));
        answers.push(() => resolve(ask(request)));
    });
}"""  # answers when told to: answers.shift()()

NO_ANSWER = """() => {
    const python = lessonPython(document.querySelector("#ring").getAttribute("runtime"));
    python.ask = () => Promise.reject(new Error("no"));
}"""


def until(page: Page, expression: str) -> Any:
    """Until this is true in the page; gives what it is. (Playwright's own waits evaluate strings
    there, which the page's policy forbids.)"""
    deadline = time.monotonic() + 30
    while not (value := page.evaluate(expression)):
        assert time.monotonic() < deadline, f"{expression} did not come true"
        page.wait_for_timeout(20)
    return value
