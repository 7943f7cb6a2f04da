"""The policy holds while everything is used; and what is typed, linked or kept is data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

import widgets
from build_tools import hosting
from tests.browser import unguarded
from tests.browser.conftest import Watch
from tests.browser.hosts import Host, started
from tests.browser.reader import LESSON, opened, ready, until
from tests.hostile import CORPUS, dealt

BROKEN = """globalThis.broken = [];
addEventListener("securitypolicyviolation", (e) =>
    broken.push(`${e.effectiveDirective} ${e.blockedURI} ${e.sample}`));"""

# Press every button of a widget once, move every slider, and wait until Python has answered.
TOUR = """async (id) => {
    const widget = document.getElementById(id);
    const view = widget.querySelector("[data-view]");
    const python = lessonPython(widget.getAttribute("runtime"));
    const rest = () => new Promise((resolve) => setTimeout(resolve, 40));
    const said = (b) => `${b.name}=${b.value}`;
    const pressed = new Set();
    for (let next; pressed.size < 60; ) {
        next = [...view.querySelectorAll("button[name]")].find((b) => !pressed.has(said(b)));
        if (!next) break;
        pressed.add(said(next));
        next.click();
        await rest();
    }
    for (const slider of view.querySelectorAll("[type=range]")) {
        slider.value = slider.max;
        slider.dispatchEvent(new Event("input", {bubbles: true}));
        slider.dispatchEvent(new Event("change", {bubbles: true}));
        await rest();
    }
    for (const figure of view.querySelectorAll("button.q")) {
        figure.click();
        document.querySelector(":popover-open")?.hidePopover();
    }
    for (const tool of ["undo", "undo", "data", "copy", "reset"]) {
        widget.querySelector(`[data-tool=${tool}]`).click();
        await rest();
    }
    return pressed.size;
}"""


@pytest.fixture(scope="module")
def origin(site: Path) -> Iterator[str]:
    """A host that says the policy in a header too, to pages and workers alike."""
    with started(Host(site, headers=hosting.always(site))) as host:
        yield host.origin


def test_nothing_breaks_the_policy(page: Page, origin: str) -> None:
    page.context.grant_permissions(["clipboard-write"])
    page.add_init_script(BROKEN)
    opened(page, origin + LESSON)
    ready(page)
    page.locator(".yours-open").click()
    expect(page.locator("#yours")).to_be_visible()
    for name in widgets.NAMES:
        assert page.evaluate(TOUR, name) >= 3, name
    page.keyboard.press("Escape")
    for panel in page.locator("main button.q").all()[:5]:
        panel.click()
        page.keyboard.press("Escape")
    for name in ("换成深色", "换成浅色"):
        page.get_by_title(name).click()
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("all-reduce")
    expect(page.locator(".md-search-result__link").first).to_be_visible()
    assert page.evaluate("broken") == []
    page.goto(f"{origin}{LESSON}?h=DDP")  # as from a result of the search: words highlighted
    expect(page.locator("article mark").first).to_be_visible()
    assert page.evaluate("broken") == []
    page.evaluate("localStorage.clear()")


APPEND = "document.body.insertAdjacentHTML('beforeend', '{}')"
SCRIPT = "Object.assign(document.createElement('script'), {textContent: 'globalThis.ran = 1'})"
FORBIDDEN = (
    (f"document.body.append({SCRIPT})", "script-src"),
    (APPEND.format("<img src=data:, onerror=ran=1>"), "script-src"),
    ("(() => { try { (0, eval)('ran = 1') } catch {} })()", "script-src"),
    (APPEND.format("<p style=color:red>"), "style-src"),
    ("fetch('https://evil.example/').catch(() => 0)", "connect-src"),
    (APPEND.format("<iframe src=/></iframe>"), "frame-src"),
    (APPEND.format("<img src=https://evil.example/x>"), "img-src"),
    (APPEND.format("<base href=/elsewhere/>"), "base-uri"),
)


def test_the_policy_forbids(context: BrowserContext, site: Path) -> None:
    """By ``<meta>`` alone."""
    with started(Host(site)) as host:
        page = context.new_page()
        page.add_init_script(BROKEN)
        page.goto(f"{host.origin}/figures/")
        for attempt, directive in FORBIDDEN:
            # A function of its own, later: what a debugger evaluates may do more.
            page.evaluate(f"() => new Promise((r) => setTimeout(async () => r(await {attempt})))")
            found = f"broken.splice(0).some((b) => b.startsWith('{directive}'))"
            assert until(page, found), attempt
        assert page.evaluate("globalThis.ran") is None


# -- hostile strings. What is typed into the widgets is tried by `make quality` --------------


@pytest.fixture(scope="module")
def bare(browser: Browser, site: Path) -> Iterator[tuple[Page, Watch]]:
    with unguarded.lesson(browser, site) as opened:
        yield opened


def test_the_corpus_would_run_where_it_is_taken_for_markup(browser: Browser, site: Path) -> None:
    with started(Host(site)) as host:
        context = browser.new_context(bypass_csp=True)
        page = context.new_page()
        page.route("https://**", lambda route: route.abort())
        page.goto(f"{host.origin}/figures/")
        ran = page.evaluate(
            """async (corpus) => {
                const ran = [];
                for (const [i, text] of corpus.entries()) {
                    globalThis.executed = () => ran.push(i);
                    const place = document.createElement("div");
                    document.body.append(place);
                    place.innerHTML = text;
                    await new Promise((resolve) => setTimeout(resolve, 20));
                    place.remove();
                }
                return new Set(ran).size;
            }""",
            list(CORPUS),
        )
        context.close()
    assert ran >= 20


TAKE = """async ([id, queries]) => {
    const widget = document.getElementById(id);
    for (const query of queries) {
        widget.take(new URLSearchParams(query));
        const deadline = performance.now() + 10_000;
        do await new Promise((resolve) => setTimeout(resolve, 2));
        while (!widget.querySelector(".lw-notice") && performance.now() < deadline);
        if (!widget.querySelector(".lw-notice")) return `no notice for ${query}`;
        widget.querySelector("[data-tool=reset]").click();
        while (widget.querySelector(".lw-notice") && performance.now() < deadline) {
            await new Promise((resolve) => setTimeout(resolve, 2));
        }
    }
    return "";
}"""


@pytest.mark.parametrize("name", widgets.NAMES)
def test_no_query_field_runs_what_it_holds(bare: tuple[Page, Watch], name: str) -> None:
    page, watch = bare
    fields = [f.name for f in widgets.widget(name).FIELDS]
    prefix = f"{name}."
    if name == "yours":
        prefix = ""  # the Scenario's keys stand bare, and others' are none of its business
    else:
        fields.append("nothing")
    queries = [
        urlencode({prefix + key: text for key, text in given.items()}) for given in dealt(fields)
    ]
    assert page.evaluate(TAKE, [name, queries]) == ""
    unguarded.nothing_ran(page, watch)
