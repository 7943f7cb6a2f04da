"""Budgets of what readers fetch; a page over its budget fails here."""

from __future__ import annotations

from pathlib import Path

from tests import weight


def test_every_page_is_light(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) >= 4
    weights = {page: weight.parts(site, page) for page in pages}
    too_heavy = {
        page.relative_to(site).as_posix(): sorted(parts.items(), key=lambda part: -part[1])[:5]
        for page, parts in weights.items()
        if sum(parts.values()) > weight.PAGE_LIMIT
    }
    assert not too_heavy
    (lesson,) = (parts for page, parts in weights.items() if page.parent.name == "data-parallel")
    assert any(path.endswith(".css") for path in lesson)
    assert any("/runtime." in path for path in lesson)


def test_no_font_is_fetched(site: Path) -> None:
    assert not [f for f in site.rglob("*") if f.suffix in {".woff", ".woff2", ".ttf", ".otf"}]
    for style in site.rglob("*.css"):
        assert "@font-face" not in style.read_text(encoding="utf-8")


def test_the_runtime_is_within_its_budget(site: Path) -> None:
    """With gzip; brotli takes its time and is weighed by `make quality`."""
    files = weight.runtime(site)
    assert {"pyodide.asm.wasm", "python_stdlib.zip"} < {file.name for file in files}
    assert sum(map(weight.gzipped, files)) <= weight.RUNTIME_GZIP
