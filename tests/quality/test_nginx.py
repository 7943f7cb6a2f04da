"""nginx with the configuration that we advise, run for real."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPMessage
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import pytest
from playwright.sync_api import Page, expect

from build_tools import hosting
from tests import nginx
from tests.browser.reader import LESSON, at_step, opened, ready, set_cards
from tests.site.project import lesson as lesson_command

AT = "/course/"
QUICK = {
    ".gz": lambda content: gzip.compress(content, 1, mtime=0),
    ".br": lambda content: brotli.compress(content, quality=1),
}
IMMUTABLE = "public, max-age=31536000, immutable"


@pytest.fixture(scope="module")
def origin(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """nginx with the configuration that `lesson nginx` prints, the site below ``AT``."""
    with nginx.hosting(site, tmp_path_factory.mktemp("nginx"), AT, QUICK) as address:
        yield address


def fetch(address: str, accepts: str = "identity") -> tuple[int, HTTPMessage, bytes]:
    """Status, headers, and the bytes as they were sent."""
    url = urlsplit(address)
    connection = HTTPConnection(str(url.hostname), url.port, timeout=20)
    connection.request("GET", url.path, headers={"Accept-Encoding": accepts})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.headers, body


@pytest.mark.parametrize("accepts", ["identity", "gzip", "gzip, deflate, br"])
def test_nginx_sends_the_siblings(origin: str, site: Path, accepts: str) -> None:
    for file in (next(site.rglob("*.wasm")), site / "data-parallel/index.html"):
        path = file.relative_to(site).as_posix()
        status, headers, body = fetch(f"{origin}{AT}{path}", accepts)
        assert status == 200
        wanted = {"identity": None, "gzip": "gzip"}.get(accepts, "br")
        assert headers["Content-Encoding"] == wanted
        unpack = {"gzip": gzip.decompress, "br": brotli.decompress}.get(wanted or "", bytes)
        assert zlib.crc32(unpack(body)) == zlib.crc32(file.read_bytes())
        if wanted:
            assert headers["Vary"] == "Accept-Encoding"


def test_nginx_says_what_is_what(origin: str, site: Path) -> None:
    def found(pattern: str) -> str:
        return next(site.glob(pattern)).relative_to(site).as_posix()

    expected = {
        "": ("text/html; charset=utf-8", "no-cache"),
        "data-parallel/": ("text/html; charset=utf-8", "no-cache"),
        "service-worker.js": ("application/javascript; charset=utf-8", "no-cache"),
        "manifest.webmanifest": ("application/manifest+json", "no-cache"),
        "search/search_index.json": ("application/json; charset=utf-8", "no-cache"),
        found("assets/lesson/runtime.*.js"): ("application/javascript; charset=utf-8", IMMUTABLE),
        found("assets/lesson/python.*.mjs"): ("text/javascript; charset=utf-8", IMMUTABLE),
        found("assets/py/*/pyodide.mjs"): ("text/javascript; charset=utf-8", IMMUTABLE),
        found("assets/py/*/*.wasm"): ("application/wasm", IMMUTABLE),
        found("assets/py/*/*.whl"): ("application/zip", IMMUTABLE),
    }
    for path, said in expected.items():
        status, headers, _ = fetch(f"{origin}{AT}{path}")
        assert (status, headers["Content-Type"], headers["Cache-Control"]) == (200, *said), path
        assert headers["Content-Security-Policy"] == hosting.policy(site)
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_nginx_elsewhere(origin: str, site: Path) -> None:
    status, headers, body = fetch(f"{origin}{AT}assets/lesson/gone.0123456789ab.js")
    assert status == 404
    assert body == (site / "404.html").read_bytes()
    assert headers["Cache-Control"] is None  # what is missing is not missing for ever
    status, headers, _ = fetch(f"{origin}{AT}data-parallel")
    assert (status, headers["Location"]) == (301, f"{AT}data-parallel/")


def test_the_lesson_under_nginx(page: Page, origin: str) -> None:
    opened(page, f"{origin}{AT.rstrip('/')}{LESSON}")
    ready(page)
    set_cards(page, 7)
    at_step(page, 0, 12)
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("梯度")
    page.keyboard.press("End")  # the theme waits for a key, which an input method is not
    expect(page.locator(".md-search-result__link").first).to_be_visible()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--site", "nowhere"], "`make site` makes it"),
        (["--at", "course"], "a path such as / or /course/"),
        (["--at", "/a;b/"], "a path such as / or /course/"),
        (["--root", "www"], "an absolute path"),
    ],
)
def test_nginx_is_told_nothing_wrong(
    site: Path, root: Path, arguments: list[str], says: str
) -> None:
    done = lesson_command(root, "nginx", *["--site", str(site), *arguments])
    assert done.returncode == 2
    assert says in done.stderr
