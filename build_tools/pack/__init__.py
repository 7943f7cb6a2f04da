"""The pack: all that a browser needs to run our Python, served from the site itself.

Two folders, each under a name made of its content, so that they may be cached for ever:

* ``runtime-<hash>``: Pyodide, what is needed of its standard library (``library.txt``),
  compiled, Jinja2 and MarkupSafe as pure compiled wheels. Changes when a version does.
* ``core-<hash>``: the wheel of ``py_core`` and ``widgets`` with the data of ``docs/data``, and
  ``pyodide-lock.json``, which names all wheels with their SHA-256. Changes with every edit.

    packs = make(root, root / ".cache")     # nothing to do when nothing has changed
    boot(packs)                             # what the page must know to start Python
    publish(packs, site_dir)                # into site_dir/assets/py/
"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
import tomllib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from build_tools.pack import archives, library
from build_tools.pack.archives import PackError
from build_tools.pack.cache import digest, files_of, made

__all__ = ["PackError", "Packs", "boot", "core_pack", "make", "publish", "runtime_pack"]

SITE_FOLDER = "assets/py"
PYODIDE = "node_modules/pyodide"
PYODIDE_FILES = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm")
LIBRARY = "python_stdlib.zip"
LOCK = "pyodide-lock.json"
SUMS = "sums.json"
CORE = "py-core"
DEPENDS = {CORE: ["jinja2"], "jinja2": ["markupsafe"], "markupsafe": []}
PACKAGES = ("py_core", "widgets")
START = "lesson_start"  # the package made of start.py
IMPORTS = {CORE: [*PACKAGES, START]}  # the others: their own name
TEMPLATES = ("jinja2", "markupsafe")
TOOLS = ("build", "hatchling", "pyodide-build", "pyodide-lock", "wheel")

HERE = Path(__file__).parent
# Short stand-ins for modules that Pyodide, the library and Jinja import when they start and that
# nothing here goes on to use: half of what an interpreter would import before our first line.
LEAN = HERE / "lean"


@dataclass(frozen=True, slots=True)
class Packs:
    """The two folders, as they lie in the cache."""

    runtime: Path
    core: Path


def make(root: Path, cache: Path) -> Packs:
    """Both folders for the checkout ``root``, made if they are not in ``cache`` yet."""
    runtime = runtime_pack(root, cache)
    return Packs(runtime, core_pack(root, cache, runtime))


def runtime_pack(root: Path, cache: Path, *, whole: bool = False) -> Path:
    """The folder ``cache/pack/runtime-<hash>`` for the installed Pyodide and Jinja2; ``whole``
    with all of the standard library."""
    pyodide = root / PYODIDE
    keep = None if whole else library.kept()

    def fill(folder: Path) -> None:
        _require_python(_info(root))
        for name in PYODIDE_FILES:
            shutil.copyfile(pyodide / name, folder / name)
        archives.compiled_library(pyodide / LIBRARY, folder / LIBRARY, LEAN, keep)
        for name in TEMPLATES:
            with TemporaryDirectory() as temporary:
                pure = archives.installed_wheel(name, Path(temporary), LEAN)
                archives.compiled_wheel(pure, folder, lean=True)
        _write_sums(folder)

    inputs = [*_tools(), *_versions(TEMPLATES), *_npm(pyodide)]
    return made(cache / "pack", "whole" if whole else "runtime", inputs, fill)


def core_pack(root: Path, cache: Path, runtime: Path) -> Path:
    """The folder ``cache/pack/core-<hash>`` for the checkout as it is, to go with ``runtime``."""
    staged = dict(sorted(_staged(root)))

    def fill(folder: Path) -> None:
        with TemporaryDirectory() as temporary:
            stage = Path(temporary, "stage")
            for name, content in staged.items():
                (stage / name).parent.mkdir(parents=True, exist_ok=True)
                (stage / name).write_bytes(content)
            archives.compiled_templates(stage, "widgets")
            prepared = stage / START / "prepared.bin"
            archives.prepare(stage, PACKAGES, sorted(runtime.glob("*.whl")), prepared)
            pure = archives.built_wheel(stage, Path(temporary))
            _write_lock(_info(root), runtime, archives.compiled_wheel(pure, folder))
        _write_sums(folder)

    contents = (part for pair in staged.items() for part in pair)
    return made(cache / "pack", "core", [*_tools(), runtime.name, *contents], fill)


def boot(packs: Packs, base: str = "../py/") -> dict[str, Any]:
    """What a page needs to start Python, ready for JSON.

    Paths are relative to some file of the site; ``base`` leads from there to ``assets/py/``
    (as it stands: from another folder of ``assets/``). ``files`` has all that a boot fetches:
    bytes, bytes on the wire from a host that compresses with gzip, and SHA-256. ``info`` is
    what Pyodide wants to read in a lock file.
    """
    folders = {f"{base}{folder.name}/": folder for folder in (packs.runtime, packs.core)}
    files = {
        f"{at}{name}": sums
        for at, folder in folders.items()
        for name, sums in json.loads((folder / SUMS).read_bytes()).items()
    }
    return {
        "index": next(iter(folders)),
        "info": json.loads((packs.core / LOCK).read_bytes())["info"],
        "files": files,
        "wheels": [name for name in files if name.endswith(".whl")],
    }


def publish(packs: Packs, site_dir: Path) -> dict[str, Any]:
    """Copy both folders into the site; returns :func:`boot` relative to the site's root."""
    for folder in (packs.runtime, packs.core):
        # Copies, not links: what happens to a built site must not reach the cache.
        shutil.copytree(folder, site_dir / SITE_FOLDER / folder.name, dirs_exist_ok=True)
    return boot(packs, f"{SITE_FOLDER}/")


# -- what the folders are made from ----------------------------------------------------------


def _tools() -> Iterator[str]:
    """This code, its tools and this Python."""
    yield digest(
        file.read_bytes() for file in files_of(HERE) if file.suffix in {".py", ".toml", ".txt"}
    )
    yield from _versions(TOOLS)
    yield from (sys.version, zlib.ZLIB_RUNTIME_VERSION)


def _versions(names: tuple[str, ...]) -> Iterator[str]:
    for name in names:
        try:
            yield f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            raise PackError(
                f"the Python package {name} is not installed; run `make setup`"
            ) from None


def _npm(package: Path) -> Iterator[str]:
    """Version and file sizes of the npm package; a version's files never change."""
    for name in ("package.json", LOCK, LIBRARY, *PYODIDE_FILES):
        if not (package / name).is_file():
            raise PackError(f"{PYODIDE}/{name} is not there; run `make setup`")
        yield f"{name} {(package / name).stat().st_size}"
    yield json.loads((package / "package.json").read_bytes())["version"]


def _info(root: Path) -> dict[str, Any]:
    """What Pyodide's own lock file says about its Python and its binary interface."""
    info: dict[str, Any] = json.loads((root / PYODIDE / LOCK).read_bytes())["info"]
    return info


def _require_python(info: dict[str, Any]) -> None:
    """Bytecode runs on the minor version that compiled it and on no other."""
    wanted = info["python"].rsplit(".", 1)[0]
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    if here != wanted:
        raise PackError(
            f"the installed Pyodide runs Python {wanted}, and this is Python {here}, whose "
            "bytecode the browser could not load; run `make setup`, which finds the right one"
        )


def _staged(root: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every file that the core's wheel is built from."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield "VERSION", f'version = "{project["version"]}"\n'.encode()
    yield "pyproject.toml", (HERE / "pyproject.core.toml").read_bytes()
    yield f"{START}/__init__.py", (HERE / "start.py").read_bytes()
    for file in root.glob("LICENSE*"):
        yield file.name, file.read_bytes()
    for file in (*files_of(root / "py_core"), *files_of(root / "widgets")):
        name = file.relative_to(root)
        elsewhere = name.parts[:2] in {("widgets", "runtime"), ("py_core", "data")}
        unread = name.name.endswith(("~", ".swp", ".pyc", ".css")) or any(
            part.startswith(".") for part in name.parts
        )
        if not (elsewhere or unread):
            yield name.as_posix(), file.read_bytes()
    data = root / "docs" / "data"
    for file in (*data.glob("*.json"), *data.glob("models/*.json")):
        yield f"py_core/data/{file.relative_to(data).as_posix()}", file.read_bytes()


def _write_sums(folder: Path) -> None:
    """Note of every file that a boot fetches how to check it, and how much there is to wait for."""
    contents = {file.name: file.read_bytes() for file in files_of(folder) if file.name != LOCK}
    sums = {
        name: {
            "size": len(content),
            "wire": len(gzip.compress(content, 6)),
            "sha256": sha256(content).hexdigest(),
        }
        for name, content in contents.items()
    }
    (folder / SUMS).write_text(json.dumps(sums, indent=2) + "\n", encoding="utf-8")


def _write_lock(info: dict[str, Any], runtime: Path, core: Path) -> None:
    """Write the lock file beside the ``core`` wheel; file names in it are relative to itself."""
    from packaging.utils import parse_wheel_filename
    from pyodide_lock.spec import InfoSpec, PackageSpec, PyodideLockSpec

    lock = PyodideLockSpec(InfoSpec.from_dict(info), {})
    for wheel in (core, *sorted(runtime.glob("*.whl"))):
        name, version, *_ = parse_wheel_filename(wheel.name)
        lock.packages[name] = PackageSpec(
            name=name,
            version=str(version),
            file_name=wheel.name if wheel == core else f"../{runtime.name}/{wheel.name}",
            install_dir="site",
            sha256=sha256(wheel.read_bytes()).hexdigest(),
            imports=IMPORTS.get(name, [name]),
            depends=DEPENDS[name],
        )
    lock.to_json(core.parent / LOCK, indent=2)
