"""The committed data files: model configs, paper facts.

In a checkout they live in ``docs/data`` (published with the site); in the wheel that
the browser runs they travel inside the package as ``py_core/data``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def folder() -> Path:
    packed = _HERE / "data"
    return packed if packed.is_dir() else _HERE.parent / "docs" / "data"


@cache
def read(name: str) -> str:
    """The text of data file ``name``, for example ``models/qwen3-8b.json``."""
    return (folder() / name).read_text(encoding="utf-8")


@cache
def model_slugs() -> tuple[str, ...]:
    """The models that come with the project, by file name."""
    return tuple(sorted(p.stem for p in (folder() / "models").glob("*.json")))
