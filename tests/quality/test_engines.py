"""The lesson in the three engines that browsers are made of, Python running in each."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from py_core import evaluate, parse_scenario
from tests.browser.hosts import SUB_PATH, Host, started
from tests.browser.reader import LESSON
from tests.quality import engines
from tests.quality.engines import Engine

FIGURE = 'article button.q[data-q="state.bytes"]:not([data-set])'
SEARCH = "[data-md-component=search-query]"


@pytest.fixture(params=["chromium", "firefox", "webkit"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    if request.param == "chromium":
        yield engines.Chromium(request.getfixturevalue("context").new_page())
        return
    with getattr(engines, request.param)(tmp_path) as opened:
        yield opened


def until(engine: Engine, expression: str) -> None:
    """Until this is true in the page."""
    deadline = time.monotonic() + engines.PATIENCE
    while not engine.read(expression):
        assert time.monotonic() < deadline, f"{expression} did not come true"
        time.sleep(0.05)


def shows(engine: Engine, selector: str, text: str = "") -> None:
    """Until the first such element is there, is seen, and says this."""
    element = f"document.querySelector({json.dumps(selector)})"
    until(engine, f"{element}?.getClientRects().length > 0")
    until(engine, f"{element}?.textContent.includes({json.dumps(text)})")


def gone(engine: Engine, selector: str) -> None:
    until(engine, f"document.querySelector({json.dumps(selector)}) === null")


def at_step(engine: Engine, step: int, last: int) -> None:
    shows(engine, "#ring .ring-counter", f"第 {step} 步，共 {last} 步")


def test_the_tour(engine: Engine, site: Path) -> None:
    with started(Host(site)) as host:
        engine.go(host.origin + SUB_PATH.rstrip("/") + LESSON)
        prerendered(engine)
        computed(engine)
        formula_and_timeline(engine)
        panel(engine)
        your_model(engine)
        search(engine)
    assert engine.complaints() == []
    # They would have been heard.
    engine.read("setTimeout(() => { throw Error('out of order') })")
    heard(engine, "out of order")


def heard(engine: Engine, text: str) -> None:
    deadline = time.monotonic() + engines.PATIENCE
    while not any(text in complaint for complaint in engine.complaints()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def prerendered(engine: Engine) -> None:
    shows(engine, "#ring[data-alive]")
    at_step(engine, 0, 6)
    engine.click("#ring-next")
    at_step(engine, 1, 6)


def computed(engine: Engine) -> None:
    shows(engine, "#ring[python=ready]")
    engine.type("#ring-n", "8", "Enter")
    at_step(engine, 0, 14)
    for step in range(1, 15):
        engine.click("#ring-next")
        at_step(engine, step, 14)
    differences = "[...document.querySelectorAll('#ring [data-difference]')].map(e => e.innerText)"
    assert engine.read(differences) == ["0"] * 8


def formula_and_timeline(engine: Engine) -> None:
    engine.click("#formula-guess-skip")
    engine.click("#formula-term-steps")
    shows(engine, "#formula-term-steps[aria-expanded=true]")
    shows(engine, "#formula-explained", "每段走这么多步")
    engine.click("#overlap-guess-skip")
    engine.click("#overlap-mode-buckets")
    shows(engine, "#overlap-mode-buckets[aria-pressed=true]")


def panel(engine: Engine) -> None:
    engine.click(FIGURE)
    shows(engine, ".panel:popover-open", evaluate("state.bytes").display())
    engine.click(".panel:popover-open .panel-close")
    gone(engine, ".panel:popover-open")


def your_model(engine: Engine) -> None:
    engine.click(".yours-open")
    shows(engine, "#your-model")
    engine.choose("#yours-model", "qwen3-8b")
    shows(engine, FIGURE, evaluate("state.bytes", parse_scenario("model=qwen3-8b")).display())
    engine.click("#yours [data-tool=reset]")
    shows(engine, FIGURE, evaluate("state.bytes").display())
    engine.click("#your-model > .panel-close")
    gone(engine, "#your-model:popover-open")


def search(engine: Engine) -> None:
    engine.click(SEARCH)
    engine.type(SEARCH, "分桶", "ArrowRight")
    shows(engine, '[data-md-component=search-result] a[href$="#buckets"]')
