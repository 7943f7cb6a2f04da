"""Wheels and the standard library for the browser: pure Python, compiled, reproducible.

Everything is done by the packaging tools' own commands, each in a fresh process with fixed
settings: the bytes of a ``.pyc`` depend on what its compiler's process has loaded before.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

PURE = "py3-none-any"
COMPILED = f"cp{sys.version_info.major}{sys.version_info.minor}-none-any"
EPOCH = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip archive can hold
EPOCH_SECONDS = "315532800"

# Of an installed distribution: what only its installation, a compiler or a type checker needs.
NOT_SHIPPED_SUFFIXES = {".so", ".pyd", ".c", ".pyi", ".pyc"}
NOT_SHIPPED_NAMES = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}


class PackError(RuntimeError):
    """The pack cannot be made; the message says what to do about it."""


def built_wheel(project: Path, target: Path) -> Path:
    """Build the wheel of the folder ``project`` into the empty folder ``target``."""
    _run("build", "--wheel", "--no-isolation", "--outdir", target, project)
    return _only_wheel(target)


def installed_wheel(name: str, target: Path) -> Path:
    """Pack the distribution ``name`` of this very environment as a pure wheel in ``target``.

    MarkupSafe has a compiled speed-up that no browser can load; without it the package
    falls back on its own Python.
    """
    folder = target / "unpacked"
    for file in metadata.distribution(name).files or ():
        shipped = file.suffix not in NOT_SHIPPED_SUFFIXES and file.name not in NOT_SHIPPED_NAMES
        if shipped and ".." not in file.parts:  # that would be a script in bin/
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(str(file.locate()), folder / file)
    return _packed(folder, PURE, target)


def compiled_wheel(wheel: Path, target: Path) -> Path:
    """Write a copy of a pure ``wheel``, every module compiled, into the folder ``target``."""
    with TemporaryDirectory() as temporary:
        shutil.copy(wheel, temporary)
        _run("pyodide_cli", "py-compile", "--silent", temporary)
        # RECORD and WHEEL still speak of the sources: unpack, mend, pack again.
        folder = Path(temporary, "unpacked")
        with zipfile.ZipFile(_only_wheel(Path(temporary))) as archive:
            archive.extractall(folder)
        return target / _packed(folder, COMPILED, target).name


def compiled_library(source: Path, target: Path) -> None:
    """Write Pyodide's ``python_stdlib.zip``, every module compiled, to the file ``target``."""
    with TemporaryDirectory() as temporary:
        copy = shutil.copy(source, temporary)
        _run("pyodide_cli", "py-compile", "--silent", "--compression-level", "0", copy)
        with zipfile.ZipFile(copy) as old, zipfile.ZipFile(target, "w") as new:
            for name in sorted(old.namelist()):
                entry = zipfile.ZipInfo(name, EPOCH)
                entry.external_attr = (0o40755 if name.endswith("/") else 0o100644) << 16
                new.writestr(entry, old.read(name), zipfile.ZIP_DEFLATED, compresslevel=9)


def _packed(folder: Path, tag: str, target: Path) -> Path:
    """Pack an unpacked wheel under ``tag`` into ``target``; its RECORD is written anew."""
    (about,) = folder.glob("*.dist-info/WHEEL")
    lines = about.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith(("Root-Is-Purelib:", "Tag:"))]
    lines += ["Root-Is-Purelib: true", f"Tag: {tag}", ""]
    about.write_text("\n".join(lines), encoding="utf-8")
    for file in folder.rglob("*"):
        file.chmod(0o755 if file.is_dir() else 0o644)
    _run("wheel", "pack", "--dest-dir", target, folder)
    return target / f"{about.parent.name.removesuffix('.dist-info')}-{tag}.whl"


def _only_wheel(folder: Path) -> Path:
    (wheel,) = folder.glob("*.whl")
    return wheel


def _run(module: str, *arguments: str | Path) -> None:
    """``python -m module arguments``, free of what else is set or loaded here.

    SOURCE_DATE_EPOCH is one time for all commits, so unchanged sources give unchanged bytes;
    it also has the sources' hashes put into ``.pyc`` files instead of the sources' times.
    """
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"SOURCE_DATE_EPOCH": EPOCH_SECONDS, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PackError(f"`python -m {module}` failed while packing:\n{done.stdout.strip()}")
