"""The README's library example does what the README says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path


def test_the_library_example(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    code, printed = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", readme, re.S).groups()
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd="/",
    )
    assert done.stderr == ""
    assert done.stdout == printed


def test_every_make_target_it_names_exists(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"`?make ([a-z]+)", readme))
    assert targets >= {"serve", "test", "site"}
    assert all(re.search(rf"^{t}:", makefile, re.M) for t in targets)


def test_every_place_and_picture_it_names_exists(root: Path) -> None:
    readme = (root / "README.md").read_text(encoding="utf-8")
    where = readme[readme.index("## Where to change what") : readme.index("## Hosting")]
    places = re.findall(r"`((?:docs|py_core|widgets|build_tools)/[\w./-]*)", where)
    pictures = re.findall(r'<img src="([^"]+)"', readme)
    assert len(places) >= 12
    assert len(pictures) >= 3
    for path in (*places, *pictures):
        assert (root / path.replace("NAME/", "")).exists(), path
