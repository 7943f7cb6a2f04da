"""Code that fails while pages are made: said in one line that an editor can jump to.

It imports nothing of ours: what is broken may be any of it.
"""

from __future__ import annotations

import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def told(error: Exception) -> str:
    """``py_core/units.py:12: NameError: …``, or the sentence of an error that is one of ours."""
    if type(error).__module__.split(".")[0] in ("py_core", "widgets", "build_tools"):
        return str(error)
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, SyntaxError) and error.filename:
        return f"{_shown(error.filename)}:{error.lineno}: {type(error).__name__}: {error.msg}"
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        f for f in frames if Path(f.filename).is_relative_to(ROOT) and ".venv" not in f.filename
    ]
    if not ours:
        return what
    return f"{_shown(ours[-1].filename)}:{ours[-1].lineno}: {what}"


def _shown(file: str) -> str:
    path = Path(file)
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
