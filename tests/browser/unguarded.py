"""The lesson without its policy, which would hide that something ran which should not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import PATIENCE, Watch
from tests.browser.hosts import Host, started
from tests.browser.reader import LESSON, opened, ready


@contextmanager
def lesson(browser: Browser, site: Path) -> Iterator[tuple[Page, Watch]]:
    """The lesson in a context that ignores the policy; counts what `executed` is called by."""
    with started(Host(site)) as host:
        context = browser.new_context(bypass_csp=True)
        context.set_default_timeout(PATIENCE)
        watch = Watch(host.origin)
        context.on("request", watch.request)
        page = context.new_page()
        page.on("dialog", lambda dialog: watch.messages.append(dialog.message))
        page.on("pageerror", lambda error: watch.messages.append(str(error)))
        page.add_init_script("globalThis.runs = 0; globalThis.executed = () => runs++;")
        opened(page, host.origin + LESSON)
        ready(page)
        page.locator(".yours-open").click()
        expect(page.locator("#yours")).to_be_visible()
        yield page, watch
        context.close()


def nothing_ran(page: Page, watch: Watch) -> None:
    page.wait_for_timeout(100)  # errors of pictures come late
    assert page.evaluate("runs") == 0
    assert watch.messages == []
    assert watch.foreign == []
    assert page.url.startswith(watch.origin + LESSON)
