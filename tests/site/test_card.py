"""The picture other sites show for a link, and what tells them of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from build_tools import card
from tests.conftest import ROOT, mkdocs

AT = "https://example.org/course/"


def test_the_picture_shows_todays_figures() -> None:
    assert json.loads(card.SHOWN.read_text("utf-8")) == card.shown(card.PICTURE.read_bytes()), (
        "its figures have changed: run `make card`"
    )
    html = card.html()
    assert [f for f in card.figures().values() if f not in html] == []


def test_the_picture_is_one_that_sites_take() -> None:
    picture = card.PICTURE.read_bytes()
    assert picture.startswith(b"\x89PNG\r\n")
    size = tuple(int.from_bytes(picture[at : at + 4]) for at in (16, 20))
    assert size == (card.WIDTH, card.HEIGHT)
    assert len(picture) < 300_000


@pytest.fixture(scope="module")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built for an address of its own."""
    folder = tmp_path_factory.mktemp("placed")
    done = mkdocs("build", "--strict", "--site-dir", str(folder), SITE_URL=AT)
    assert done.returncode == 0, done.stderr
    return folder


def test_pages_say_where_the_picture_is(placed: Path) -> None:
    page = (placed / "data-parallel/index.html").read_text("utf-8")
    told = dict(re.findall(r'<meta property="(og:[a-z:_]+)" content="([^"]*)">', page))
    assert told["og:title"] == "数据并行"
    assert told["og:url"] == f"{AT}data-parallel/"
    assert told["og:image"].startswith(AT)
    assert (placed / told["og:image"].removeprefix(AT)).is_file()
    assert f'<link rel="canonical" href="{AT}data-parallel/">' in page


def test_the_sitemap_lists_readers_pages(placed: Path) -> None:
    names = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
    root = ElementTree.parse(placed / "sitemap.xml").getroot()
    listed = {e.text for e in root.findall("s:url/s:loc", names)}
    pages = {file.stem for file in (ROOT / "docs").glob("*.md")} - {"index"}
    assert listed == {AT} | {f"{AT}{page}/" for page in pages}


def test_a_lost_reader_finds_the_way(placed: Path) -> None:
    page = (placed / "404.html").read_text("utf-8")
    assert "没有这一页" in page
    assert 'href="/course/data-parallel/"' in page
    links = re.findall(r'(?:href|src)="(/[^"]*)"', page)
    assert [link for link in links if not link.startswith("/course/")] == []


def test_without_an_address_nothing_is_made_up(site: Path) -> None:
    assert not (site / "sitemap.xml").exists()
    page = (site / "data-parallel/index.html").read_text("utf-8")
    assert "og:title" in page
    assert "og:image" not in page
    assert 'rel="canonical"' not in page
