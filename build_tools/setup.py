"""Set up what this checkout needs; quick when it is all there.

Started by ``setup.sh`` with a Python 3.13 and nothing else, so: standard library only.

    setup.py serve           .venv, the site's Python packages, npm packages
    setup.py test            the same, the tests' packages and a browser
    setup.py quality         the same, and browsers of the other engines
    setup.py port HOST PORT  can a server listen there?

A step is done when its stamp holds the hash of all it was made from. The stamp is taken away
before the step and put back after it, so a failed or interrupted step runs again. Where things
come from (mirror, proxy, certificates) is the user's own pip and npm configuration.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
NODE_MODULES = ROOT / "node_modules"
CACHE = ROOT / ".cache"
BROWSER_FILE = CACHE / "browser"

MIN_NODE = 20
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FIREFOX_NAMES = ("firefox-esr", "firefox")
LIBRARIES = Path("/usr/lib")
ENGINE_PACKAGES = ("firefox-esr", "webkit2gtk-driver", "xvfb")
BROWSER_APPS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
# On a closed network Playwright's download hangs rather than fails: silence is what gives it away.
DOWNLOAD_SILENCE = 60.0
DOWNLOAD_LIMIT = 900.0


class SetupError(Exception):
    """A step could not be done; the message says what to do about it."""


def say(line: str) -> None:
    """Print one line at once (the tools we start write to the same terminal)."""
    print(f"set-up: {line}", flush=True)


def run(*command: str | Path, failed: str) -> None:
    """Run a command from the checkout's root; `failed` is the sentence if it does not succeed."""
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONHOME"}}
    try:
        status = subprocess.run([str(c) for c in command], cwd=ROOT, env=env, check=False)
    except OSError as error:
        raise SetupError(f"{failed} ({error})") from error
    if status.returncode:
        raise SetupError(failed)


# -- stamps ----------------------------------------------------------------------------------


def digest(*parts: str | Path) -> str:
    """Hash of texts and of files' contents."""
    total = hashlib.sha256()
    for part in parts:
        content = part.read_bytes() if isinstance(part, Path) else part.encode()
        total.update(f"{len(content)}:".encode() + content)
    return total.hexdigest()


def is_stamped(stamp: Path, want: str) -> bool:
    """Whether the step was finished with just these inputs."""
    try:
        return stamp.read_text() == want
    except OSError:
        return False


@contextmanager
def stamped(stamp: Path, want: str) -> Iterator[None]:
    """Run a step's body with its stamp away; put it back only if the body succeeds."""
    stamp.unlink(missing_ok=True)
    yield
    stamp.parent.mkdir(parents=True, exist_ok=True)
    fresh = stamp.with_name(stamp.name + ".new")
    fresh.write_text(want)
    fresh.replace(stamp)


# -- steps: each returns whether it had anything to do ---------------------------------------------


def venv_step() -> bool:
    """Make `.venv`, anew when it was made by another Python or in another place."""
    stamp = VENV / ".stamp-venv"
    # Scripts in a venv hold its absolute path: a moved or copied checkout needs a new one.
    want = digest(str(VENV), sys.version)
    if is_stamped(stamp, want) and VENV_PYTHON.exists():
        return False
    if Path(sys.prefix).resolve() == VENV.resolve():
        # We run from the very folder to be replaced: go on from the Python it was made of.
        base: str = sys._base_executable  # type: ignore[attr-defined]
        os.execv(base, [base, "-I", *sys.argv])
    say(f"making .venv with Python {sys.version.split()[0]}")
    with stamped(stamp, want):
        if VENV.is_symlink():
            VENV.unlink()
        run(
            *(sys.executable, "-I", "-m", "venv", "--clear", VENV),
            failed="Python could not make a virtual environment in .venv. On Debian and Ubuntu"
            " install python3.13-venv; elsewhere see its message above. Then run this again.",
        )
    return True


def packages_step(*, tests: bool) -> bool:
    """Install the pinned packages, every one checked against its hash."""
    name = "requirements-test.txt" if tests else "requirements.txt"
    requirements = ROOT / name
    want = digest(requirements)
    stamp = VENV / f".stamp-{name}"
    if is_stamped(stamp, want):
        return False
    what = "the site's and the tests' Python packages" if tests else "the site's Python packages"
    say(f"installing {what} ({name}); a minute or two the first time")
    with stamped(stamp, want):
        run(
            *(VENV_PYTHON, "-I", "-m", "pip", "install", "-qq", "--no-input"),
            *("--disable-pip-version-check", "--require-hashes", "--requirement", requirements),
            failed=f"pip could not install {name}; its reason is above. If it is the network, check"
            " pip's own settings (`pip config list`), then run this again.",
        )
    if tests:
        # The tests' list holds all of the site's (make lock sees to it).
        site = ROOT / "requirements.txt"
        with stamped(VENV / f".stamp-{site.name}", digest(site)):
            pass
    return True


def project_step() -> bool:
    """Put this checkout itself on `.venv`'s path, and the `lesson` command beside it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    # What the tools (ruff, mypy, pytest) are told does not touch the installation.
    built_from = [settings.get("build-system"), settings["project"], settings["tool"]["hatch"]]
    want = digest(json.dumps(built_from))
    stamp = VENV / ".stamp-project"
    if is_stamped(stamp, want):
        return False
    say("installing this checkout into .venv (editable)")
    with stamped(stamp, want):
        # Without isolation the build backend is the pinned one, and nothing is fetched.
        run(
            *(VENV_PYTHON, "-I", "-m", "pip", "install", "-qq", "--no-input", "--no-deps"),
            *("--disable-pip-version-check", "--no-build-isolation", "--editable", ROOT),
            failed="pip could not install the checkout itself; its reason is above"
            " (most often a mistake in pyproject.toml).",
        )
    return True


def node_step(*, tests: bool) -> bool:
    """Install the npm packages just as the lock has them; none of their scripts run."""
    want = digest(*(ROOT / n for n in ("package.json", "package-lock.json", ".npmrc")))
    site, all_of_them = NODE_MODULES / ".stamp", NODE_MODULES / ".stamp-test"
    stamp = all_of_them if tests else site
    if is_stamped(stamp, want):
        return False
    check_node()
    say("installing npm packages (package-lock.json)")
    with stamped(stamp, want):
        run(
            *("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
            *([] if tests else ["--omit=dev"]),
            failed="npm could not install the packages; its reason is above. If it is the network,"
            " check npm's own settings (`npm config list`), then run this again.",
        )
    if tests:
        with stamped(site, want):
            pass
    return True


def check_node() -> None:
    """Refuse a missing or too old Node in one sentence."""
    advice = f"Install Node {MIN_NODE} or newer (with npm), then run this again."
    if not shutil.which("node") or not shutil.which("npm"):
        raise SetupError(f"Node.js and npm are needed and not both on PATH. {advice}")
    shown = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False)
    version = shown.stdout.strip()
    match = re.match(r"v(\d+)\.", version)
    if not match:
        raise SetupError(f"`node --version` does not work here. {advice}")
    if int(match[1]) < MIN_NODE:
        raise SetupError(f"Node on PATH is {version}, too old. {advice}")


# -- a browser for the tests -----------------------------------------------------------------


def browser_step() -> bool:
    """Find a Chromium, or get one, and leave its path in `.cache/browser` for the tests."""
    wanted = os.environ.get("CHROMIUM")
    known = BROWSER_FILE.read_text().strip() if BROWSER_FILE.is_file() else ""
    if known and Path(known).is_file() and wanted in (None, "", known):
        return False
    if wanted:
        path = shutil.which(wanted)
        if not path or not browser_runs(path):
            raise SetupError(
                f"CHROMIUM is set to {wanted}, which does not run as a browser."
                " Correct or unset it, then run this again."
            )
    else:
        path = installed_browser() or playwright_browser() or debian_browser()
    if not path:
        raise SetupError(
            "no browser for the tests was found, and none could be downloaded. Install Chromium or"
            " Google Chrome (Debian: apt-get install chromium fonts-noto-cjk), or set CHROMIUM to"
            " one, then run this again."
        )
    with stamped(BROWSER_FILE, path + "\n"):
        say(f"tests will use the browser {path}")
    return True


def browser_runs(path: str) -> bool:
    """Whether it starts: Ubuntu's is a stub that asks for a snap, others may lack a library."""
    try:
        shown = subprocess.run(
            [path, "--version"], capture_output=True, text=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return shown.returncode == 0 and bool(re.search(r"\d+\.\d+", shown.stdout))


def installed_browser() -> str | None:
    """A browser on PATH, in its usual place, or downloaded by Playwright before."""
    on_path = (shutil.which(name) for name in BROWSER_NAMES)
    for path in (*on_path, *BROWSER_APPS, playwrights_path()):
        if path and Path(path).is_file() and browser_runs(path):
            return path
    return None


def playwrights_path() -> str | None:
    """Where Playwright keeps, or would keep, its own Chromium."""
    code = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as p: print(p.chromium.executable_path)"
    )
    try:
        shown = subprocess.run(
            [str(VENV_PYTHON), "-I", "-c", code],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    except subprocess.TimeoutExpired:
        return None
    return shown.stdout.strip() or None


def playwright_browser() -> str | None:
    """Let Playwright download its Chromium; None if it cannot."""
    say("no browser found; letting Playwright download Chromium")
    command = [str(VENV_PYTHON), "-I", "-m", "playwright", "install", "chromium"]
    if not succeeds_while_talking(command, DOWNLOAD_SILENCE, DOWNLOAD_LIMIT):
        say("Playwright could not download it")
        return None
    path = playwrights_path()
    if path and browser_runs(path):
        return path
    say("Playwright's Chromium does not start here (system libraries are missing)")
    return None


def succeeds_while_talking(command: list[str], silence: float, limit: float) -> bool:
    """Run a command; end it when it prints nothing for `silence` or takes `limit` seconds."""
    start = heard = time.monotonic()
    # Its own session, so that its helpers end with it.
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )

    def listen() -> None:
        nonlocal heard
        assert child.stdout is not None
        with child.stdout as stdout:
            while os.read(stdout.fileno(), 4096):
                heard = time.monotonic()

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        while child.poll() is None:
            now = time.monotonic()
            if now - heard > silence or now - start > limit:
                return False
            time.sleep(0.1)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        listener.join(timeout=1)
    return child.returncode == 0


def debian_browser() -> str | None:
    """Debian's Chromium and a Chinese font, where we may install them."""
    path = shutil.which("chromium") if debian_installs("chromium", "fonts-noto-cjk") else None
    return path if path and browser_runs(path) else None


def debian_installs(*packages: str) -> bool:
    """Whether Debian's packages were installed, by us."""
    # Ubuntu's browsers of those names only point to snaps.
    if os.geteuid() != 0 or not shutil.which("apt-get") or "ubuntu" in os_release():
        return False
    say(f"installing Debian's {', '.join(packages)}")
    log = CACHE / "apt.log"
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    with log.open("w") as out:
        for command in (["apt-get", "update"], install):
            done = subprocess.run(command, stdout=out, stderr=out, env=env, check=False)
            if done.returncode:
                say(f"`{' '.join(command)}` failed; its messages are in .cache/apt.log")
                return False
    return True


def engines_step() -> bool:
    """Firefox and WebKitGTK, where we may install them; elsewhere their tests are skipped."""
    if engines_are_here():
        return False
    installed = debian_installs(*ENGINE_PACKAGES)
    if not engines_are_here():
        say(
            "the lesson will not be tried in Firefox and WebKit, one of which is missing. Install"
            f" both (Debian: apt-get install {' '.join(ENGINE_PACKAGES)}), then run this again."
        )
    return installed


def engines_are_here() -> bool:
    """Whether all is here that drives the two."""
    programs = (firefox(), mini_browser(), shutil.which("WebKitWebDriver"), shutil.which("Xvfb"))
    return all(programs)


def firefox() -> str | None:
    """A Firefox that starts."""
    paths = map(shutil.which, FIREFOX_NAMES)
    return next((path for path in paths if path and browser_runs(path)), None)


def mini_browser() -> str | None:
    """WebKitGTK's own browser, which lies beside its library."""
    return next((str(path) for path in LIBRARIES.glob("*/webkit2gtk-4.*/MiniBrowser")), None)


def os_release() -> str:
    """What the system calls itself; empty where it does not say."""
    try:
        return Path("/etc/os-release").read_text().lower()
    except OSError:
        return ""


# -- commands --------------------------------------------------------------------------------


def set_up(level: str) -> None:
    """Do the steps of a level that are not done yet."""
    tests = level != "serve"
    steps: list[Callable[[], bool]] = [
        venv_step,
        lambda: packages_step(tests=tests),
        project_step,
        lambda: node_step(tests=tests),
    ]
    if tests:
        steps.append(browser_step)
    if level == "quality":
        steps.append(engines_step)
    with one_at_a_time():
        worked = [step() for step in steps]
    say("done" if any(worked) else "nothing to do")


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Keep two set-ups of one checkout from writing over each other."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting for another set-up of this checkout")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_port(host: str, port: str) -> None:
    """Refuse an address that is taken, before a site is built for it."""
    try:
        if not 0 < int(port) < 2**16:
            raise ValueError("a port is a number from 1 to 65535")
        family, kind, proto, _, address = socket.getaddrinfo(
            host, int(port), type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, ValueError) as error:
        raise SetupError(
            f"cannot serve at http://{host}:{port}/ ({getattr(error, 'strerror', None) or error})."
            " Stop what listens there or choose another port: make serve PORT=8123"
        ) from error


def main(arguments: list[str]) -> int:
    """Run one command; the exit status."""
    try:
        match arguments:
            case [("serve" | "test" | "quality") as level]:
                set_up(level)
            case ["port", host, port]:
                check_port(host, port)
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except SetupError as error:
        print(f"set-up stopped: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        print("set-up stopped: interrupted. Run it again to go on.", file=sys.stderr, flush=True)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
