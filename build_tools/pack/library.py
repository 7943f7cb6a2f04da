"""Which modules of the standard library readers' browsers get: those that a tour was seen to use.

The tour (``tour.py``) goes through every widget and every error path in Pyodide with its whole
library, and notes what has been imported from it by the end; ``make library`` writes that down
in ``library.txt``.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
LIST = HERE / "library.txt"
TOUR = HERE / "tour.py"
HEAD = "# Written by `make library`: what a tour in Pyodide (tour.py) was seen to import.\n"


def kept() -> frozenset[str]:
    """The files to keep, as they are called in Pyodide's zip: ``json/decoder.py``."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def seen(root: Path, cache: Path) -> list[str]:
    """Take the tour and say what it has imported."""
    from build_tools import pack
    from build_tools.pack import node

    runtime = pack.runtime_pack(root, cache, whole=True)
    packs = pack.Packs(runtime, pack.core_pack(root, cache, runtime))
    with TemporaryDirectory() as folder:
        told = node.run(TOUR.read_text(encoding="utf-8"), node.options(packs, Path(folder)))
    missing: list[str] = told["missing"]
    if missing:
        raise SystemExit(f"library: Pyodide has no {', '.join(missing)}")
    return sorted(told["seen"])


def write() -> None:
    root = HERE.parent.parent
    files = seen(root, root / ".cache")
    LIST.write_text("\n".join([HEAD, *files, ""]), encoding="utf-8")
    print(f"library: {len(files)} modules, written to {LIST.relative_to(root)}")
