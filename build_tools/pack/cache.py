"""Folders made once: named by what is in them, found again by what they were made from."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

KEEP = 4  # folders of each kind; under `mkdocs serve` every edit makes one
ABANDONED = 3600  # seconds after which a folder still being made belongs to nobody


def digest(parts: Iterable[str | bytes]) -> str:
    """The hash that names a sequence of texts or contents: 12 hexadecimal digits."""
    total = sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(f"{len(content)}:".encode() + content)
    return total.hexdigest()[:12]


def files_of(folder: Path) -> list[Path]:
    """Every file below ``folder``, in an order that does not depend on the file system."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def made(
    home: Path, kind: str, inputs: Iterable[str | bytes], make: Callable[[Path], None]
) -> Path:
    """The folder ``home/<kind>-<hash of its content>`` that ``make`` fills from ``inputs``.

    When the same inputs have been seen before, nothing is made: a small note beside the
    folders says which one they gave. A folder appears whole or not at all, so builds that
    run at the same time do not disturb each other.
    """
    note = home / f"{kind}.{digest(inputs)}.made"
    with suppress(FileNotFoundError):
        known = home / note.read_text(encoding="utf-8")
        os.utime(known)  # the newest are kept
        return known
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=home, prefix=".making-") as temporary:
        new = Path(temporary, "new")
        new.mkdir()
        make(new)
        content = [(path.relative_to(new).as_posix(), path.read_bytes()) for path in files_of(new)]
        folder = home / f"{kind}-{digest(part for pair in content for part in pair)}"
        try:
            new.rename(folder)
        except OSError:  # made before from other inputs, or just now by another build
            os.utime(folder)
        draft = Path(temporary, "note")
        draft.write_text(folder.name, encoding="utf-8")
        draft.replace(note)
    _prune(home, kind)
    return folder


def _prune(home: Path, kind: str) -> None:
    """Keep the newest folders; a build that runs at the same time may do the same."""
    for old in sorted(home.glob(f"{kind}-*"), key=_age)[KEEP:]:
        shutil.rmtree(old, ignore_errors=True)
    for note in home.glob(f"{kind}.*.made"):
        with suppress(FileNotFoundError):
            if not (home / note.read_text(encoding="utf-8")).is_dir():
                note.unlink()
    for left in home.glob(".making-*"):
        if _age(left) > ABANDONED:
            shutil.rmtree(left, ignore_errors=True)


def _age(path: Path) -> float:
    """Seconds since ``path`` was made or last used; without end when it has just gone."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return float("inf")
