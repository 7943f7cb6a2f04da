"""Asks transformers and torch what the project computes, and compares it with what is committed.

``make conformance`` runs this with any Python. It builds an environment of its own
(Python 3.11, torch CPU and transformers by plain pip) under ``.cache/conformance``, once,
and runs in it ``record.py`` (parameters, arrival order: fixtures), ``collectives.py``
(bytes sent: ``docs/data/measured.json``) and ``ddp.py`` (DDP's buckets: a fixture; whether
ranks stay alike: ``docs/data/ddp.json``), or only those named as arguments. A difference is
shown and the exit status is 1; a file is written only with ``--record``, or where there is
none. The ordinary tests read only what was recorded. Standard library only, and re-runnable:
nothing is installed twice.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
CACHE = CHECKOUT / ".cache" / "conformance"
PARTS = ("record.py", "collectives.py", "ddp.py")
RECORD = "--record"
PACKAGES = ("torch==2.13.0", "transformers==5.24.0")
ABSENT = (
    "conformance: no python3.11 found (looked on PATH, in pyenv and beside this Python). "
    "torch 2.13.0 is recorded with Python 3.11: install it, for example with "
    "`pyenv install 3.11` or `uv python install 3.11`, and run `make conformance` again."
)


def python311() -> str | None:
    """A Python 3.11: this one, one on PATH that runs, or one of pyenv's."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates = [sys.executable, shutil.which("python3.11") or ""]
    candidates += sorted(map(str, pyenv.glob("versions/3.11*/bin/python3.11")), reverse=True)
    return next((path for path in candidates if path and _is_311(path)), None)


def _is_311(path: str) -> bool:
    """Asks it, since a pyenv shim may exist and still refuse to run."""
    question = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run(
            [path, "-c", question], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.strip() == "3.11"


def environment() -> Path:
    """The environment's Python, after making what is missing."""
    home, stamp = CACHE / "venv", CACHE / "installed.txt"
    python = home / "bin" / "python"
    wanted = "\n".join(PACKAGES) + "\n"
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    base = python311()
    if base is None:
        sys.exit(ABSENT)
    print(f"conformance: making {home.relative_to(CHECKOUT)} with {base}", flush=True)
    subprocess.run([base, "-m", "venv", "--clear", str(home)], check=True)
    print(f"conformance: installing {', '.join(PACKAGES)} (about 1.5 GB, once)", flush=True)
    pip = [str(python), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.run([*pip, *PACKAGES], check=False).returncode:
        sys.exit("conformance: pip could not install the packages; its message is above.")
    stamp.write_text(wanted)
    return python


def main() -> int:
    options = [word for word in sys.argv[1:] if word == RECORD]
    parts = [word for word in sys.argv[1:] if word != RECORD] or PARTS
    if unknown := set(parts) - set(PARTS):
        sys.exit(f"conformance: no part {sorted(unknown)[0]!r}; there are {', '.join(PARTS)}")
    CACHE.mkdir(parents=True, exist_ok=True)
    python = environment()
    offline = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error", "HF_HOME": str(CACHE)}
    failed = 0
    for part in parts:
        done = subprocess.run(
            [str(python), str(HERE / part), *options], env={**os.environ, **offline}, check=False
        )
        failed = failed or done.returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
