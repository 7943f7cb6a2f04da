"""What readers fetch, in bytes as a host that compresses sends them."""

from __future__ import annotations

import gzip
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin, urlsplit

PAGE_LIMIT = 250_000  # gzip: HTML, styles, scripts and fonts with which a page opens
RUNTIME_GZIP = 4_700_000
RUNTIME_BROTLI = 4_000_000


class _Links(HTMLParser):
    """What a browser fetches for a page, unasked."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "script":
            self.found.append(given.get("src") or "")
        if tag == "link" and set((given.get("rel") or "").split()) & {"stylesheet", "preload"}:
            self.found.append(given.get("href") or "")


def parts(site: Path, page: Path) -> dict[str, int]:
    """Bytes of a page and of each file that it loads; fonts would be loaded by styles."""
    links = _Links()
    links.feed(page.read_text(encoding="utf-8"))
    at = page.relative_to(site).as_posix()
    paths = {urlsplit(urljoin(f"/{at}", link)).path.lstrip("/") for link in links.found if link}
    return {path: gzipped(site / path) for path in sorted({at, *paths})}


@cache
def gzipped(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 9))


def runtime(site: Path) -> list[Path]:
    """Every file that a boot of Python fetches."""
    packed = [f for f in site.glob("assets/py/*/*") if not f.name.endswith(".json")]
    return sorted([*packed, *site.glob("assets/lesson/python.*")])
