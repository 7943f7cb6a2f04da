"""The page before Python, and what we do to its main thread: bytes, first step, long tasks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from statistics import median

import brotli
from playwright.sync_api import Page, sync_playwright

from tests import weight
from tests.browser.conftest import QUIET, Handler
from tests.browser.reader import LESSON, at_step, button, opened, ready, set_cards, until

ROOT = Path(__file__).resolve().parent.parent
VISITS = 7

# As soon as the document is there, press "next" until the frame is another; and note whatever
# keeps the main thread for more than 50 ms, and the scripts that ran meanwhile.
FIRST_STEP = """
globalThis.longTasks = [];
globalThis.scripts = [];
new PerformanceObserver((list) => {
    for (const task of list.getEntries()) longTasks.push([task.startTime, task.duration]);
}).observe({type: "longtask", buffered: true});
new PerformanceObserver((list) => {
    for (const {startTime, duration, sourceURL} of list.getEntries().flatMap((f) => f.scripts)) {
        scripts.push([startTime, duration, sourceURL]);
    }
}).observe({type: "long-animation-frame", buffered: true});
document.addEventListener("DOMContentLoaded", () => {
    const begin = performance.now();
    const shown = () => document.querySelector("#ring [data-frame]").dataset.full;
    const first = shown();
    const press = () => {
        if (shown() === first) {
            document.querySelector("#ring-next").click();
            return setTimeout(press);
        }
        globalThis.firstStep = performance.now() - begin;
    };
    press();
});
"""
SINCE = "since => [longTasks.filter(([start]) => start >= since), scripts]"
WHOSE = ("ours", "the theme's", "the browser's own")


def bytes_sent(site: Path) -> Iterator[tuple[str, int, int]]:
    """What is weighed, bytes, and the limit."""
    pages = {page: sum(weight.parts(site, page).values()) for page in site.rglob("*.html")}
    longest = max(pages, key=lambda page: pages[page])
    name = longest.parent.relative_to(site).as_posix()
    yield f"heaviest page ({name}), gzip", pages[longest], weight.PAGE_LIMIT
    frames = sum(map(weight.gzipped, site.glob("assets/frames/*")))
    yield "prerendered frames of all pages, gzip", frames, 0
    runtime = weight.runtime(site)
    yield "Python on demand, gzip", sum(map(weight.gzipped, runtime)), weight.RUNTIME_GZIP
    sent = sum(len(brotli.compress(file.read_bytes())) for file in runtime)
    yield "Python on demand, brotli", sent, weight.RUNTIME_BROTLI


def main_thread(site: Path) -> Iterator[tuple[str, float, int]]:
    """What, seconds, how many: the first step, and of each part of a visit the most that a long
    task spends in our scripts, in the theme's, and in the browser itself."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    executable = (ROOT / ".cache/browser").read_text().strip()
    first: list[float] = []
    longest: dict[str, list[float]] = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET)
        for _ in range(VISITS):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.add_init_script(FIRST_STEP)
            opened(page, f"http://127.0.0.1:{server.server_port}{LESSON}")
            first.append(until(page, "globalThis.firstStep") / 1000)
            for what, since in _parts(page):
                tasks, scripts = page.evaluate(SINCE, since)
                shares = [_shared(task, scripts) for task in tasks]
                for i, who in enumerate(WHOSE):
                    most = max((share[i] for share in shares), default=0)
                    longest.setdefault(f"{what}, {who}", []).append(most / 1000)
            page.close()
        browser.close()
    server.shutdown()
    yield "first step, from DOMContentLoaded", median(first), VISITS
    for what, taken in longest.items():
        yield f"most of a long task: {what}", median(taken), VISITS


def _shared(
    task: tuple[float, float], scripts: list[tuple[float, float, str]]
) -> tuple[float, float, float]:
    """Milliseconds of a long task in our scripts, in the theme's, and in none: what the browser
    does by itself, above all style and layout. A page's inline scripts are the theme's."""
    start, duration = task
    ours = theirs = 0.0
    for begun, taken, url in scripts:
        if start <= begun < start + duration:
            if "/assets/javascripts/" in url or url.endswith(LESSON):
                theirs += taken
            else:
                ours += taken
    return ours, theirs, max(duration - ours - theirs, 0)


def _parts(page: Page) -> Iterator[tuple[str, float]]:
    """Load, boot, stepping: each with the moment it began."""
    now = "performance.now()"
    page.wait_for_timeout(500)
    yield "load", 0
    begin = page.evaluate(now)
    ready(page)
    page.wait_for_timeout(300)
    yield "boot", begin
    begin = page.evaluate(now)
    set_cards(page, 8)
    at_step(page, 0, 14)
    for step in range(1, 15):
        button(page, "下一步").click()
        at_step(page, step, 14)
    yield "stepping", begin
