"""The whole build: what it writes, what stops it, and that it can be repeated."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from py_core.quantity import evaluate
from py_core.scenario import DEFAULT
from py_core.units import UNITS
from tests import valid
from tests.conftest import mkdocs


def pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_the_figures_of_the_lesson(site: Path) -> None:
    html = (site / "data-parallel/index.html").read_text(encoding="utf-8")
    figure = r'<button class="q" data-q="([^"]+)"(?: data-set="([^"]+)")?[^>]*>([^<]+)<'
    shown = re.findall(figure, html)
    assert len(shown) >= 15
    for name, changes, text in shown:
        fields = dict(pair.split("=") for pair in changes.split("&amp;")) if changes else {}
        q = evaluate(name, DEFAULT.with_fields(fields))
        same = [u for u in UNITS.values() if u.dimension == q.term.dimension]
        assert text in [q.display(), *(q.display(u.name) for u in same)]
    texts = [text for _, _, text in shown]
    for golden in ("27,781,427,952", "444.5 GB", "97.2 GB", "109.4 GB", "388.9 GB", "3,500 GB"):
        assert golden in texts


NAMING = ("for", "popovertarget", "aria-controls", "aria-describedby", "aria-labelledby")


class Page(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.named: list[str] = []
        """Ids that attributes speak of."""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.ids.append(value)
            elif key in ("href", "src") and value:
                self.links.append(value)
            elif key in NAMING and value:
                self.named += value.split()


def test_every_page_is_valid_html(site: Path) -> None:
    assert valid.faults(site) == []


def test_no_id_stands_twice(site: Path) -> None:
    for file in pages(site):
        ids = Counter(Page(file.read_text(encoding="utf-8")).ids)
        assert [i for i, n in ids.items() if n > 1] == [], file.name


def test_every_local_link_leads_somewhere(site: Path) -> None:
    """Into other pages too, to the very section."""
    parsed = {file: Page(file.read_text(encoding="utf-8")) for file in pages(site)}
    for file, page in parsed.items():
        for link in page.links:
            path, _, fragment = link.partition("#")
            if re.match(r"[a-z]+:", link):
                continue
            path = path.partition("?")[0]
            # 404.html is served for any address, so its links start at the root.
            base = site if path.startswith("/") else file.parent
            target = (base / path.removeprefix("/")).resolve() if path else file
            if target.is_dir():
                target /= "index.html"
            where = f"{file.relative_to(site)}: {link}"
            assert target.exists(), where
            if fragment and target in parsed:
                assert fragment in parsed[target].ids, where


def test_what_is_named_by_its_id_is_there(site: Path) -> None:
    for file in pages(site):
        page = Page(file.read_text(encoding="utf-8"))
        assert set(page.named) - set(page.ids) == set(), file.relative_to(site)


def test_search_knows_every_section_of_the_lesson(site: Path) -> None:
    """What search leaves out, widgets and panels, must not take the text behind it along."""
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    texts = {d["location"]: d["text"] for d in index["docs"]}
    html = (site / "data-parallel/index.html").read_text(encoding="utf-8")
    for section in re.findall(r'<h2 id="([^"]+)"', html):
        if section != "references":
            assert len(texts[f"data-parallel/#{section}"]) > 60, section
    assert not any("精确值" in text for text in texts.values())


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loads = re.compile(
        r'(?:src|srcset)="(?:https?:)?//|<link[^>]+href="(?:https?:)?//|url\(["\']?//'
    )
    for file in [*pages(site), *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        found = [m for m in loads.findall(text) if "canonical" not in m]
        assert found == [], file.name


@pytest.fixture
def project(tmp_path: Path, root: Path) -> Path:
    """A copy of the project whose pages may be spoilt."""
    for name in ("py_core", "widgets", "build_tools", "docs", "node_modules", ".cache/pack"):
        target = tmp_path / name
        if name == "node_modules":
            target.symlink_to(root / name)
        elif (root / name).exists():
            shutil.copytree(root / name, target, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "pyproject.toml", "LICENSE", "LICENSE-docs"):
        shutil.copy(root / name, tmp_path / name)
    return tmp_path


def build(project: Path):
    return mkdocs("build", "-f", str(project / "mkdocs.yml"), "-d", str(project / "out"))


def test_an_unknown_name_stops_the_build_with_file_and_line(project: Path) -> None:
    page = project / "docs/data-parallel.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    lines[10:10] = ["", '每张卡 {{ q("ring.sent_per_crad") }}，{{ q("state.byte") }}。', ""]
    page.write_text("\n".join(lines), encoding="utf-8")
    done = build(project)
    assert done.returncode != 0
    assert "docs/data-parallel.md:12:5: " in done.stderr
    assert "ring.sent_per_card" in done.stderr
    assert "state.bytes" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_page_that_is_not_utf8_is_named_with_its_line(project: Path) -> None:
    page = project / "docs/index.md"
    page.write_bytes("# 一 {#a}\n\n好\n".encode() + "坏".encode("gbk") + b"\n")
    done = build(project)
    assert done.returncode != 0
    assert "docs/index.md:4:1: not UTF-8" in done.stderr


def test_a_changed_config_changes_the_figures(project: Path) -> None:
    anchor = project / "docs/data/anchor-model.json"
    text = anchor.read_text(encoding="utf-8")
    anchor.write_text(
        text.replace('"num_hidden_layers": 64', '"num_hidden_layers": 4').replace(
            '"linear_attention",\n', ""
        ),
        encoding="utf-8",
    )
    done = build(project)
    # Fewer layers than layer_types says: the config is refused, with its pointer.
    assert done.returncode != 0
    assert "/text_config/layer_types" in done.stderr


def test_two_builds_are_the_same_bytes(site: Path, tmp_path: Path) -> None:
    done = mkdocs("build", "--strict", "--site-dir", str(tmp_path), SOURCE_DATE_EPOCH="0")
    assert done.returncode == 0, done.stderr
    again = {p.relative_to(tmp_path): p for p in tmp_path.rglob("*") if p.is_file()}
    first = {p.relative_to(site): p for p in site.rglob("*") if p.is_file()}
    assert again.keys() == first.keys()
    assert [str(k) for k in first if again[k].read_bytes() != first[k].read_bytes()] == []
