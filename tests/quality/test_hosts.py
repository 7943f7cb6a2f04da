"""Plain static hosts, which know few types, send no headers, and put the site below a path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.hosts import SUB_PATH, Host, started
from tests.browser.reader import LESSON, at_step, opened, ready, set_cards

UNKNOWN = (".wasm", ".whl", ".zip", ".webmanifest")


@pytest.fixture(params=["application/octet-stream", None])
def origin(site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """Only scripts, styles and pages have their types; everything else one, or none at all."""
    with started(Host(site, types=dict.fromkeys(UNKNOWN, request.param))) as host:
        yield host.origin + SUB_PATH.rstrip("/")


def test_a_host_that_knows_no_types(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    ready(page)
    set_cards(page, 7)
    at_step(page, 0, 12)
