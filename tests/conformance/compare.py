"""What was measured now against what is committed: compared, or recorded when asked to.

Standard library only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RECORD = "--record"
LISTED = 20  # differences that are worth reading
ABSENT = "(absent)"


def differences(committed: Any, now: Any, place: str = "") -> Iterator[str]:
    """Every place where the two differ, as ``place: committed …, now …``."""
    if isinstance(committed, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*committed, *now)):
            both = committed.get(key, ABSENT), now.get(key, ABSENT)
            yield from differences(*both, f"{place}/{key}")
    elif isinstance(committed, list) and isinstance(now, list):
        for index in range(max(len(committed), len(now))):
            both = [part[index] if index < len(part) else ABSENT for part in (committed, now)]
            yield from differences(*both, f"{place}/{index}")
    elif committed != now or type(committed) is not type(now):
        yield f"{place or '/'}: committed {_shown(committed)}, now {_shown(now)}"


def _shown(value: Any) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, content: dict[str, Any]) -> None:
    text = json.dumps(content, indent=1, ensure_ascii=False)
    # Short lists read better on one line.
    text = re.sub(r"\[\s+((?:-?[\d.]+,?\s*)+)\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    path.write_text(text + "\n", encoding="utf-8")
    print(f"wrote {path} ({path.stat().st_size:,} bytes)", flush=True)


def verdict(path: Path, found: list[str], with_what: str, agreed: str = "the same") -> int:
    """Says whether there are differences, lists the first of them; an exit status."""
    if not found:
        print(f"{path.name}: {with_what}: {agreed}", flush=True)
        return 0
    print(f"{path.name}: {with_what}: {len(found):,} difference(s)")
    for line in found[:LISTED]:
        print(f"  {line}")
    if len(found) > LISTED:
        print(f"  … and {len(found) - LISTED:,} more")
    again = f"python3 tests/conformance/run.py {RECORD}"
    print(f"  Nothing was written. If the new is right: {again}, and commit.", flush=True)
    return 1
