"""Shared by all tests: the repository's root and, built once, the site."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from build_tools import pack
from build_tools.pack import node

# How long an example takes is a matter for `make bench`, not for a busy machine.
settings.register_profile("project", deadline=None)
settings.load_profile("project")

ROOT = Path(__file__).resolve().parent.parent


def mkdocs(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run MkDocs of this environment; both streams come back as text."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *arguments],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """With NO_SKIPS, as in .ci/run, a test that wants something installed is a test that failed."""
    report = yield
    if report.skipped and os.environ.get("NO_SKIPS"):
        report.outcome, (*_, report.longrepr) = "failed", report.longrepr
    return report


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make site`` builds it."""
    folder = tmp_path_factory.mktemp("site")
    done = mkdocs("build", "--strict", "--site-dir", str(folder))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def browser_python(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """How the browser's Python boots, with the core that the site ships."""
    return node.options(pack.make(ROOT, ROOT / ".cache"), tmp_path_factory.mktemp("pyodide"))
