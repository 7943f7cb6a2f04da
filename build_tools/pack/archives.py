"""Wheels and the standard library for the browser: pure Python, compiled, reproducible.

Everything is done by the packaging tools' own commands, each in a fresh process with fixed
settings: the bytes of a ``.pyc`` depend on what its compiler's process has loaded before.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Container, Iterable, Sequence
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
# Of Jinja what only reads templates: they come compiled.
UNUSED = {
    f"jinja2/{name}.py"
    for name in (
        *("_identifier", "constants", "ext", "idtracking", "meta"),
        *("nativetypes", "optimizer", "sandbox", "visitor"),
    )
}


class PackError(RuntimeError):
    """The pack cannot be made; the message says what to do about it."""


def built_wheel(project: Path, target: Path) -> Path:
    """Build the wheel of the folder ``project`` into the empty folder ``target``."""
    _run("build", "--wheel", "--no-isolation", "--outdir", target, project)
    return _only_wheel(target)


def installed_wheel(name: str, target: Path, instead: Path) -> Path:
    """Pack the distribution ``name`` of this very environment as a pure wheel in ``target``;
    where the folder ``instead`` has a file of that name, that one.

    MarkupSafe has a compiled speed-up that no browser can load; without it the package
    falls back on its own Python.
    """
    folder = target / "unpacked"
    for file in metadata.distribution(name).files or ():
        shipped = (
            file.suffix not in NOT_SHIPPED_SUFFIXES
            and file.name not in NOT_SHIPPED_NAMES
            and file.as_posix() not in UNUSED
        )
        if shipped and ".." not in file.parts:  # that would be a script in bin/
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            ours = instead / file
            shutil.copyfile(ours if ours.is_file() else str(file.locate()), folder / file)
    return _packed(folder, PURE, target)


def compiled_wheel(wheel: Path, target: Path, *, lean: bool = False) -> Path:
    """Write a copy of a pure ``wheel``, every module compiled, into the folder ``target``.

    ``lean`` leaves out docstrings, assertions and where in the source things stand.
    """
    with TemporaryDirectory() as temporary:
        folder = _compiled(Path(shutil.copy(wheel, temporary)), lean)
        # RECORD and WHEEL still speak of the sources.
        packed = _packed(folder, COMPILED, Path(temporary))
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(folder)
        _store(folder, target / packed.name)
        return target / packed.name


def compiled_library(
    source: Path, target: Path, instead: Path, keep: Container[str] | None = None
) -> None:
    """Write Pyodide's ``python_stdlib.zip``, its modules compiled and lean, to the file
    ``target``; of its files (``json/decoder.py``) only those in ``keep``, and where the folder
    ``instead`` has one of that name, that one."""
    with TemporaryDirectory() as temporary:
        trimmed = Path(temporary, source.name)
        with zipfile.ZipFile(source) as old, zipfile.ZipFile(trimmed, "w") as new:
            for name in old.namelist():
                if keep is None or name in keep:
                    ours = instead / name
                    new.writestr(name, ours.read_bytes() if ours.is_file() else old.read(name))
        _store(_compiled(trimmed, lean=True), target)


def compiled_templates(project: Path, package: str) -> None:
    """Turn the Jinja templates of ``package``, a folder of ``project``, into Python modules in
    its folder ``compiled``, with the package's own environment; readers' browsers need not do it.
    """
    if not (project / package / "environment.py").is_file():
        return
    code = (
        f"from {package}.environment import environment as made\n"
        f"made().compile_templates('{package}/compiled', ['html'], zip=None, ignore_errors=False)"
    )
    _python(["-c", code], project)
    for template in (project / package).rglob("*.html"):
        template.unlink()


# Of a library's bytecode most bytes on the wire are positions in the source: they hardly compress.
# So all that a function does stands on its first line; in our own code positions are as they are.
# (The format: cpython/InternalDocs/code_objects.md, "Format of the locations table"; here runs of
# eight instructions, on the same line as the one before, without columns.)
STRIPPED = """
def on_first_line(units):
    runs = [8] * (units // 8) + [units % 8] * (units % 8 > 0)
    return bytes(byte for run in runs for byte in (0x80 | 13 << 3 | run - 1, 0))

def stripped(code):
    inner = (stripped(c) if hasattr(c, "co_code") else c for c in code.co_consts)
    table = on_first_line(len(code.co_code) // 2)
    return code.replace(co_linetable=table, co_consts=tuple(inner))
"""
STRIP = """
import marshal, sys
from pathlib import Path

for file in sorted(Path(sys.argv[1]).rglob("*.pyc")):
    content = file.read_bytes()
    file.write_bytes(content[:16] + marshal.dumps(stripped(marshal.loads(content[16:]))))
"""


# What modules have compiled while they are imported, and where all modules are; see start.py.
PREPARE = """
import collections, dataclasses, importlib, json, marshal, sys
from pathlib import Path

target, wheels, *packages = sys.argv[1:]
texts = {}

def noted(run, mode):
    def noting(text, *scopes):
        code = compile(text, "<made>", mode, dont_inherit=True)
        texts[text] = marshal.dumps(stripped(code))
        return run(text, *scopes)
    return noting

def named(file):
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")

dataclasses.exec = noted(exec, "exec")
collections.eval = noted(eval, "eval")
ours = sorted(path.as_posix() for name in packages for path in Path(name).rglob("*.py"))
for file in ours:
    try:
        importlib.import_module(named(file))
    except Exception:
        pass  # whoever asks for it is told
found = [*json.loads(wheels), *ours]
files = {named(file): Path(file).with_suffix(".pyc").as_posix() for file in found}
Path(target).write_bytes(marshal.dumps((texts, files)))
"""


def prepare(project: Path, packages: Sequence[str], wheels: Iterable[Path], target: Path) -> None:
    """Write to ``target`` what a browser need not do anew, as marshalled dicts.

    First what the modules of ``packages``, folders of ``project``, have compiled on import (the
    methods of dataclasses, the constructors of named tuples), each marshalled, by its source;
    then the file of each of these modules, and of those in ``wheels``, by its name.
    """
    others = [
        name
        for wheel in wheels
        for name in zipfile.ZipFile(wheel).namelist()
        if name.endswith(".pyc")
    ]
    _python(["-c", STRIPPED + PREPARE, target, json.dumps(others), *packages], project)


def _compiled(archive: Path, lean: bool) -> Path:
    """A folder beside ``archive`` with all that is in it, its modules compiled."""
    folder = archive.parent / "unpacked"
    _run("pyodide_cli", "py-compile", "--silent", "--compression-level", "0", archive, lean=lean)
    (compiled,) = (file for file in archive.parent.iterdir() if file.is_file())
    with zipfile.ZipFile(compiled) as opened:
        opened.extractall(folder)
    compiled.unlink()
    if lean:
        _python(["-c", STRIPPED + STRIP, folder])
    return folder


def _store(folder: Path, target: Path) -> None:
    """Pack a folder as a zip archive whose entries are stored, like files beside each other.

    The host compresses it as a whole, which is smaller, and nobody needs to inflate it twice.
    """
    files = sorted((file for file in folder.rglob("*") if file.is_file()), key=_alike)
    with zipfile.ZipFile(target, "w") as new:
        for file in files:
            entry = zipfile.ZipInfo(file.relative_to(folder).as_posix(), EPOCH)
            entry.external_attr = 0o100644 << 16
            new.writestr(entry, file.read_bytes(), zipfile.ZIP_STORED)


def _alike(file: Path) -> tuple[str, str]:
    return file.suffix, file.as_posix()


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


def _run(module: str, *arguments: str | Path, lean: bool = False) -> None:
    """``python -m module arguments``, free of what else is set or loaded here; ``lean`` as
    ``python -OO``, which goes for what it compiles.

    SOURCE_DATE_EPOCH is one time for all commits, so unchanged sources give unchanged bytes;
    it also has the sources' hashes put into ``.pyc`` files instead of the sources' times.
    """
    _python(["-P", *(["-OO"] if lean else []), "-m", module, *arguments])


def _python(arguments: Sequence[str | Path], cwd: Path | None = None) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    env |= {"SOURCE_DATE_EPOCH": EPOCH_SECONDS, "PYTHONHASHSEED": "0"}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *arguments],
        env=env,
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        command = " ".join(map(str, ["python", *arguments]))
        raise PackError(f"`{command}` failed while packing:\n{done.stdout.strip()}")
