"""What html-validate finds in pages."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conftest import ROOT

PROGRAM = ROOT / "node_modules/.bin/html-validate"
RULES = {
    "root": True,
    "extends": ["html-validate:recommended"],
    "rules": {
        # HTML lets an id begin with anything (the theme's do with "__"), and a list have a name.
        "valid-id": ["error", {"relaxed": True}],
        "aria-label-misuse": ["error", {"allowAnyNamable": True}],
        # A field is followed as it changes, and needs no button that sends it.
        "wcag/h32": "off",
        # How a page is spelt: spaces and doctype by the theme, open="" by Markdown.
        "no-trailing-whitespace": "off",
        "attribute-boolean-style": "off",
        "doctype-style": "off",
    },
}


def faults(folder: Path) -> list[str]:
    """Of all pages in ``folder``: where, what, and which rule says so."""
    pages = sorted(folder.rglob("*.html"))
    with TemporaryDirectory() as own:
        rules, found = Path(own) / "rules.json", Path(own) / "found.json"
        rules.write_text(json.dumps(RULES), encoding="utf-8")
        with found.open("wb") as out:  # into a pipe it writes no more than fits at once
            done = subprocess.run(
                [PROGRAM, "--config", rules, "--formatter", "json", *pages],
                stdout=out,
                check=False,
                cwd=ROOT,
                timeout=240,
            )
        checked = json.loads(found.read_bytes())
    assert bool(checked) == bool(done.returncode)
    return [
        f"{Path(page['filePath']).relative_to(folder)}:{m['line']}: {m['message']} ({m['ruleId']})"
        for page in checked
        for m in page["messages"]
    ]
