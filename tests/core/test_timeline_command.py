"""``lesson timeline``: golden values, the shape of its JSON, the trace, bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from build_tools import cli
from py_core.setting import MODES

NUMBER = (int, float)


def lesson(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["timeline", *arguments])


def answer(*arguments: str) -> Any:
    result = lesson(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_defaults_are_the_lessons() -> None:
    found = answer()
    assert found["model"] == "Qwen3.8-27B"
    setting = found["setting"]
    assert (setting["cards"], setting["tokens"], setting["grad_dtype"]) == (8, 4096, "bf16")
    assert (setting["bucket_cap"], setting["alpha"]) == (25 * 2**20, 0)
    assert (setting["bandwidth"], setting["flops"]) == (50e9, 400e12)
    assert found["backward_s"] == pytest.approx(1.0496, abs=5e-5)
    assert found["comm_s"] == pytest.approx(1.9447, abs=5e-5)
    assert found["exposed_s"] == pytest.approx(0.9472, abs=5e-5)
    assert found["hidden_share"] == pytest.approx(0.513, abs=5e-4)
    assert found["buckets"][0]["launch_s"] == pytest.approx(0.0521, abs=5e-5)
    assert len(found["buckets"]) == found["bucket_count"] == 406


def test_shape() -> None:
    found = answer("--model", "qwen3-0.6b")
    assert list(found) == [
        "model",
        "mode",
        "setting",
        "backward_s",
        "forward_s",
        "comm_s",
        "hidden_s",
        "exposed_s",
        "hidden_share",
        "comm_over_backward",
        "step_s",
        "step_without_overlap_s",
        "break_even_tokens",
        "bucket_count",
        "sent_bytes",
        "problem",
        "buckets",
    ]
    for bucket in found["buckets"]:
        assert {key: isinstance(value, NUMBER) for key, value in bucket.items()} == {
            "index": True,
            "micro_batch": True,
            "bytes": True,
            "ready_s": True,
            "launch_s": True,
            "start_s": True,
            "end_s": True,
            "hidden_s": True,
            "exposed_s": True,
            "tensors": False,
        }
    assert sum(b["bytes"] for b in found["buckets"]) == found["sent_bytes"] == 2 * 596_049_920
    help_ = " ".join(lesson("--help").output.split())
    assert all(key in help_ for key in (*found, *found["buckets"][0]))


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    found = answer("--mode", mode, "--tokens", "16384")
    assert found["mode"] == mode
    assert (found["problem"] is None) == (mode not in ("error", "no-sync-trap"))
    assert found["hidden_s"] + found["exposed_s"] == pytest.approx(found["comm_s"])
    assert lesson("--mode", mode).exit_code == 0


def test_options_beside_the_mode() -> None:
    found = answer(
        *("--mode", "tied", "--untied", "--unused", "absent", "--order", "arrival", "--flipped"),
        *("--accumulation", "2", "--no-sync", "off", "--cards", "64", "--cards-per-node", "8"),
        *("--node-bandwidth", "200e9", "--node-alpha", "3.4e-6", "--hierarchical"),
        *("--alpha", "14e-6", "--bucket-cap", "1e9", "--grad-dtype", "fp32"),
    )
    assert found["setting"] == {
        "tokens": 4096,
        "cards": 64,
        "cards_per_node": 8,
        "bandwidth": 50e9,
        "node_bandwidth": 200e9,
        "alpha": 14e-6,
        "node_alpha": 3.4e-6,
        "hierarchical": True,
        "flops": 400e12,
        "grad_dtype": "fp32",
        "bucket_cap": 10**9,
        "sending": "buckets",
        "unused": "absent",
        "order": "arrival",
        "tied": False,
        "flipped": True,
        "accumulation": 2,
        "no_sync": "off",
    }
    assert len(found["buckets"]) == 2 * found["bucket_count"]


def test_edges() -> None:
    found = answer("--tokens", "0", "--cards", "1", "--bandwidth", "inf")
    assert (found["backward_s"], found["comm_s"], found["exposed_s"]) == (0, 0, 0)
    assert (found["hidden_share"], found["comm_over_backward"]) == (None, None)
    assert found["break_even_tokens"] is None
    assert found["setting"]["bandwidth"] is None
    assert "—" in lesson("--tokens", "0", "--cards", "1").stdout


def test_text() -> None:
    said = lesson().stdout
    for words in ("1.0496 s", "1.9447 s", "51.3%", "0.9472 s", "7,590", "lm_head.weight"):
        assert words in said
    assert "390 more" in said
    assert "DDP raises an error" in lesson("--mode", "error").stdout
    assert "more;" not in lesson("--model", "gpt2").stdout


def test_a_config_file(tmp_path: Path) -> None:
    place = Path(__file__).parents[2] / "docs" / "data" / "models" / "gpt2.json"
    assert answer("--model", str(place))["buckets"] == answer("--model", "gpt2")["buckets"]


def test_trace(tmp_path: Path) -> None:
    place = tmp_path / "step.json"
    found = answer("--model", "gpt2", "--trace", str(place))
    assert found["trace"] == str(place)
    events = json.loads(place.read_text(encoding="utf-8"))["traceEvents"]
    sent = [event for event in events if event["name"].startswith("all_reduce")]
    assert [event["args"]["bytes"] for event in sent] == [b["bytes"] for b in found["buckets"]]
    assert f"trace written to {place}" in lesson("--model", "gpt2", "--trace", str(place)).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--cards", "0"), "cards: got '0', accepted is a whole number from 1 to 1,048,576"),
        (("--tokens", "-1"), "tokens: got '-1', accepted is a whole number from 0"),
        (("--tokens", "1.5"), "tokens: got '1.5', accepted is a whole number"),
        (("--bandwidth", "0"), "bandwidth: got '0', accepted is a number from 1 to"),
        (("--bandwidth", "50 GB/s"), "bytes/s, or inf"),
        (("--flops", "fast"), "flops: got 'fast', accepted is a number from 1 to"),
        (("--alpha", "2"), "alpha: got '2', accepted is a number from 0 to 1 s"),
        (("--alpha", "nan"), "alpha: got 'nan'"),
        (("--bucket-cap", "0"), "bucket_cap: got '0'"),
        (("--grad-dtype", "int8"), "grad_dtype: got 'int8', accepted is one of bf16, fp16, fp32"),
        (("--mode", "eventually"), "mode: got 'eventually', accepted is one of"),
        (("--unused", "x"), "unused: got 'x', accepted is one of absent, error, find-unused, stat"),
        (("--order", "x"), "order: got 'x', accepted is one of arrival, registration"),
        (("--no-sync", "x"), "no_sync: got 'x', accepted is one of off, on, trap"),
        (("--accumulation", "65"), "accumulation: got '65'"),
        (("--model", "qwen"), "model (and no file of that name): no 'qwen'"),
        (
            ("--cards", "12", "--cards-per-node", "8", "--hierarchical"),
            "cards_per_node: got '8', accepted is a divisor of cards = 12",
        ),
        (("--trace", "/"), "--trace /: got"),
        (("--token", "3"), "No such option"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[str, ...], said: str) -> None:
    result = lesson(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
