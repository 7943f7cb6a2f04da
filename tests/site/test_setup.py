"""The set-up: what it does on machines unlike this one, and what the repository may not hold."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import ModuleType

import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).resolve().parents[2]

BROKEN_SHIM = """#!/bin/sh
echo "pyenv: version '3.13' is not installed (set by .python-version)" >&2
exit 127
"""

# Answers as 3.11: fits nothing that asks for 3.13, is new enough to install uv (`UV` says how).
OLD_PYTHON = """#!/bin/sh
case "$*" in
  *'!= (3, 13)'*) exit 1 ;;
  *'< (3, 8)'*) exit 0 ;;
  *'pip install'*) {install} ;;
esac
exit 1
"""

UV_THAT_FAILS = """#!/bin/sh
case "$*" in
  --version) echo 'uv 0.9.0' ;;
  *) echo 'error: client error (Connect): dns error' >&2; exit 2 ;;
esac
"""

UV_THAT_WORKS = """#!/bin/sh
have=$UV_PYTHON_INSTALL_DIR/fetched/bin/python3.13
case "$*" in
  --version) echo 'uv 0.9.0' ;;
  'python install 3.13') mkdir -p "${{have%/*}}" && ln -s {python} "$have" ;;
  'python find 3.13') [ -x "$have" ] && echo "$have" ;;
esac
"""


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Machine:
    """A bare machine: a home, a PATH with the tools every system has, a clone of the set-up."""

    def __init__(self, root: Path) -> None:
        self.bin, self.home, self.clone = root / "bin", root / "home", root / "clone"
        for folder in (self.bin, self.home, self.clone / "build_tools"):
            folder.mkdir(parents=True)
        for tool in ("sh", "dirname", "sed", "grep", "mkdir", "rm", "ln"):
            found = shutil.which(tool)
            assert found
            (self.bin / tool).symlink_to(found)
        shutil.copy(ROOT / "build_tools/setup.sh", self.clone / "build_tools")
        shutil.copy(ROOT / "requirements-test.txt", self.clone)
        # In place of the real one: says which Python it was given, and what for.
        (self.clone / "build_tools/setup.py").write_text(
            "import sys\nprint('handed over to', sys.version_info[:2], sys.argv[1:])\n"
        )

    def has_shim(self) -> None:
        program(self.bin / "python3.13", BROKEN_SHIM)

    def has_old_python(self, install: str = "exit 1") -> None:
        program(self.bin / "python3", OLD_PYTHON.format(install=install))

    def has_python_313(self, path: Path) -> Path:
        # As a wrapper, since a link into a venv would not find its home.
        return program(path, f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')

    def set_up(self, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.bin / "sh"), "build_tools/setup.sh", "serve"],
            cwd=self.clone,
            env={"PATH": str(self.bin), "HOME": str(self.home)} | env,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def refused(done: subprocess.CompletedProcess[str]) -> str:
    """The one sentence a refused set-up ends with."""
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "no Python 3.13 here" not in line]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("set-up stopped: ")
    assert lines[0].endswith("then run this again.")
    return lines[0]


# -- finding a Python -------------------------------------------------------------------------


def test_no_python_at_all(machine: Machine) -> None:
    sentence = refused(machine.set_up())
    assert "Python 3.13 is needed" in sentence
    assert "could not be installed" in sentence


def test_only_an_old_python_and_no_way_to_uv(machine: Machine) -> None:
    machine.has_shim()
    machine.has_old_python()
    assert "could not be installed" in refused(machine.set_up())


def test_uv_that_cannot_download_ends_in_a_sentence(machine: Machine) -> None:
    machine.has_shim()
    machine.has_old_python()
    program(machine.bin / "uv", UV_THAT_FAILS)
    done = machine.set_up()
    sentence = refused(done)
    assert "uv could not download one" in sentence
    assert "dns error" not in done.stdout + done.stderr
    assert "dns error" in (machine.clone / ".cache/python.log").read_text()


def test_uv_is_installed_by_the_old_python_and_fetches_one(machine: Machine) -> None:
    machine.has_shim()
    uv = program(machine.home / "uv", UV_THAT_WORKS.format(python=machine.home / "python"))
    machine.has_python_313(machine.home / "python")
    copy = f'mkdir -p .cache/uv/bin && ln -s "{uv}" .cache/uv/bin/uv && exit 0'
    machine.has_old_python(install=copy)
    done = machine.set_up()
    assert done.stdout.strip() == "handed over to (3, 13) ['serve']", done.stderr
    # The uv that was asked for is the one in the lock, with its hashes.
    asked = (machine.clone / ".cache/uv.txt").read_text()
    assert re.match(r"uv==[\d.]+ \\\n    --hash=sha256:", asked)
    assert asked.count("==") == 1
    # And the second time nothing is fetched.
    assert "no Python 3.13 here" not in machine.set_up().stderr


@pytest.mark.parametrize("place", ["bin/python3", "home/.pyenv/versions/3.13.9/bin/python3"])
def test_a_fitting_python_is_found_behind_a_broken_shim(machine: Machine, place: str) -> None:
    machine.has_shim()
    machine.has_python_313(machine.bin.parent / place)
    done = machine.set_up()
    assert done.stdout.strip() == "handed over to (3, 13) ['serve']", done.stderr


def test_python_variable_wins_and_must_fit(machine: Machine) -> None:
    python = machine.has_python_313(machine.home / "mine")
    assert "handed over" in machine.set_up(PYTHON=str(python)).stdout
    machine.has_python_313(machine.bin / "python3.13")
    machine.has_old_python()
    assert "PYTHON is set to python3," in refused(machine.set_up(PYTHON="python3"))


# -- the steps --------------------------------------------------------------------------------


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The set-up's module, with its checkout under `tmp_path`."""
    spec = importlib.util.spec_from_file_location("setup_under_test", ROOT / "build_tools/setup.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "CACHE", tmp_path / ".cache")
    monkeypatch.setattr(module, "BROWSER_FILE", tmp_path / ".cache/browser")
    monkeypatch.setattr(module, "NODE_MODULES", tmp_path / "node_modules")
    return module


@pytest.mark.parametrize("end", [ValueError, KeyboardInterrupt])
def test_a_step_that_fails_leaves_no_stamp(
    setup: ModuleType, tmp_path: Path, end: type[BaseException]
) -> None:
    stamp = tmp_path / "made" / "stamp"

    def step(error: type[BaseException] | None) -> None:
        with setup.stamped(stamp, "inputs"):
            if error:
                raise error

    step(None)
    assert setup.is_stamped(stamp, "inputs")
    assert not setup.is_stamped(stamp, "other inputs")
    with pytest.raises(end):
        step(end)
    assert not setup.is_stamped(stamp, "inputs")


def test_digest_tells_where_one_part_ends(setup: ModuleType) -> None:
    assert setup.digest("ab", "c") != setup.digest("a", "bc")


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (None, "not both on PATH. Install Node 20"),
        ("echo v18.19.0", "is v18.19.0, too old. Install Node 20"),
        ("exit 3", "does not work here. Install Node 20"),
    ],
)
def test_node_missing_or_old(
    setup: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    node: str | None,
    sentence: str,
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    if node:
        program(tmp_path / "node", f"#!/bin/sh\n{node}\n")
        program(tmp_path / "npm", "#!/bin/sh\n")
    with pytest.raises(setup.SetupError, match=re.escape(sentence)):
        setup.check_node()


def test_a_failing_npm_is_named_and_tried_again(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (tmp_path / name).write_text("{}")
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path / "node", "#!/bin/sh\necho v20.1.0\n")
    program(tmp_path / "npm", "#!/bin/sh\nexit 1\n")
    with pytest.raises(setup.SetupError, match="npm could not install the packages"):
        setup.node_step(tests=False)
    program(tmp_path / "npm", f'#!/bin/sh\necho "$*" >"{tmp_path}/asked"\n')
    assert setup.node_step(tests=False)
    assert not setup.node_step(tests=False)
    assert "--omit=dev" in (tmp_path / "asked").read_text()
    assert setup.node_step(tests=True)
    assert "--omit=dev" not in (tmp_path / "asked").read_text()
    assert not setup.node_step(tests=True)
    (tmp_path / "package-lock.json").write_text('{"changed": true}')
    assert setup.node_step(tests=True)
    assert not setup.node_step(tests=False)  # those of the tests hold those of the site


def no_download(*_: object) -> bool:
    return False


def test_no_browser_and_no_download(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(setup, "BROWSER_APPS", ())
    monkeypatch.setattr(setup, "playwrights_path", lambda: None)
    monkeypatch.setattr(setup, "succeeds_while_talking", no_download)
    with pytest.raises(setup.SetupError, match="Install Chromium"):
        setup.browser_step()
    assert not setup.BROWSER_FILE.exists()


def test_a_browser_that_does_not_start_is_passed_over(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path / "chromium-browser", "#!/bin/sh\necho 'install the snap' >&2\nexit 1\n")
    real = program(tmp_path / "google-chrome", "#!/bin/sh\necho Google Chrome 150.0.1\n")
    monkeypatch.setattr(setup, "playwrights_path", lambda: None)
    assert setup.browser_step()
    assert setup.BROWSER_FILE.read_text().strip() == str(real)
    assert not setup.browser_step()
    # A choice made later counts, and must work.
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "chromium-browser"))
    with pytest.raises(setup.SetupError, match="CHROMIUM is set to"):
        setup.browser_step()


@pytest.mark.parametrize(
    ("succeeds", "says"), [(True, ""), (False, "Install both (Debian: apt-get install firefox-esr")]
)
def test_the_other_engines_are_installed_or_told_of(
    setup: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    succeeds: bool,
    says: str,
) -> None:
    programs = tmp_path / "bin"
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setattr(setup, "LIBRARIES", tmp_path)

    def install(*packages: str) -> bool:
        assert packages == ("firefox-esr", "webkit2gtk-driver", "xvfb")
        if succeeds:
            program(programs / "firefox-esr", "#!/bin/sh\necho Mozilla Firefox 153.8.0esr\n")
            for name in ("WebKitWebDriver", "Xvfb"):
                program(programs / name, "#!/bin/sh\n")
            program(tmp_path / "x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser", "#!/bin/sh\n")
        return succeeds

    monkeypatch.setattr(setup, "debian_installs", install)
    assert setup.engines_step() is succeeds
    assert says in capsys.readouterr().out
    assert setup.engines_are_here() is succeeds
    assert not setup.engines_step()


def test_a_download_that_falls_silent_is_ended(setup: ModuleType) -> None:
    start = time.monotonic()
    assert not setup.succeeds_while_talking(["sh", "-c", "echo 10%; sleep 60"], 0.3, 60)
    assert not setup.succeeds_while_talking(["sh", "-c", "while :; do echo .; done"], 60, 0.3)
    assert time.monotonic() - start < 10
    assert setup.succeeds_while_talking(["sh", "-c", "echo 100%"], 5, 5)
    assert not setup.succeeds_while_talking(["sh", "-c", "exit 1"], 5, 5)


def test_a_taken_port_is_refused_in_a_sentence(
    setup: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        assert setup.main(["port", "127.0.0.1", port]) == 1
        assert "choose another port: make serve PORT=" in capsys.readouterr().err
    assert setup.main(["port", "127.0.0.1", port]) == 0
    assert setup.main(["port", "127.0.0.1", "http"]) == 1
    assert setup.main(["port", "127.0.0.1", "99999"]) == 1


def test_the_second_set_up_does_nothing() -> None:
    """This checkout is set up (`make test` saw to it): the next run finds nothing to do."""
    done = subprocess.run(
        ["sh", "build_tools/setup.sh", "test"],
        cwd=ROOT,
        # The machine's choice of browser and Python is not what is tested here.
        env={k: v for k, v in os.environ.items() if k not in {"CHROMIUM", "PYTHON"}},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "set-up: nothing to do\n"


# -- what the repository holds ----------------------------------------------------------------


def repository_files() -> list[Path]:
    """Files tracked, or about to be."""
    shown = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if shown.returncode:
        pytest.skip("not a git checkout")
    return [p for n in shown.stdout.split("\0") if n and (p := ROOT / n).is_file()]


def test_no_registry_host_and_no_machine_path() -> None:
    # Put together here, so that this file does not hold what it forbids.
    names = (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs"),
        ("npm", "mirror"),
        ("yarnpkg", "com"),
        ("deb", "debian"),
    )
    hosts = [re.escape(".".join(n)) for n in names] + ["npm" + "mirror", "index-" + "url ?="]
    homes = [re.escape(str(p)) + r"\b" for p in (Path.home(), ROOT) if len(p.parts) > 1]
    # Home directories of whoever made a file on another machine.
    homes += ["/" + r"home/\w+/", "/" + r"Users/\w+/", r"(?<![\w.*-])/" + "work/", "/" + r"root/"]
    forbidden = re.compile("|".join(hosts + homes))
    files = repository_files()
    assert ROOT / "pyproject.toml" in files
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8", errors="replace").split("\n"), 1)
        if (match := forbidden.search(line))
    ]
    assert not found


def locked(name: str) -> dict[str, tuple[str, list[str]]]:
    """Package → version with marker, hashes; anything else in the file is an error."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    packages = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        match = re.fullmatch(
            r"([a-z0-9-]+)==(\S+)( ; .*?)?((?: +--hash=sha256:[0-9a-f]{64})*)", line
        )
        assert match, line
        packages[match[1]] = (match[2] + (match[3] or "").rstrip(), match[4].split())
    return packages


def test_every_python_package_is_pinned_and_hashed() -> None:
    site, tests = locked("requirements.txt"), locked("requirements-test.txt")
    assert all(hashes for _, hashes in (site | tests).values())
    # The set-up installs the tests' list alone and calls the site's done.
    assert site.items() <= tests.items()
    # What the browser runs too must be among them.
    assert {"jinja2", "markupsafe"} <= site.keys()
    assert "uv" in tests


def test_npm_lock_has_sums_and_no_addresses() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())
    packages = {name: data for name, data in lock["packages"].items() if name}
    assert not [name for name, data in packages.items() if "resolved" in data]
    assert not [name for name, data in packages.items() if "integrity" not in data]
    assert packages["node_modules/pyodide"]["version"] == "0.29.5"
    scripts = [name for name, data in packages.items() if data.get("hasInstallScript")]
    assert not scripts  # They would not run, so nothing may need them.


@pytest.mark.parametrize(("version", "holds"), [("standard", True), ("editable", False)])
def test_wheel_holds_the_three_packages_and_the_data(
    tmp_path: Path, version: str, holds: bool
) -> None:
    [wheel] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=[version])
    names = set(zipfile.ZipFile(wheel).namelist())
    data = {f"py_core/data/{p.name}" for p in (ROOT / "docs/data").glob("*.json")}
    code = {
        str(p.relative_to(ROOT))
        for package in ("py_core", "widgets", "build_tools")
        for p in (ROOT / package).rglob("*")
        if p.suffix in {".py", ".html", ".css", ".js", ".mjs"}
    }
    assert data
    # An editable install with copies inside would go stale.
    assert (data | code <= names) if holds else not (data | code) & names
