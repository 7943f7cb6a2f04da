"""The site's own style sheet and scripts, under names that carry their content's hash."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import Any

from py_core.units import display, unit

SCRIPTS = (
    "node_modules/idiomorph/dist/idiomorph.min.js",
    "widgets/runtime/figures.js",
    "widgets/runtime/python.js",
    "widgets/runtime/queries.js",
    "widgets/runtime/view.js",
    "widgets/runtime/tasks.js",
    "widgets/runtime/undo.js",
    "widgets/runtime/player.js",
    "widgets/runtime/keyboard.js",
    "widgets/runtime/status.js",
    "widgets/runtime/intent.js",
    "widgets/runtime/frames.js",
    "widgets/runtime/lesson-widget.js",
    "widgets/runtime/links.js",
    "widgets/runtime/lights.js",
    "widgets/runtime/files.js",
    "widgets/runtime/progress.js",
    "widgets/runtime/summon.js",
    "widgets/runtime/offline.js",
)
WORKER = "widgets/runtime/worker.mjs"


@dataclass(slots=True)
class Assets:
    """Site paths and contents; ``style`` and ``scripts`` go on every page."""

    files: dict[str, bytes] = field(default_factory=dict)
    style: str = ""
    scripts: list[str] = field(default_factory=list)
    worker: bytes = b""

    def add(self, stem: str, suffix: str, content: bytes, named_by: bytes = b"") -> str:
        """A file named by its content, or by another's."""
        path = f"assets/lesson/{stem}.{sha256(named_by or content).hexdigest()[:12]}{suffix}"
        self.files[path] = content
        return path


def collect(root: Path) -> Assets:
    """Bundle the style sheets of site and widgets, and the runtime's scripts."""
    assets = Assets()
    styles = [
        root / "build_tools/lesson.css",
        root / "build_tools/figures.css",
        root / "build_tools/offline.css",
        root / "widgets/figures.css",
        root / "widgets/element.css",
        *sorted(root.glob("widgets/*/style.css")),
        root / "build_tools/print.css",
    ]
    assets.style = assets.add("lesson", ".css", b"\n".join(s.read_bytes() for s in styles))
    others = [root / script for script in SCRIPTS if not script.startswith("widgets/")]
    for file in others:
        assets.scripts.append(assets.add(file.name.split(".")[0], ".js", served(file)))
    assets.scripts.append(assets.add("runtime", ".js", runtime(root)))
    assets.worker = served(root / WORKER)
    return assets


# Comments that have their lines to themselves, and types within a line: authors read them,
# browsers need not fetch them.
_COMMENT = re.compile(
    r"^[ \t]*(?://.*|/\*(?:(?!\*/)[\s\S])*\*/[ \t]*)\n|/\*\* @\w+ \{(?:(?!\*/).)*\*/ ?", re.M
)


def served(script: Path) -> bytes:
    """A script of ours as readers fetch it; others' are left as they are."""
    content = script.read_bytes()
    return (
        content if "node_modules" in script.parts else _COMMENT.sub("", content.decode()).encode()
    )


def runtime(root: Path) -> bytes:
    """Our own scripts in one: they compress better together. Each is a world of its own."""
    ours = (root / script for script in SCRIPTS if script.startswith("widgets/"))
    return b"".join(served(file) for file in ours)


SIZE_STEP = 100_000  # bytes between two words of how much has come


def manifest(assets: Assets, boot: dict[str, Any]) -> str:
    """Add what a page boots Python from, two files of one name: the worker, which has its
    manifest in it, and what the page itself must know. Paths are relative to either.

    ``sizes`` has the words for how much has come, one for every ``step`` bytes: the page knows
    how many bytes that is, and formats no number.
    """
    worker = f"const MANIFEST = {json.dumps(boot)};\n".encode() + assets.worker
    assets.add("python", ".mjs", worker)
    total = sum(file["size"] for file in boot["files"].values())
    places = range(-(-total // SIZE_STEP) + 1)
    told = {
        "index": boot["index"],
        "files": boot["files"],
        "sizes": [display(Fraction(n * SIZE_STEP), unit("MB"), 1) for n in places],
        "step": SIZE_STEP,
    }
    page = json.dumps(told, ensure_ascii=False).encode()
    return assets.add("python", ".json", page, named_by=worker)


def frames_folder(root: Path, sources: Iterable[str]) -> Path:
    """Where frames that were made from ``sources``, as they are now, are kept; those made from
    anything else are deleted. A source is a file or a folder below ``root``."""
    content = sha256()
    places = (root / source for source in sources)
    found = (f for place in places for f in (place, *place.rglob("*")) if f.is_file())
    for file in sorted(f for f in found if "__pycache__" not in f.parts):
        content.update(f"{file.relative_to(root).as_posix()}\0".encode())
        content.update(sha256(file.read_bytes()).digest())
    folder = root / ".cache" / "frames" / content.hexdigest()[:16]
    for other in folder.parent.glob("*"):
        if other != folder:
            rmtree(other, ignore_errors=True)
    return folder
