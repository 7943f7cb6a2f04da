"""What a built site allows itself: its policy, nobody else's origin, nothing it does not use."""

from __future__ import annotations

import gzip
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import brotli
import pytest

from build_tools import compress, csp, offline
from tests.conftest import mkdocs
from tests.core.test_hostile import odd

TEXT = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".xml", ".webmanifest"}
ORIGIN = re.compile(r"(?:https?:|[\"'(=])//([a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.I)
NAMES_ONLY = {"www.w3.org", "www.sitemaps.org", "json-schema.org", "example.org"}  # never fetched
CITED = {"arxiv.org", "github.com", "doi.org"}  # where readers go when they follow a link


def without(html: str) -> str:
    """A page without what readers follow: links, and the addresses of its own kind."""
    return re.sub(r'<a [^>]*href="[^"]*"', "<a", html)


# Code of others that comes with the theme or with Pyodide and is never reached: the policy
# forbids the fetch. In comments: where they come from.
UNREACHED = {
    "assets/javascripts/bundle": {
        "api.github.com",  # a repository's stars; this site names none
        "clipboardjs.com",
        "unpkg.com",  # diagrams; no page has one
    },
    "assets/javascripts/workers/search": {"lunrjs.com", "bit.ly", "tartarus.org"},
    "assets/javascripts/lunr/": {"lunrjs.com", "github.com", "www.mozilla.org"},
    "assets/stylesheets/main": {"fontawesome.com"},
    # Pyodide's own host, where nobody says where its files are; we do (`indexURL`).
    "assets/py/": {"cdn.jsdelivr.net"},
}


def test_no_file_names_an_origin_that_pages_could_ask(site: Path) -> None:
    for file in sorted(f for f in site.rglob("*") if f.suffix in TEXT):
        path = file.relative_to(site).as_posix()
        text = file.read_text(encoding="utf-8")
        allowed = set(NAMES_ONLY)
        if file.suffix == ".html":
            text = without(text)
        elif file.suffix == ".json" or path.startswith("assets/frames/"):
            allowed |= CITED  # the same links, as data
        for prefix, origins in UNREACHED.items():
            if path.startswith(prefix):
                allowed |= origins
        assert {o.lower() for o in ORIGIN.findall(text)} <= allowed, path


class Inline(HTMLParser):
    """What a policy would refuse: styles and handlers in attributes, styles in elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [f"<{tag} {key}>" for key, _ in attrs if key == "style" or key[:2] == "on"]
        self.found += [f"<{tag}>"] * (tag == "style")


def test_every_page_carries_the_policy_and_breaks_it_nowhere(site: Path) -> None:
    for file in site.rglob("*.html"):
        html = file.read_text(encoding="utf-8")
        said = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', html)
        assert said == [csp.policy(csp.hashes(html))], file
        before = html[: html.index("<meta http-equiv=")]
        assert not re.search(r"<(script|style|link)", before), "what comes earlier is not held"
        assert "unsafe-inline" not in said[0]
        assert "'unsafe-eval'" not in said[0]
        assert Inline(html).found == [], file


def test_no_frame_has_a_style_or_a_handler(site: Path) -> None:
    scripts = set(site.glob("assets/frames/*.js"))
    panels = set(site.glob("assets/frames/yours.*.js"))
    for panel in panels:
        first = panel.read_text(encoding="utf-8").splitlines()[0]
        html = json.loads(first.partition(" = ")[2].removesuffix(";"))
        assert odd(html) == [], panel.name
    scripts -= panels
    assert len(scripts) >= 5
    assert panels
    for script in scripts:
        given = script.read_text(encoding="utf-8").partition("})(")[2].rstrip().rstrip(";")
        _, lines, frames = json.loads(f"[{given.removesuffix(')')}]")
        for query, numbers in frames.items():
            html = "\n".join(lines[i] for i in numbers)
            assert odd(html) == [], f"{script.name} {query}"


def test_hosts_that_take_headers_are_told_the_same(site: Path) -> None:
    text = (site / "_headers").read_text(encoding="utf-8")
    said = re.search(r"^  Content-Security-Policy: (.*)$", text, re.M)
    assert said
    for file in site.rglob("*.html"):
        for allowed in csp.hashes(file.read_text(encoding="utf-8")):
            assert allowed in said[1], file
    assert said[1].endswith("frame-ancestors 'self'")
    assert max(map(len, text.splitlines())) <= 2_000  # Cloudflare's limit


def test_a_policy_names_inline_scripts_and_no_data() -> None:
    html = '<script>a</script><script src="x"></script><script type="application/json">{}</script>'
    # printf a | openssl dgst -sha256 -binary | base64
    assert csp.hashes(html) == {"'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='"}
    assert csp.hashes("<script> a</script>") != csp.hashes("<script>a</script>")


def test_the_worker_knows_every_file_as_it_is(site: Path) -> None:
    script = (site / offline.WORKER).read_text(encoding="utf-8")
    kept = json.loads(script.splitlines()[0].removeprefix("self.lessonKept = ").rstrip(";"))
    entries = dict(kept["first"] + kept["later"])
    files = {f.relative_to(site).as_posix(): f for f in site.rglob("*") if f.is_file()}
    assert entries == {
        offline._address(path): offline._digest(file.read_bytes())
        for path, file in files.items()
        if path not in offline.NEVER
    }
    assert all(path.startswith(offline.LATER) for path, _ in kept["later"])
    html = (site / "index.html").read_text(encoding="utf-8")
    assert f'<meta name="lesson-version" content="{kept["version"]}">' in html
    assert "@version@" not in html


def test_nothing_of_the_theme_lies_around_unused(site: Path) -> None:
    words = {f.name for f in site.glob("assets/javascripts/lunr/**/*.js")}
    assert words == {"lunr.stemmer.support.min.js", "lunr.zh.min.js"}
    assert list(site.rglob("*.map")) == []


def test_a_site_that_knows_its_address(tmp_path: Path) -> None:
    address = "https://example.org/course/"
    done = mkdocs("build", "--strict", "--site-dir", str(tmp_path), SITE_URL=address)
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "data-parallel/index.html").read_text(encoding="utf-8")
    assert f'<link rel="canonical" href="{address}data-parallel/">' in html
    # Served for any address that does not exist, so it leads to its files from the host's root.
    missing = (tmp_path / "404.html").read_text(encoding="utf-8")
    links = re.findall(r'<(?:link|script)[^>]+(?:href|src)="([^"]+)"', missing)
    assert links
    assert all(link.startswith("/course/") for link in links)
    assert f"<loc>{address}</loc>" in (tmp_path / "sitemap.xml").read_text(encoding="utf-8")


def test_siblings_are_made_once_and_only_where_they_help(tmp_path: Path) -> None:
    site, cache = tmp_path / "site", tmp_path / "cache"
    (site / "a").mkdir(parents=True)
    text = b"one card is not enough " * 99
    (site / "a/page.html").write_bytes(text)
    (site / "small.css").write_bytes(b"p {}")
    (site / "noise.whl").write_bytes(bytes((i * i * 37 + i // 7) % 251 for i in range(4_000)))
    (site / "picture.png").write_bytes(text)
    (cache).mkdir()
    (cache / "old.br").write_bytes(b"")
    calls: list[str] = []

    def counted(suffix: str):
        def method(content: bytes) -> bytes:
            calls.append(suffix)
            return compress.METHODS[suffix](content)

        return method

    methods = {suffix: counted(suffix) for suffix in compress.METHODS}
    sizes = compress.siblings(site, cache, methods)
    assert gzip.decompress((site / "a/page.html.gz").read_bytes()) == text
    assert brotli.decompress((site / "a/page.html.br").read_bytes()) == text
    made = {f.name for f in site.rglob("*") if f.suffix in methods}
    assert "small.css.gz" not in made
    assert "picture.png.gz" not in made
    assert not (cache / "old.br").exists()
    assert sizes[".br"] < sizes[""]

    before, first = len(calls), {f: f.read_bytes() for f in site.rglob("*") if f.is_file()}
    assert compress.siblings(site, cache, methods) == sizes
    assert len(calls) == before
    assert {f: f.read_bytes() for f in site.rglob("*") if f.is_file()} == first
    # A page that changed leaves no sibling of what it was.
    (site / "a/page.html").write_bytes(b"p")
    compress.siblings(site, cache, methods)
    assert not (site / "a/page.html.br").exists()


@pytest.mark.parametrize("path", ["index.html", "a/index.html", "myindex.html", "assets/x.js"])
def test_pages_are_known_by_their_folders(path: str) -> None:
    known = {"index.html": "", "a/index.html": "a/"}
    assert offline._address(path) == known.get(path, path)
