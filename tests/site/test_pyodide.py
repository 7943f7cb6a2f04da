"""The same core twice: what CPython computes at build is what Pyodide computes in the browser."""

from __future__ import annotations

import json
from typing import Any

import pytest

from build_tools.pack import node

# Runs in both Pythons: every quantity and claim of several Scenarios, as text.
EVERYTHING = """
import json
from py_core import LessonError, evaluate, judge, names, parse_scenario
from py_core.claims import claims

def told(work):
    try:
        return work()
    except LessonError as error:
        return str(error)

json.dumps([
    [told(lambda: evaluate(name, scenario).record()) for name in names()]
    + [told(lambda: judge(claim.name, scenario).record()) for claim in claims()]
    for scenario in map(parse_scenario, [
        "", "cards=64&tokens=16384", "model=deepseek-v3&pipeline_stages=16", "model=gpt2",
        "model=qwen3-8b&cards=12&bandwidth=12.5&gradient=fp32",
    ])
])
"""

BAD_CONFIGS = """
import json, time, widgets
texts = {
    "nesting": "[" * 50_000,
    "objects": '{"a":' * 50_000,
    "brackets": "[" * (8 << 20),
    "strings": '"' + "[{" * 1_000_000 + '"',
    "junk": "{" + ",".join(f'"k{i}":{i}' for i in range(400_000)) + "}",
    "digits": '{"model_type":"llama","hidden_size":' + "9" * 1_000_000 + "}",
    "nan": '{"model_type":"llama","hidden_size":NaN}',
    "twice": '{"model_type":"llama","model_type":"qwen3"}',
    "unknown": '{"model_type":"<script>alert(1)</script>"}',
    "empty": "",
}
slowest = 0
answers = {}
for name, text in texts.items():
    begin = time.perf_counter()
    answers[name] = json.loads(widgets.answer(json.dumps({"config": text})))
    slowest = max(slowest, time.perf_counter() - begin)
json.dumps([answers, slowest])
"""


def here(code: str) -> Any:
    """Run ``code`` in this Python, as Pyodide would."""
    body, last = code.rsplit("\njson.dumps(", 1)
    scope: dict[str, Any] = {}
    exec(body, scope)
    return json.loads(eval("json.dumps(" + last, scope))


def test_every_quantity_and_claim_is_the_same(browser_python: dict[str, Any]) -> None:
    built, browser = here(EVERYTHING), node.run(EVERYTHING, browser_python)
    assert len(built[0]) > 300
    assert browser == built


def test_bad_configs_are_refused_and_python_lives_on(browser_python: dict[str, Any]) -> None:
    answers, slowest = node.run(BAD_CONFIGS, browser_python)
    assert all(answer["error"]["says"] for answer in answers.values())
    assert answers["unknown"]["error"]["field"] == "/model_type"
    assert slowest < 10  # nothing hangs; how fast it is stands in `make bench`
