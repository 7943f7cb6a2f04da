"""A real browser, a static server, and a page that tolerates no message and no foreign request."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Page,
    Request,
    expect,
    sync_playwright,
)

from tests.browser.reader import LESSON
from tests.conftest import ROOT

QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
SUB_PATH = "/a/b/"
EXPECTED = {
    "log: Enabled live reload",  # MkDocs' own, under `mkdocs serve`
    "warning: Service Worker registration blocked by Playwright",  # see `browser`
}
PATIENCE = 30_000  # ms; a busy machine is slow, a broken page stays broken

expect.set_options(timeout=PATIENCE)


class Handler(SimpleHTTPRequestHandler):
    """A plain static host, serving the folder at the root and below ``SUB_PATH``."""

    protocol_version = "HTTP/1.1"

    def translate_path(self, path: str) -> str:
        return super().translate_path("/" + path.removeprefix(SUB_PATH))

    def log_message(self, *_args: object) -> None:
        pass


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    """The built site on a static host: ``http://127.0.0.1:…``, without the trailing slash."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = (ROOT / ".cache/browser").read_text().strip()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=QUIET)
        new_context = started.new_context
        # Faults are injected where pages fetch; a service worker would answer before that. Tests
        # of the worker itself ask for it.
        started.new_context = lambda **o: new_context(**({"service_workers": "block"} | o))
        yield started
        started.close()


@dataclass
class Watch:
    """What a page did that it should not have."""

    origin: str
    messages: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def request(self, request: Request) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.origin, "data:", "blob:")):
            self.foreign.append(request.url)

    def message(self, text: str) -> None:
        if text not in EXPECTED:
            self.messages.append(text)

    def on(self, page: Page) -> None:
        # Opened under a sub-path, a data file makes browsers ask the host for its icon.
        page.on(
            "console",
            lambda m: "/favicon.ico" in m.location["url"] or self.message(f"{m.type}: {m.text}"),
        )
        page.on("pageerror", lambda e: self.messages.append(f"error: {e}"))

    def clean(self) -> None:
        assert self.foreign == [], "a request left the origin"
        assert self.messages == [], "the console is not silent"


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="zh-CN", viewport={"width": 1280, "height": 900})
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


@pytest.fixture
def watch(context: BrowserContext, origin: str) -> Iterator[Watch]:
    """Watches the context; fails the test at its end if anything was out of order."""
    watching = Watch(origin)
    context.on("request", watching.request)
    yield watching
    watching.clean()


@pytest.fixture
def page(context: BrowserContext, watch: Watch) -> Page:
    opened = context.new_page()
    watch.on(opened)
    return opened


# Python takes about a second to come up. So most tests share one page and its worker: only the
# widgets in it are fresh, as the server sends them.
AFRESH = """async (query) => {
    globalThis.sent ??= new DOMParser().parseFromString(
        await (await fetch(location.pathname)).text(), "text/html");
    const widgets = [...document.querySelectorAll("lesson-widget")];
    for (const open of document.querySelectorAll(":popover-open")) open.hidePopover();
    document.activeElement.blur();
    delete lessonPython(widgets[0].getAttribute("runtime")).ask; // where a test has changed it
    localStorage.clear();
    history.replaceState(null, "", location.pathname + query);
    for (const widget of widgets) {
        const fresh = document.importNode(sent.getElementById(widget.id), true);
        fresh.querySelector("noscript").remove(); // parsed without scripts, it holds elements
        widget.replaceWith(fresh);
    }
    scrollTo({top: 0, behavior: "instant"});
}"""

Lesson = Callable[..., Page]  # lesson("?ring.n=8") is the page in that state


@dataclass
class Shared:
    """A page that tests share, one after the other."""

    page: Page
    watch: Watch

    def afresh(self, query: str = "") -> Page:
        self.page.mouse.move(0, 0)
        self.page.evaluate(AFRESH, query)
        return self.page

    def used(self) -> Iterator[Lesson]:
        self.watch.messages.clear()
        self.watch.foreign.clear()
        yield self.afresh
        self.watch.clean()


def _shared(browser: Browser, origin: str, stopped: bool) -> Iterator[Shared]:
    context = browser.new_context(locale="zh-CN", viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE)
    watch = Watch(origin)
    context.on("request", watch.request)
    page = context.new_page()
    watch.on(page)
    if stopped:
        page.clock.install(time=0)
    page.goto(origin + LESSON)
    if stopped:
        page.clock.pause_at(60)
    yield Shared(page, watch)
    context.close()


@pytest.fixture(scope="session")
def shared(browser: Browser, origin: str) -> Iterator[Shared]:
    yield from _shared(browser, origin, stopped=False)


@pytest.fixture(scope="session")
def shared_stopped(browser: Browser, origin: str) -> Iterator[Shared]:
    yield from _shared(browser, origin, stopped=True)


@pytest.fixture
def lesson(shared: Shared) -> Iterator[Lesson]:
    """The lesson with fresh widgets; Python may be up already."""
    yield from shared.used()


@pytest.fixture
def stopped(shared_stopped: Shared) -> Iterator[Lesson]:
    """The same with its clock stopped: time passes only where a test lets it."""
    yield from shared_stopped.used()
