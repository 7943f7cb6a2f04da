"""A copy of the project that may be spoilt; what is big and unchanged is linked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

FOLDERS = ("py_core", "widgets", "build_tools", "docs", ".cache/pack")
FILES = ("mkdocs.yml", "pyproject.toml", "LICENSE", "LICENSE-docs")
LESSON = "import sys; from build_tools.cli import app; sys.argv[0] = 'lesson'; app()"


def copied(target: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in FOLDERS:
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, target / name, ignore=ignored)
    (target / "node_modules").symlink_to(ROOT / "node_modules")
    for name in FILES:
        shutil.copy(ROOT / name, target / name)
    return target


def lesson(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The copy's own ``lesson`` command."""
    return subprocess.run(
        [sys.executable, "-X", "utf8", "-c", LESSON, *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
