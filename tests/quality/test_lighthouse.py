"""Lighthouse on the built site as nginx serves it: a phone, the median of three visits.

What it says of time depends on how busy the machine is: that is printed, and kept in
``.cache/lighthouse.json``, and fails nothing.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import brotli
import pytest

from tests import nginx
from tests.browser.conftest import QUIET
from tests.browser.reader import LESSON
from tests.conftest import ROOT

AT = "/course/"
VISITS = 3
# As `make site` does, but for Python, which no page waits for.
SMALL = 1_000_000
METHODS = {
    ".br": lambda content: brotli.compress(content, quality=11 if len(content) < SMALL else 1)
}
RESULT = ROOT / ".cache/lighthouse.json"

FULL = ("accessibility", "best-practices", "seo")
SHIFT = 0.01
# What they should be, unasked: performance at least, the others at most, in milliseconds.
WISHES = {"performance": 95, "total-blocking-time": 50, "largest-contentful-paint": 1_800}


@pytest.fixture(scope="module")
def host(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nginx.hosting(site, tmp_path_factory.mktemp("nginx"), AT, METHODS) as address:
        yield address


def visited(address: str) -> dict[str, Any]:
    """Lighthouse's report."""
    done = subprocess.run(
        [
            *(ROOT / "node_modules/.bin/lighthouse", address, "--output=json", "--quiet"),
            *("--no-enable-error-reporting", f"--chrome-flags=--headless=new {' '.join(QUIET)}"),
        ],
        env=os.environ | {"CHROME_PATH": (ROOT / ".cache/browser").read_text().strip()},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def amiss(report: dict[str, Any], category: str) -> list[str]:
    """What takes points off a category: audits, and the elements they name."""
    audits = [report["audits"][ref["id"]] for ref in report["categories"][category]["auditRefs"]]
    return [
        f"{audit['title']}: {json.dumps(audit.get('details', {}).get('items'), ensure_ascii=False)}"
        for audit in audits
        if audit["score"] is not None and audit["score"] < 1
    ]


def measured(report: dict[str, Any]) -> dict[str, float]:
    performance = report["categories"]["performance"]["score"] * 100
    others = {name: report["audits"][name]["numericValue"] for name in list(WISHES)[1:]}
    return {"performance": performance, **others}


@pytest.mark.parametrize("path", ["/", LESSON])
def test_lighthouse(host: str, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    reports = [visited(host + AT.rstrip("/") + path) for _ in range(VISITS)]
    figures = {name: median(measured(report)[name] for report in reports) for name in WISHES}
    kept = json.loads(RESULT.read_text()) if RESULT.is_file() else {}
    RESULT.write_text(json.dumps(kept | {path: figures}, indent=2) + "\n")
    with capsys.disabled():
        told = (f"{name} {value:.0f} (wished {WISHES[name]})" for name, value in figures.items())
        print(f"\nlighthouse {path}: {', '.join(told)}")
    shift = "cumulative-layout-shift"
    assert median(report["audits"][shift]["numericValue"] for report in reports) <= SHIFT
    for category in FULL:
        scores = [report["categories"][category]["score"] for report in reports]
        assert median(scores) == 1, amiss(reports[0], category)
