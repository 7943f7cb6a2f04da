"""The pack that readers' browsers run: whole, pure, reproducible, made only when needed."""

from __future__ import annotations

import ast
import base64
import json
import marshal
import os
import subprocess
import sys
import threading
import zipfile
from hashlib import sha256
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import widgets
from build_tools import pack
from build_tools.pack import archives, cache, library, node


ROOT = Path(__file__).resolve().parents[2]

IN_PYODIDE = """
import json, sys
from pathlib import Path
import jinja2, markupsafe, py_core, widgets
json.dumps({
    "html": widgets.render("ring", "n=<一张卡>"),
    "files": [module.__spec__.origin for module in (json, jinja2, markupsafe, py_core, widgets)],
    "data": sorted(path.name for path in Path(py_core.__spec__.origin).parent.glob("data/*.json")),
    "python": list(sys.version_info[:2]),
})
"""


def checkout(folder: Path) -> Path:
    """The least that can be packed; what is in it does not matter here."""
    files = {
        "pyproject.toml": '[project]\nname = "lesson"\nversion = "1.2.3"\n',
        "LICENSE": "free\n",
        "py_core/__init__.py": '"""Core."""\n',
        "py_core/deep/sum.py": "def add(a: int, b: int) -> int:\n    return a + b\n",
        "py_core/__pycache__/sum.cpython-313.pyc": "left over",
        "py_core/data/stale.json": "{}",
        "widgets/__init__.py": "",
        "widgets/ring/template.html": "<p>{{ n }}</p>\n",
        "widgets/ring/style.css": "p {}\n",
        "widgets/ring/.template.html.swp": "left over",
        "widgets/runtime/worker.mjs": "onmessage = null;\n",
        "build_tools/secret.py": "",
        "docs/index.md": "# page\n",
        "docs/data/facts.json": "{}",
        "docs/data/models/tiny.json": "{}",
        "docs/data/models/notes.txt": "not data",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return checkout(tmp_path / "checkout")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def packs(root: Path, store: Path) -> pack.Packs:
    return pack.make(root, store)


def wheels(packs: pack.Packs) -> dict[str, Path]:
    found = [*packs.runtime.glob("*.whl"), *packs.core.glob("*.whl")]
    return {path.name.split("-")[0]: path for path in found}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# -- what is in it ---------------------------------------------------------------------------


def test_the_lock_names_every_wheel_with_its_sum(packs: pack.Packs) -> None:
    lock = json.loads((packs.core / "pyodide-lock.json").read_bytes())
    stock = json.loads((ROOT / "node_modules/pyodide/pyodide-lock.json").read_bytes())
    assert lock["info"] == stock["info"]
    assert set(lock["packages"]) == {"py-core", "jinja2", "markupsafe"}
    for name, package in lock["packages"].items():
        assert package["name"] == name
        assert set(package["depends"]) <= set(lock["packages"])
        file = packs.core / package["file_name"]
        assert package["sha256"] == sha256(file.read_bytes()).hexdigest()
    assert lock["packages"]["py-core"]["depends"] == ["jinja2"]
    assert lock["packages"]["py-core"]["imports"] == ["py_core", "widgets", "lesson_start"]
    assert lock["packages"]["py-core"]["version"] == "1.2.3"
    assert lock["packages"]["jinja2"]["version"] == metadata.version("jinja2")


def test_the_core_wheel_holds_core_widgets_and_data_only(packs: pack.Packs) -> None:
    wheel = wheels(packs)["py_core"]
    assert wheel.name == "py_core-1.2.3-cp313-none-any.whl"
    info = "py_core-1.2.3.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == {
            "py_core/__init__.pyc",
            "py_core/deep/sum.pyc",
            "py_core/data/facts.json",
            "py_core/data/models/tiny.json",
            "widgets/__init__.pyc",
            "widgets/ring/template.html",
            "lesson_start/__init__.pyc",
            "lesson_start/prepared.bin",
            *(f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "licenses/LICENSE")),
        }


@pytest.mark.parametrize("name", ["py_core", "jinja2", "markupsafe"])
def test_wheels_are_pure_compiled_and_truly_recorded(packs: pack.Packs, name: str) -> None:
    wheel = wheels(packs)[name]
    with zipfile.ZipFile(wheel) as archive:
        files = {entry.filename: archive.read(entry) for entry in archive.infolist()}
        assert {entry.date_time for entry in archive.infolist()} == {archives.EPOCH}
    suffixes = {PurePosixPath(file).suffix for file in files}
    assert ".pyc" in suffixes
    assert not suffixes & {".py", ".so", ".pyd", ".c", ".pyi"}
    assert any("/licenses/" in file for file in files)
    (info,) = {PurePosixPath(file).parts[0] for file in files if file.endswith("/RECORD")}
    about = files[f"{info}/WHEEL"].decode()
    assert "Root-Is-Purelib: true" in about
    assert [line for line in about.splitlines() if line.startswith("Tag")] == [
        "Tag: cp313-none-any"
    ]
    recorded = [line.rsplit(",", 2) for line in files[f"{info}/RECORD"].decode().splitlines()]
    assert {file for file, _, _ in recorded} == set(files)
    for file, sum_, _ in recorded:
        if sum_:
            digest = base64.urlsafe_b64encode(sha256(files[file]).digest()).rstrip(b"=").decode()
            assert sum_ == f"sha256={digest}"


def test_the_library_is_what_the_list_says_compiled(packs: pack.Packs) -> None:
    with zipfile.ZipFile(packs.runtime / "python_stdlib.zip") as ours:
        assert set(ours.namelist()) == {name + "c" for name in library.kept()}
        # Flags 0b11: to be checked by the source's hash, not by its time.
        assert ours.read("json/__init__.pyc")[4:8] == b"\x03\x00\x00\x00"
        code = marshal.loads(ours.read("json/decoder.pyc")[16:])
    assert code.co_consts[0] != "Implementation of JSONDecoder\n"  # no docstrings, and
    (scan,) = (c for c in code.co_consts if getattr(c, "co_name", "") == "JSONDecoder")
    assert {line for _, _, line in scan.co_lines()} == {scan.co_firstlineno}  # no lines within


def test_sums_are_those_of_the_files(packs: pack.Packs) -> None:
    lock = json.loads((packs.core / "pyodide-lock.json").read_bytes())
    for folder in (packs.runtime, packs.core):
        sums = json.loads((folder / "sums.json").read_bytes())
        assert set(sums) == {f.name for f in folder.iterdir()} - {"sums.json", "pyodide-lock.json"}
        for name, sum_ in sums.items():
            content = (folder / name).read_bytes()
            assert (sum_["size"], sum_["sha256"]) == (len(content), sha256(content).hexdigest())
            assert len(content) > sum_["wire"] > 0
            if name.endswith(".whl"):
                package = name.split("-")[0].replace("_", "-")
                assert lock["packages"][package]["sha256"] == sum_["sha256"]


def test_a_wheel_is_stored_as_the_worker_unpacks_it(packs: pack.Packs) -> None:
    """worker.mjs inflates nothing and looks for the directory at the very end."""
    for wheel in wheels(packs).values():
        with zipfile.ZipFile(wheel) as archive:
            assert archive.comment == b""
            assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}


def test_templates_are_compiled_when_the_wheel_is_built(store: Path) -> None:
    with zipfile.ZipFile(wheels(pack.make(ROOT, store))["py_core"]) as archive:
        names = archive.namelist()
    templates = list((ROOT / "widgets").rglob("*.html"))
    assert len([n for n in names if n.startswith("widgets/compiled/tmpl_")]) == len(templates)
    assert not [name for name in names if name.endswith((".html", ".css"))]


# -- what of the standard library is in it ---------------------------------------------------


def test_a_tour_misses_nothing(browser_python: dict[str, Any]) -> None:
    """Every widget and every error path, with no more of the library than is shipped."""
    told = node.run(library.TOUR.read_text(encoding="utf-8"), browser_python)
    assert told["missing"] == [], "not in build_tools/pack/library.txt: run `make library`"
    unused = sorted(library.kept() - set(told["seen"]))
    assert unused == [], "in build_tools/pack/library.txt for nothing: run `make library`"


def test_a_module_that_is_missing_is_named(tmp_path: Path) -> None:
    """The tour can fail: with one module less it says which."""
    packs = pack.make(ROOT, ROOT / ".cache")
    boot = node.options(packs, tmp_path)
    file = Path(boot["index"], "python_stdlib.zip")
    with zipfile.ZipFile(file) as old:
        kept = {name: old.read(name) for name in old.namelist() if name != "fractions.pyc"}
    with zipfile.ZipFile(file, "w") as new:
        for name, content in kept.items():
            new.writestr(name, content)
    told = node.run(
        "import json, sys\n"
        "from importlib import import_module\n"
        "try: import_module('widgets')\n"
        "except ModuleNotFoundError as error: said = error.name\n"
        "json.dumps(said)",
        boot,
    )
    assert told == "fractions"


# -- what is done beforehand -----------------------------------------------------------------

# Every class of ours is made from prepared code, and modules are where they would be found.
PREPARED = """
import collections, dataclasses, importlib, json, sys
import lesson_start
from importlib.machinery import PathFinder

unknown = []

def noted(known):
    def noting(text, *scopes):
        if text not in lesson_start.TEXTS:
            unknown.append(text)
        return known(text, *scopes)
    return noting

dataclasses.exec = noted(dataclasses.exec)
collections.eval = noted(collections.eval)
elsewhere, imported = [], 0
for name, file in lesson_start.FILES.items():
    if name.startswith(("py_core.", "widgets.")) and name not in sys.modules:
        importlib.import_module(name)
        imported += 1
    package, _, _ = name.rpartition(".")
    path = importlib.import_module(package).__path__ if package else None
    if PathFinder.find_spec(name, path).origin != lesson_start.SITE + file:
        elsewhere.append(name)
json.dumps([unknown, elsewhere, imported, len(lesson_start.TEXTS)])
"""


def test_what_a_browser_need_not_do_is_done(browser_python: dict[str, Any]) -> None:
    unknown, elsewhere, imported, texts = node.run(PREPARED, browser_python)
    assert (unknown, elsewhere) == ([], [])
    assert imported > 50
    assert texts > 50


def defined(source: str) -> set[str]:
    """Names that a module makes for others to import."""
    tree = ast.parse(source)
    names = {node.name for node in tree.body if hasattr(node, "name")}
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    names |= {alias.asname or alias.name for node in imports for alias in node.names}
    names |= {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return {name for name in names if not name.startswith("__")}


OWN = {
    "pyodide/_package_loader.py": {"Folder"},  # a Path there
    "_pyodide/jsbind.py": {"_any"},  # _default_sig_stencil
    "asyncio/__init__.py": {"get_event_loop"},  # by a star
    "jinja2/nodes.py": {"volatile", "escapes"},  # an attribute there, and a local name
}


@pytest.mark.parametrize(
    "stand_in", sorted(pack.LEAN.rglob("*.py")), ids=lambda f: f.relative_to(pack.LEAN).as_posix()
)
def test_a_stand_in_stands_for_what_there_is(stand_in: Path) -> None:
    """With another Pyodide or Jinja a module may be gone, or its names others."""
    name = stand_in.relative_to(pack.LEAN).as_posix()
    with zipfile.ZipFile(ROOT / "node_modules/pyodide/python_stdlib.zip") as library:
        if name in library.namelist():
            stock = library.read(name).decode()
        else:
            stock = Path(str(metadata.distribution("jinja2").locate_file(name))).read_text()
    generic = {"Any", "Callable", "annotations"}
    strange = defined(stand_in.read_text(encoding="utf-8")) - defined(stock) - generic
    assert strange == OWN.get(name, set())


# -- when it is made -------------------------------------------------------------------------


def test_a_second_call_makes_nothing(
    root: Path, store: Path, packs: pack.Packs, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(module: str, *_: object) -> None:
        pytest.fail(f"{module} was run again")

    monkeypatch.setattr(archives, "_run", refuse)
    assert pack.make(root, store) == packs


@pytest.mark.parametrize(
    "edited", ["py_core/deep/sum.py", "widgets/ring/template.html", "docs/data/facts.json"]
)
def test_one_changed_byte_gives_a_new_core_only(
    root: Path, store: Path, packs: pack.Packs, edited: str
) -> None:
    with (root / edited).open("a", encoding="utf-8") as file:
        file.write("\n")
    changed = pack.make(root, store)
    assert changed.runtime == packs.runtime
    assert changed.core != packs.core


@pytest.mark.parametrize("edited", ["widgets/runtime/worker.mjs", "docs/index.md"])
def test_what_python_does_not_read_changes_nothing(
    root: Path, store: Path, packs: pack.Packs, edited: str
) -> None:
    (root / edited).write_text("other", encoding="utf-8")
    assert pack.make(root, store) == packs


def test_it_is_the_same_for_everyone_and_for_two_builds_at_once(
    root: Path, store: Path, packs: pack.Packs, tmp_path: Path
) -> None:
    """Other time zone, umask, hash seed, clock and loaded modules; both in one cache."""
    shared = tmp_path / "shared"
    code = (
        "import os, sys, pathlib, asyncio, unittest.mock\n"
        "os.umask(int(sys.argv[3], 8))\n"
        "from build_tools import pack\n"
        "made = pack.make(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))\n"
        "print(made.runtime.name, made.core.name)\n"
    )
    builds = [
        subprocess.Popen(
            [sys.executable, "-c", code, root, shared, umask],
            cwd=ROOT,
            env=os.environ | {"TZ": zone, "PYTHONHASHSEED": seed, "SOURCE_DATE_EPOCH": seed},
            stdout=subprocess.PIPE,
            text=True,
        )
        for umask, zone, seed in (("077", "Asia/Shanghai", "1"), ("002", "Pacific/Apia", "999"))
    ]
    names = {build.communicate(timeout=120)[0].strip() for build in builds}
    assert names == {f"{packs.runtime.name} {packs.core.name}"}
    for folder in (packs.runtime, packs.core):
        assert contents(shared / "pack" / folder.name) == contents(folder)
    assert not list((shared / "pack").glob(".*"))


# -- the cache -------------------------------------------------------------------------------


def write(text: str, folder: Path) -> None:
    (folder / "file").write_text(text, encoding="utf-8")


def test_old_folders_and_their_notes_go(tmp_path: Path) -> None:
    for n in range(cache.KEEP + 3):
        last = cache.made(tmp_path, "kind", [str(n)], lambda folder, n=n: write(str(n), folder))  # type: ignore[misc]
        os.utime(last, (n, n))
        cache.made(tmp_path, "other", ["x"], lambda folder: write("x", folder))
    kept = {(folder / "file").read_text() for folder in tmp_path.glob("kind-*")}
    assert kept == {str(n) for n in range(3, cache.KEEP + 3)}
    assert len(list(tmp_path.glob("kind.*.made"))) == cache.KEEP
    assert len(list(tmp_path.glob("other-*"))) == 1


def test_a_folder_taken_away_is_made_again(tmp_path: Path) -> None:
    first = cache.made(tmp_path, "kind", ["x"], lambda folder: write("x", folder))
    (first / "file").unlink()
    first.rmdir()
    assert cache.made(tmp_path, "kind", ["x"], lambda folder: write("x", folder)) == first
    assert (first / "file").read_text() == "x"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        write("half", folder)
        raise pack.PackError("no")

    with pytest.raises(pack.PackError):
        cache.made(tmp_path, "kind", ["x"], fail)
    assert not list(tmp_path.iterdir())


def test_threads_get_one_folder(tmp_path: Path) -> None:
    together = threading.Barrier(2)
    found: list[Path] = []

    def fill(folder: Path) -> None:
        write("x", folder)
        together.wait(timeout=10)

    threads = [
        threading.Thread(target=lambda: found.append(cache.made(tmp_path, "kind", ["x"], fill)))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert len(found) == 2
    assert len(set(found)) == 1


# -- what goes wrong -------------------------------------------------------------------------


def test_a_missing_package_is_named(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pack, "TOOLS", ("no-such-tool",))
    with pytest.raises(pack.PackError, match="no-such-tool is not installed; run `make setup`"):
        pack.make(root, tmp_path)


def test_missing_npm_files_are_named(root: Path, tmp_path: Path) -> None:
    (root / "node_modules").unlink()
    with pytest.raises(pack.PackError, match=r"node_modules/pyodide/.* run `make setup`"):
        pack.make(root, tmp_path)


def test_the_wrong_python_is_refused() -> None:
    with pytest.raises(pack.PackError, match=r"runs Python 3\.12, and this is Python 3\.13"):
        pack._require_python({"python": "3.12.7"})


def test_code_that_does_not_compile_stops_the_build(root: Path, store: Path) -> None:
    (root / "py_core/deep/sum.py").write_text("def add(:\n", encoding="utf-8")
    with pytest.raises(pack.PackError, match="SyntaxError"):
        pack.make(root, store)


# -- in the site -----------------------------------------------------------------------------


def test_publish_says_where_everything_is(packs: pack.Packs, tmp_path: Path) -> None:
    site = tmp_path / "site"
    boot = pack.publish(packs, site)
    assert boot["index"].endswith("/")
    assert (site / boot["index"] / "pyodide.mjs").is_file()
    files = [f for f in cache.files_of(site) if f.name not in ("sums.json", "pyodide-lock.json")]
    sizes = {name: sums["size"] for name, sums in boot["files"].items()}
    assert sizes == {f.relative_to(site).as_posix(): f.stat().st_size for f in files}
    assert {Path(wheel).name for wheel in boot["wheels"]} == {w.name for w in wheels(packs).values()}
    assert pack.publish(packs, site) == boot  # again, over the old one
    assert pack.boot(packs, "../py/")["index"] == f"../py/{packs.runtime.name}/"


def test_a_damaged_site_does_not_reach_the_cache(packs: pack.Packs, tmp_path: Path) -> None:
    published = tmp_path / pack.publish(packs, tmp_path)["index"] / "python_stdlib.zip"
    published.write_bytes(b"")
    assert (packs.runtime / "python_stdlib.zip").stat().st_size


def test_pyodide_boots_from_the_real_pack(store: Path, tmp_path: Path) -> None:
    packs = pack.make(ROOT, store)
    said = node.run(IN_PYODIDE, node.options(packs, tmp_path))
    assert said["html"] == widgets.render("ring", "n=<一张卡>")
    assert "&lt;一张卡&gt;" in said["html"]
    assert all(file.endswith(".pyc") for file in said["files"])
    assert said["data"] == sorted(path.name for path in (ROOT / "docs/data").glob("*.json"))
    assert said["python"] == [3, 13]
