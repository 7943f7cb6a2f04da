"""Configs that readers bring as files: a dozen good ones against the command line, and a dozen bad
ones, each of which leaves the page as it was."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.reader import LESSON
from tests.conftest import ROOT

LESSON_COMMAND = Path(sys.executable).with_name("lesson")
MODELS = (
    "deepseek-v3",
    "falcon-7b",
    "gemma-3-4b",
    "glm-4.5-air",
    "gpt-oss-20b",
    "gpt2",
    "llama-3.1-405b",
    "mixtral-8x7b",
    "olmo-2-7b",
    "phi-4",
    "qwen3-30b-a3b",
    "starcoder2-7b",
)
# Figures of the prose that every model has, whatever Scenario fields they are pinned to.
FIGURES = ("state.bytes", "model.parameters", "ring.sent_per_card", "backward.seconds")

LLAMA = json.loads((ROOT / "docs/data/models/llama-3.1-8b.json").read_text("utf-8"))["config"]
BAD = {
    "": "第 1 行第 1 列",
    "{": "第 1 行第 2 列",
    "[]": "JSON",
    "null": "JSON",
    '{"a": 1, "a": 2}': "每个键一次",
    '{"model_type": NaN}': "有限的数",
    '{"model_type": "mamba"}': "只填参数个数",
    '{"model_type": "llama"}': "缺了",
    json.dumps(LLAMA | {"hidden_size": -1}): "/hidden_size 不能是「-1」",
    json.dumps(LLAMA | {"hidden_size": "4096"}): "/hidden_size 不能是「4096」",
    json.dumps(LLAMA | {"num_hidden_layers": 10**6}): "/num_hidden_layers 不能是",
    json.dumps(LLAMA | {"num_attention_heads": 7}): "不能是",
    "[" * 100_000: "64 层",
    "\ufffe" * 9_000_000: "8,388,608 字节",
}


def told(file: Path, name: str, pins: str) -> str:
    """What ``lesson value`` says of a figure, under CPython."""
    sets = [part for pin in pins.split("&") if pin for part in ("--set", pin)]
    command = [LESSON_COMMAND, "value", name, "--config", file, *sets, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return str(found["display"])


def bring(page: Page, file: Path) -> None:
    page.locator("[data-own]").evaluate("e => { e.textContent = ''; }")
    page.get_by_label("选一个 config.json").set_input_files(file)
    expect(page.locator("[data-own]")).to_have_text(re.compile("。"))


def test_a_dozen_files_give_what_the_command_line_gives(
    page: Page, origin: str, tmp_path: Path
) -> None:
    page.goto(origin + LESSON)
    page.locator(".yours-open").click()
    before = ""
    for slug in MODELS:
        content = json.loads((ROOT / f"docs/data/models/{slug}.json").read_text("utf-8"))
        file = tmp_path / f"{slug}.json"
        file.write_text(json.dumps(content["config"], indent=2), "utf-8")
        bring(page, file)
        expect(page.locator("html")).to_have_attribute("data-scenario", re.compile("model=own-"))
        expect(page.locator("html")).not_to_have_attribute("data-scenario", before)
        before = page.locator("html").get_attribute("data-scenario") or ""
        for name in FIGURES:
            shown = page.locator(f"article > p button.q[data-q='{name}']:not([data-unit])").first
            pins = shown.get_attribute("data-set") or ""
            assert shown.text_content() == told(file, name, pins), (slug, name, pins)


def test_a_dozen_bad_files_leave_the_page_as_it_was(
    page: Page, origin: str, tmp_path: Path
) -> None:
    page.goto(origin + LESSON)
    page.locator(".yours-open").click()
    for number, (text, says) in enumerate(BAD.items()):
        file = tmp_path / f"{number}.json"
        file.write_text(text, "utf-8")
        bring(page, file)
        expect(page.locator("[data-own]")).to_contain_text(says)
        expect(page.locator("html[data-scenario]")).to_have_count(0)
