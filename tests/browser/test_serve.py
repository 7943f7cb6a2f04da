"""Authors under ``mkdocs serve``: the same steppers, and a change that reaches the browser."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import Watch
from tests.browser.reader import at_step, cells, set_cards

READY = 60  # seconds for a first build on a slow machine


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A copy of the project that may be edited; what is big and unchanged is linked."""
    folder = tmp_path_factory.mktemp("serve")
    for name in ("py_core", "widgets", "build_tools", "docs"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "node_modules").symlink_to(root / "node_modules")
    if (root / ".cache/pack").exists():
        shutil.copytree(root / ".cache/pack", folder / ".cache/pack")
    for name in ("mkdocs.yml", "pyproject.toml", "LICENSE", "LICENSE-docs"):
        shutil.copy(root / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def origin(project: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (project / "serve.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "serve", "-a", f"127.0.0.1:{port}"],
        cwd=project,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(project)},
        stdout=log,
        stderr=subprocess.STDOUT,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_for(lambda: "<lesson-widget" in read(address), "the first build")
        yield address
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def read(address: str, path: str = "/data-parallel/") -> str:
    try:
        with urllib.request.urlopen(address + path, timeout=5) as response:
            return str(response.read().decode())
    except (urllib.error.URLError, TimeoutError):
        return ""


def reloaded_without(page: Page, old: str) -> None:
    """Until the page has reloaded itself and boots from another manifest than ``old``."""
    expect(page.locator(f"#ring[data-alive]:not([runtime$='{old}'])")).to_be_visible(
        timeout=READY * 1000
    )


def manifest_of(address: str) -> str:
    """The name of the boot manifest, which changes with the core; empty while it is rebuilt."""
    found = re.search(r"python\.[0-9a-f]+\.json", read(address))
    return found[0] if found else ""


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + READY
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not come"
        time.sleep(0.2)


@pytest.fixture
def watch(watch: Watch) -> Iterator[Watch]:
    """A page that was open when its site was made anew may still ask for frames that are gone."""
    yield watch
    watch.messages = [said for said in watch.messages if "404 (Not Found)" not in said]


@pytest.fixture
def page(context: BrowserContext, watch: Watch, origin: str) -> Page:
    opened = context.new_page()
    watch.on(opened)
    opened.goto(f"{origin}/data-parallel/")
    expect(opened.locator("#ring[data-alive]")).to_be_visible()
    return opened


def test_the_stepper_steps_and_python_answers(page: Page) -> None:
    page.locator("#ring").get_by_role("button", name="朴素").click()
    page.locator("#ring").get_by_role("button", name="最后").click()
    at_step(page, 6, 6)
    assert cells(page, "received") == [12, 4, 4, 4]
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.locator("#ring").get_by_role("button", name="最后").click()
    at_step(page, 14, 14)
    assert cells(page, "received") == [56] + [8] * 7
    assert cells(page, "largest") == [0]


def test_neither_policy_nor_service_worker(page: Page, origin: str) -> None:
    html = read(origin)
    assert "livereload" in html  # an inline script that no policy could name
    assert "Content-Security-Policy" not in html
    assert "lesson-version" not in html  # what makes the runtime remove an old worker
    assert read(origin, "/service-worker.js") == ""


def test_reload_and_back(page: Page, origin: str) -> None:
    set_cards(page, 5)
    at_step(page, 0, 8)
    page.locator("#ring").get_by_role("button", name="下一步").click()
    at_step(page, 1, 8)
    expect(page).to_have_url(re.compile(r"ring\.step=1"))  # written after the frame is shown
    page.reload()
    at_step(page, 1, 8)
    page.goto(f"{origin}/")
    page.go_back()
    at_step(page, 1, 8)


def edited(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_change_in_docs_reloads_the_page(page: Page, project: Path) -> None:
    edited(project / "docs/data-parallel.md", "一张卡太慢，", "一张卡实在太慢，")
    expect(page.get_by_text("一张卡实在太慢，")).to_be_visible(timeout=READY * 1000)


def test_a_change_in_the_data_changes_the_figures(page: Page, origin: str, project: Path) -> None:
    edited(
        project / "docs/data/anchor-model.json",
        '"vocab_size": 248320',
        '"vocab_size": 148320',
    )
    # 100,000 rows fewer in embedding and head: 2 × 100,000 × 5,120.
    wait_for(lambda: "26,757,427,952" in read(origin), "the new count")
    expect(page.get_by_text("26,757,427,952").first).to_be_visible(timeout=READY * 1000)


def test_a_change_in_the_core_reaches_the_browser(page: Page, origin: str, project: Path) -> None:
    old = manifest_of(origin)
    edited(project / "py_core/executor.py", "SMALLEST, LARGEST = 1, 9", "SMALLEST, LARGEST = 5, 5")
    reloaded_without(page, old)
    set_cards(page, 3)  # not prerendered: Python in the browser computes it
    at_step(page, 0, 4)
    assert page.locator("#ring .ring-value").all_inner_texts() == ["5"] * 9


def test_a_change_in_a_widget_reaches_the_browser(page: Page, origin: str, project: Path) -> None:
    old = manifest_of(origin)
    edited(project / "widgets/ring/template.html", ">答案</th>", ">正确答案</th>")
    reloaded_without(page, old)
    expect(page.locator("#ring tfoot th")).to_have_text("正确答案")
    set_cards(page, 7)
    at_step(page, 0, 12)
    expect(page.locator("#ring tfoot th")).to_have_text("正确答案")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (
            "py_core/quantities/allreduce.py",
            "from py_core.quantity import",
            "from py_core.quantitty import",
            "py_core/quantities/allreduce.py:",
        ),
        ("py_core/units.py", "def unit(", "def unit((", "py_core/units.py:"),
        (
            "docs/data/anchor-model.json",
            '"num_hidden_layers": 64',
            '"num_hidden_layers": 0',
            "docs/data/anchor-model.json: /config/text_config/num_hidden_layers",
        ),
    ],
    ids=["import", "syntax", "data"],
)
def test_broken_code_and_data_are_a_banner_too(
    page: Page, origin: str, project: Path, file: str, old: str, new: str, says: str
) -> None:
    edited(project / file, old, new)
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text(says, timeout=READY * 1000)
    assert says in (project / "serve.log").read_text(encoding="utf-8")
    page.goto(f"{origin}/figures/")
    expect(banner).to_contain_text(says)
    page.goto(f"{origin}/data-parallel/")
    edited(project / file, new, old)
    expect(page.locator("#ring[data-alive]")).to_be_visible(timeout=READY * 1000)
    expect(banner).to_have_count(0)


def test_an_error_is_a_banner_and_goes_when_mended(page: Page, origin: str, project: Path) -> None:
    file = project / "docs/data-parallel.md"
    edited(file, '{{ q("state.bytes") }}', '{{ q("state.byts") }}，也就是 444.5 GB')
    banner = page.get_by_role("alert")
    expect(banner).to_contain_text("close to it: state.bytes", timeout=READY * 1000)
    expect(banner).to_contain_text(re.compile(r"docs/data-parallel\.md:\d+:\d+: "))
    expect(banner).to_contain_text("444.5 GB: a figure typed by hand")
    log = (project / "serve.log").read_text(encoding="utf-8")
    assert re.search(r"docs/data-parallel\.md:\d+:\d+: .*close to it: state\.bytes", log)
    # The stepper of the broken page works, and so does the rest of the site.
    set_cards(page, 3)
    at_step(page, 0, 4)
    assert "一张卡不够" in read(origin, "/")
    edited(file, '{{ q("state.byts") }}，也就是 444.5 GB', '{{ q("state.bytes") }}')
    expect(banner).to_have_count(0, timeout=READY * 1000)
    expect(page.locator("#ring[data-alive]")).to_be_visible()
    page.goto("about:blank")  # no reload may be under way when the page is closed
