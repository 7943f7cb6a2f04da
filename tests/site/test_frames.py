"""Frames of the figures as HTML: valid, and what they cost on the wire."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import brotli
import pytest

import widgets
from build_tools.assets import SCRIPTS, runtime, served
from tests import valid
from widgets import frame

OWN_SCRIPTS = 15_000  # bytes of brotli
FRAMES = 60_000
QUERIES = {
    "ring": [
        "",
        "step=2",
        "mode=limits",
        "mode=tree&with=ring&n=8&step=3",
        "mode=ring&with=ring&predict=on&step=2&guess=1",
        "n=99&bogus=1&elements=3",
        "mode=hierarchical&n=8&step=2",
        "n=16&step=5",
        "n=5&elements=17",
    ],
    "overlap": [
        "",
        "guess=half",
        "guess=skip&bucket=30&table=on&pin=mode%3Dsync&time=30000&zoom=2",
        "guess=skip&unused=error&tokens=x&bogus=1",
        "guess=skip&accumulation=3&no_sync=off&model=deepseek-v3",
    ],
    "scale": ["", "guess=skip&cards=64", "guess=neither&cards=100&cards_per_node=8&time=on&x=1"],
}


def test_every_state_is_valid_html(tmp_path: Path) -> None:
    for name, queries in QUERIES.items():
        for number, query in enumerate(queries):
            html = frame.element(widgets.widget(name), query, name, "../", "r.json", "f.js")
            head = '<!doctype html><html lang="zh"><head><title>x</title></head>'
            page = tmp_path / f"{name}-{number}.html"
            page.write_text(f"{head}<body>{html}</body></html>", encoding="utf-8")
    assert valid.faults(tmp_path) == []


def own_scripts(root: Path) -> dict[str, str]:
    ours = (root / script for script in SCRIPTS if script.startswith("widgets/"))
    return {file.name: served(file).decode() for file in ours}


def test_no_script_formats_a_number(root: Path) -> None:
    """Python and JavaScript round differently, so only one of them writes numbers."""
    formats = re.compile(r"\.(toFixed|toPrecision|toExponential|toLocaleString)\b|\bIntl\.")
    for file in (root / "widgets/runtime").glob("*.*js"):
        assert formats.findall(file.read_text(encoding="utf-8")) == [], file.name


def test_how_much_has_come_is_told_by_the_build(site: Path) -> None:
    (file,) = site.glob("assets/lesson/python.*.json")
    said = json.loads(file.read_text(encoding="utf-8"))
    total = sum(f["size"] for f in said["files"].values())
    assert said["sizes"][:2] == ["0.0 MB", "0.1 MB"]
    assert said["sizes"][12] == "1.2 MB"
    assert round(total / said["step"]) < len(said["sizes"])


def test_the_runtime_is_small(root: Path) -> None:
    sizes = {n: len(brotli.compress(s.encode())) for n, s in own_scripts(root).items()}
    assert len(brotli.compress(runtime(root))) <= OWN_SCRIPTS, sizes


def test_scripts_lose_their_comments_and_nothing_else(root: Path, tmp_path: Path) -> None:
    for name, text in own_scripts(root).items():
        content = (root / "widgets/runtime" / name).read_text(encoding="utf-8")
        left = {line.strip() for line in text.splitlines()}
        untyped = re.sub(r"/\*\* @[^*]*\*/ ?", "", content).splitlines()
        gone = {line.strip() for line in untyped if line.strip()} - left
        assert all(line.startswith(("//", "/*", "*")) for line in gone), name
        (tmp_path / name).write_text(text, encoding="utf-8")
        subprocess.run(["node", "--check", tmp_path / name], check=True)


@pytest.mark.parametrize("name", widgets.NAMES)
def test_prerendered_frames_are_small_on_the_wire(name: str) -> None:
    frames = "".join(widgets.render(name, query) for query in widgets.widget(name).walk())
    assert len(brotli.compress(frames.encode(), quality=5)) <= FRAMES
