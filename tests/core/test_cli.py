"""``lesson``: golden values, the shape of its JSON, and every way to get it wrong."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from build_tools import cli
from build_tools.cli.text import table, width
from py_core import models
from py_core.claims import claims, judge
from py_core.data import model_slugs
from py_core.inventory import PARTS
from py_core.quantity import names
from py_core.scenario import FIELD_NAMES
from py_core.schedules import SCHEMES

LESSON = Path(sys.executable).with_name("lesson")
HALVES = ("reduce-scatter", "all-gather")
CARDS = range(2, 17)

ROOT = Path(__file__).parents[2]
QWEN3_8B = ROOT / "docs" / "data" / "models" / "qwen3-8b.json"
CONFIG: dict[str, Any] = json.loads(QWEN3_8B.read_text(encoding="utf-8"))["config"]


def lesson(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli.app, list(arguments), input=stdin)


def answer(*arguments: str, stdin: str | bytes | None = None) -> Any:
    """The JSON of a command that succeeds, and says nothing else."""
    result = lesson(*arguments, "--json", stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    return json.loads(result.stdout)


def config(**changes: object) -> str:
    return json.dumps(CONFIG | changes)


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [LESSON, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )


# ── params ──────────────────────────────────────────────────────────────────────────────


def test_params_of_the_anchor_model() -> None:
    found = answer("params", "qwen3.8-27b")
    assert found["total"] == 27_781_427_952
    assert found["parts"]["vision"] == 460_730_096
    assert found["parts"]["mtp"] == 424_699_392
    assert found["tied"] is False
    assert found["bytes"] == 2 * found["total"]


def test_params_of_deepseek_v3() -> None:
    found = answer("params", "deepseek-v3")
    assert found["total"] == 682_636_472_320
    assert found["text"] == 671_026_404_352
    assert found["parts"]["mtp"] == 11_610_067_968
    assert found["tensors"] > 44_544  # the routed experts' alone


@pytest.mark.parametrize("slug", ["qwen3.8-27b", *model_slugs()])
def test_params_have_their_shape_and_add_up(slug: str) -> None:
    found = answer("params", slug)
    assert {key: type(value) for key, value in found.items()} == {
        "name": str,
        "model_type": str,
        "total": int,
        "text": int,
        "parts": dict,
        "tied": bool,
        "bytes": int,
        "tensors": int,
        "largest": dict,
    }
    assert tuple(found["parts"]) == PARTS
    assert sum(found["parts"].values()) == found["total"]
    assert found["text"] + found["parts"]["vision"] + found["parts"]["mtp"] == found["total"]
    assert (found["parts"]["lm_head"] == 0) == found["tied"]
    assert "{}" not in found["largest"]["name"]


def test_params_of_a_bare_config_a_wrapped_one_and_standard_input(tmp_path: Path) -> None:
    bare = tmp_path / "config.json"
    bare.write_text(config(), encoding="utf-8")
    published = answer("params", str(QWEN3_8B))
    assert published["name"] == "Qwen3-8B"
    assert published["total"] == 8_190_735_360
    from_bare = answer("params", str(bare))
    assert from_bare == answer("params", "-", stdin=config())
    assert from_bare == answer("params", "-", stdin=b"\xef\xbb\xbf" + config().encode())
    assert from_bare["name"] == "qwen3"
    assert from_bare["parts"] == published["parts"]


def test_params_as_text() -> None:
    shown = lesson("params", "qwen3-0.6b").stdout
    assert re.search(r"^embedding +155,582,464$", shown, re.M)
    assert re.search(r"^total +596,049,920$", shown, re.M)
    assert "tied     yes, lm_head is the embedding" in shown
    numbers = [line for line in shown.splitlines() if re.search(r"\d{3}$", line)]
    assert len({len(line) for line in numbers[:4]}) == 1  # flush right


# ── value, values ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "changes", "display"),
    [
        ("model.parameters", {}, "27,781,427,952"),
        ("state.bytes", {}, "444.5 GB"),
        ("gradient.bytes", {}, "55.6 GB"),
        ("ring.sent_per_card", {}, "97.2 GB"),
        ("ring.sent_per_card", {"cards": "64"}, "109.4 GB"),
        ("ring.coefficient", {"cards": "1024"}, "2.00"),
        ("naive.received_by_card0", {}, "388.9 GB"),
        ("state.bytes", {"gradient": "fp32"}, "500.1 GB"),
        ("bandwidth", {"bandwidth": "12.5"}, "12.5 GB/s"),
        ("model.parameters", {"model": "deepseek-v3"}, "682,636,472,320"),
    ],
)
def test_golden_values(name: str, changes: Mapping[str, str], display: str) -> None:
    options = [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]
    found = answer("value", name, *options)
    assert found["display"] == display
    assert found["scenario"] == changes
    assert f"{name} = {display}\n" in lesson("value", name, *options).stdout


def test_a_value_with_its_formula_and_inputs() -> None:
    found = answer("value", "ring.sent_per_card")
    assert found["value"] == 97.234997832
    assert found["unit"] == "GB"
    assert found["formula"] == "2 × (N − 1) ÷ N × G"
    assert found["substituted"] == "2 × 7 ÷ 8 × 55.563 GB"
    n, g = found["inputs"]
    assert (n["kind"], n["field"], n["display"]) == ("scenario", "cards", "8")
    assert (g["kind"], g["name"]) == ("quantity", "gradient.bytes")
    assert leaves(found) == {"scenario", "convention", "inventory"}


def leaves(record: Any) -> set[str]:
    """The kinds of source that a tree of inputs ends in."""
    if record.get("inputs"):
        return {kind for inner in record["inputs"] for kind in leaves(inner)}
    return {str(record["kind"])}


def test_a_value_as_text_shows_the_tree() -> None:
    shown = lesson("value", "ring.sent_per_card", "--set", "cards=64").stdout
    assert shown.startswith("with cards = 64\n\nring.sent_per_card = 109.4 GB\n")
    assert re.search(
        r"^  formula  2 × \(N − 1\) ÷ N × G\n {11}= 2 × 63 ÷ 64 × 55.563 GB$", shown, re.M
    )
    assert re.search(r"^  N +64 +--set cards +数据并行的卡数$", shown, re.M)
    assert re.search(r"^    k_g +2 字节/参数 +gradient.bytes_each ", shown, re.M)


def test_a_readers_own_config(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps({"name": "我的模型", "config": CONFIG}), encoding="utf-8")
    published = answer("value", "model.parameters", "--set", "model=qwen3-8b")
    own = answer("value", "model.parameters", "--config", str(file))
    assert own["value"] == published["value"] == 8_190_735_360
    fewer = config(num_hidden_layers=1)
    assert answer("value", "model.parameters", "--config", "-", stdin=fewer)["value"] < 2 * 10**9
    hidden = answer("value", "model.hidden", "--config", str(file))["inputs"][0]
    assert (hidden["pointer"], hidden["model"]) == ("/hidden_size", "我的模型")


def test_values_lists_every_quantity_with_its_meaning() -> None:
    found = answer("values")
    assert [q["name"] for q in found["quantities"]] == names()
    assert found == answer("value", "--list")
    entries = {q["name"]: q for q in found["quantities"]}
    assert entries["state.bytes"]["display"] == "444.5 GB"
    assert all(q.get("says") or q.get("error") for q in entries.values())
    assert "error" in entries["expert_parallel.experts_per_card"]  # the anchor model is dense
    text = lesson("values", "--set", "cards=64").stdout
    assert text.startswith("with cards = 64\n")
    assert re.search(r"^ring\.sent_per_card +109\.4 GB  环形", text, re.M)


def test_values_of_one_kind_and_their_groups() -> None:
    found = answer("values", "ring")["quantities"]
    assert [q["name"] for q in found] == [n for n in names() if n.startswith("ring")]
    assert len(found) > 10
    assert refused(lesson("values", "rign")).startswith(
        "lesson: prefix: no 'rign'; close to it: ring"
    )
    blocks = lesson("values").stdout.split("\n\n")
    kinds = [{line.split()[0].partition(".")[::2] for line in b.splitlines()} for b in blocks[:-1]]
    assert {name for name, rest in kinds[0]} == {n for n in names() if "." not in n}
    firsts = [{name for name, _ in block} for block in kinds[1:]]
    assert all(len(first) == 1 for first in firsts)
    assert sorted(set().union(*firsts)) == sorted(
        {n.partition(".")[0] for n in names() if "." in n}
    )


def test_a_figure_that_the_model_lacks_keeps_its_meaning() -> None:
    entries = {q["name"]: q for q in answer("values")["quantities"]}
    missing = entries["expert_parallel.experts_per_card"]
    assert missing["says"] == "每张卡、每个 MoE 层的专家数"
    assert missing["error"].startswith("model: got 'Qwen3.8-27B'")
    assert "display" not in missing
    shown = lesson("values", "expert").stdout
    assert re.search(
        r"^expert_parallel.experts_per_card +—  每张卡、每个 MoE 层的专家数$", shown, re.M
    )
    (reason,) = re.findall(r"^—  (.*)$", shown, re.M)
    assert reason == missing["error"]
    assert "such as model=deepseek-v3 (this one is dense" in reason


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("cards", "8"),
        ("ring.growth_8_to_1024", "1,023/896"),
        ("state.bytes", "444,502,847,232 byte"),
        ("link.bandwidth", "50,000,000,000 byte/second"),
        ("zero3.memory_left", "24,437,144,096 byte"),
        ("activations.memory_left", "-21,196,883,424 byte"),
    ],
)
def test_exact_values_are_grouped_and_counts_have_no_unit(name: str, exact: str) -> None:
    assert re.search(rf"^  exact +{exact}$", lesson("value", name).stdout, re.M)


def test_what_is_read_off_the_config_takes_one_row() -> None:
    shown = lesson("value", "context_parallel.kv_bytes").stdout
    pointer = "/text_config/num_key_value_heads"
    assert re.search(rf"^  n_kv +4 +model.kv_heads: config {pointer} +K、V 的头数$", shown, re.M)
    assert shown.count("n_kv") == 2  # the formula, and its row
    assert "（由配置推出）" in shown
    own = lesson("value", "model.kv_heads").stdout
    assert re.search(rf"^  n_kv +4 +config {pointer} +K、V 的头数$", own, re.M)


@pytest.mark.parametrize(
    ("slug", "file", "spoil", "says"),
    [
        ("qwen3.8-27b", "anchor-model.json", ('"vocab_size": 248320', '"vocab_size": 0'),
         ": /config/text_config/vocab_size: got '0'"),
        ("qwen3-8b", "models/qwen3-8b.json", ('"vocab_size": 151936', '"vocab_size": 0'),
         ": /config/vocab_size: got '0'"),
        ("qwen3-8b", "models/qwen3-8b.json", ("{", "["), ": /: got \"line 2"),
        ("qwen3.8-27b", "facts.json", ("{", "["), ": /: got \"line 2"),
        ("qwen3-8b", "models/qwen3-8b.json", ('"name"', '"nam"'), ": /name: got '(absent)'"),
        ("qwen3.8-27b", "anchor-model.json", ("{", "["), ": /: got \"line 2"),
        ("qwen3.8-27b", "anchor-model.json",
         ('"num_hidden_layers": 64', '"num_hidden_layers": 60'),
         ": /config/text_config/layer_types: got "),
    ],
)  # fmt: skip
def test_a_mistake_in_our_own_data_names_the_file_once(
    slug: str, file: str, spoil: tuple[str, str], says: str, tmp_path: Path
) -> None:
    for part in ("py_core", "build_tools", "widgets", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part)
    broken = tmp_path / "docs" / "data" / file
    text = broken.read_text(encoding="utf-8")
    assert spoil[0] in text
    broken.write_text(text.replace(*spoil, 1), encoding="utf-8")
    commands = [[c, "--set", f"model={slug}"] for c in ("values", "claims")]
    if file != "facts.json":
        commands.append(["params", slug])
    if slug == "qwen3.8-27b":
        commands += [["value", "state.bytes"], ["check"], ["numbers"]]
    for arguments in commands:
        code = "import sys; from build_tools.cli import app; app(sys.argv[1:])"
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert refused(done).startswith(f"lesson: docs/data/{file}{says}")


def test_a_model_that_nobody_asks_for_may_be_broken(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "py_core", tmp_path / "py_core")
    shutil.copytree(ROOT / "build_tools", tmp_path / "build_tools")
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    (tmp_path / "docs/data/anchor-model.json").unlink()
    code = "import sys; from build_tools.cli import app; app(sys.argv[1:])"
    for slug, says in (("qwen3-8b", None), ("qwen3.8-27b", "No such file or directory")):
        done = subprocess.run(
            [sys.executable, "-c", code, "params", slug],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            check=False,
            timeout=60,
        )
        if says is None:
            assert (done.returncode, done.stderr) == (0, b"")
        else:
            line = refused(done)
            assert line.startswith("lesson: docs/data/anchor-model.json: got ")
            assert says in line


def test_columns_count_chinese_characters_as_two() -> None:
    rows = table([("汉字", "1"), ("abc", "22")], right=(1,))
    assert rows == ["汉字   1", "abc   22"]
    assert {width(line) for line in rows} == {8}


# ── steps ───────────────────────────────────────────────────────────────────────────────


def test_ring_with_uneven_blocks() -> None:
    found = answer("steps", "ring", "--cards", "5", "--elements", "17", "--seed", "1")
    assert [card["sent"] for card in found["ledger"]] == [27, 28, 28, 27, 26]
    assert [card["rank"] for card in found["ledger"]] == [0, 1, 2, 3, 4]
    assert (found["total_sent"], found["busiest"], found["max_difference"]) == (136, 28, 0)


def test_steps_have_their_shape() -> None:
    found = answer("steps", "ring")
    assert [found[key] for key in ("scheme", "cards", "elements", "seed")] == ["ring", 4, 4, 7]
    assert [step["number"] for step in found["steps"]] == [1, 2, 3, 4, 5, 6]
    assert [step["phase"] for step in found["steps"]] == ["reduce-scatter"] * 3 + ["all-gather"] * 3
    assert found["steps"][0]["transfers"][0] == {
        "source": 0,
        "target": 1,
        "blocks": [0],
        "elements": 1,
        "op": "add",
    }
    assert "cards_per_node" not in found


@pytest.mark.parametrize("cards", CARDS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_steps_ledger_and_transfers_agree(scheme: str, cards: int) -> None:
    elements = 3 * cards + 1
    found = answer("steps", scheme, "--cards", str(cards), "--elements", str(elements))
    rounds = 1 if scheme in HALVES else 2
    assert found["total_sent"] == rounds * (cards - 1) * elements
    assert found["max_difference"] == 0
    moved = [t for step in found["steps"] for t in step["transfers"]]
    for card in found["ledger"]:
        assert card["sent"] == sum(t["elements"] for t in moved if t["source"] == card["rank"])
        assert card["received"] == sum(t["elements"] for t in moved if t["target"] == card["rank"])
    assert found["busiest"] == max(card["sent"] for card in found["ledger"])


@pytest.mark.parametrize("spelling", ["--cards-per-node", "--cards_per_node"])
def test_hierarchical_says_how_large_a_node_is(spelling: str) -> None:
    assert answer("steps", "hierarchical", "--cards", "8")["cards_per_node"] == 4
    assert answer("steps", "hierarchical", "--cards", "7")["cards_per_node"] == 7
    given = answer("steps", "hierarchical", "--cards", "8", spelling, "2")
    assert given["cards_per_node"] == 2
    assert len(given["steps"]) == 2 * (2 - 1) + 2 * (4 - 1)


def test_steps_as_text() -> None:
    shown = lesson("steps", "tree", "--elements", "1000").stdout
    assert shown.startswith("tree: 4 cards, 1,000 elements each, seed 7, 4 steps\n")
    assert re.search(r"^step  phase +from → to  block  elements  op$", shown, re.M)
    assert re.search(r"^   2  gather +2 → 0 +0–3 +1,000  add$", shown, re.M)
    assert shown.endswith("largest difference from the direct sum 0\n")


# ── claims ──────────────────────────────────────────────────────────────────────────────


def test_claims_are_all_there_with_their_numbers() -> None:
    found = answer("claims")
    assert [c["name"] for c in found["claims"]] == [c.name for c in claims()]
    assert found["true"] + found["false"] + found["undecided"] == len(found["claims"])
    stated = {c["name"]: c for c in found["claims"]}
    record = stated["comm_exceeds_backward"]
    assert record == json.loads(json.dumps(judge("comm_exceeds_backward").record()))
    assert re.search(r"\d", record["comparisons"][0]["substituted"])


def test_a_false_claim_is_shown_and_fails_only_if_asked() -> None:
    small = ["--set", "model=gpt2"]
    found = answer("claims", *small)
    verdicts = {c["name"]: c["holds"] for c in found["claims"]}
    assert verdicts["state_exceeds_card"] is False
    assert lesson("claims", *small).exit_code == 0
    strict = lesson("claims", *small, "--strict")
    assert strict.exit_code == 1
    assert strict.stderr == ""
    assert re.search(
        r"^FALSE  state_exceeds_card: .*\n +S > M\n +1\.991 GB > 80 GB  ← does not hold$",
        strict.stdout,
        re.M,
    )


# ── bad input ───────────────────────────────────────────────────────────────────────────


def refused(result: Result | subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a refusal: status 2, nothing on stdout, no traceback."""
    if isinstance(result, subprocess.CompletedProcess):
        status, out, err = result.returncode, result.stdout.decode(), result.stderr.decode()
    else:
        status, out, err = result.exit_code, result.stdout, result.stderr
    assert status == 2, err
    assert out == ""
    assert err.startswith("lesson: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert all(c.isprintable() for c in err[:-1])
    return err


BAD_CONFIGS: list[tuple[str | bytes, str]] = [
    ("", "line 1 column 1"),
    ('{\n  "a": 1,\n  oops}', "line 3 column 3"),
    ("[" * 50_000, "more than 64 levels"),
    ('{"a":' * 50_000, "more than 64 levels"),
    (b" " * 9 * 2**20, "at most 8,388,608 bytes"),
    ("[1, 2]", "accepted is a JSON object"),
    ("null", "accepted is a JSON object"),
    ('{"hidden_size": NaN}', "/hidden_size: got 'NaN'"),
    ('{"hidden_size": -Infinity}', "/hidden_size: got '-Infinity'"),
    ('{"model_type": "llama", "model_type": "llama"}', "/model_type: got 'the same key twice'"),
    (b'{"model_type": "\xff"}', "UTF-8"),
    ("{}", "/model_type: got '(absent)'"),
    (config(model_type="llama5"), "got 'llama5', accepted is one of bloom, deepseek_v2,"),
    (config(model_type=["llama"]), "/model_type: got"),
    (config(hidden_size="4096"), "/hidden_size: got '4096', accepted is a whole number"),
    (config(hidden_size=-1), "/hidden_size: got '-1'"),
    (config(hidden_size=0), "/hidden_size: got '0'"),
    (config(hidden_size=None), "/hidden_size: got '(absent)'"),
    (config(hidden_size=4096.0), "/hidden_size: got '4096.0'"),
    (config(hidden_size=10**17), "/hidden_size: got"),
    (config(num_hidden_layers=10**6), "/num_hidden_layers: got '1000000'"),
    (config(num_key_value_heads=7), "/num_key_value_heads: got '7', accepted is a divisor of 32"),
    (config(_name_or_path="<b>bold</b>"), "without control characters, '<' or '>'"),
    (config(_name_or_path="\x1b[31mred"), "/_name_or_path: got"),
    (json.dumps({"name": "<script>", "config": CONFIG}), "/name: got '<script>'"),
    (json.dumps({"name": "x", "config": CONFIG | {"vocab_size": 0}}), "/config/vocab_size: got"),
    (json.dumps({f"k{n}": 0 for n in range(20_000)}), "keys"),
]


@pytest.mark.parametrize(("text", "says"), BAD_CONFIGS, ids=[says for _, says in BAD_CONFIGS])
def test_bad_configs(text: str | bytes, says: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    line = refused(lesson("params", str(file)))
    assert says in line
    assert f"{file}: " in line
    assert says in refused(lesson("params", "-", stdin=text))
    assert says in refused(lesson("value", "state.bytes", "--config", str(file)))


def test_an_unknown_architecture_lists_every_known_one() -> None:
    line = refused(lesson("params", "-", stdin=config(model_type="gpt5")))
    assert all(known in line for known in models.known())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "Missing command"),
        (["bogus"], "No such command 'bogus'"),
        (["--bogus"], "No such option: --bogus"),
        (["params"], "Missing argument 'CONFIG.json'"),
        (["params", "a", "b"], "unexpected extra argument"),
        (["params", "nowhere.json"], "nowhere.json"),
        (["params", "no/where"], "No such file or directory"),
        (["params", "/"], "Is a directory"),
        (["params", "qwen3-8"], "close to it: qwen3-8b"),
        (["params", "two\nlines.json"], "two lines.json"),
        (["params", "\x1b[31m.json"], "x1b[31m.json"),
        (["params", "qwen3-8b", "--jsn"], "No such option: --jsn"),
        (["value"], "lesson values lists them"),
        (["value", "rng.sent_per_card"], "close to it: ring.sent_per_card"),
        (["value", "gradient"], "quantity: no 'gradient'"),
        (["value", "state.bytes", "--set"], "--set"),
        (["value", "state.bytes", "--set", ""], "accepted is field=value"),
        (["value", "state.bytes", "--set", "cards"], "accepted is field=value"),
        (["value", "state.bytes", "--set", "=8"], "accepted is field=value"),
        (["value", "state.bytes", "--set", "cards="], "cards: got '', accepted is a whole number"),
        (["value", "state.bytes", "--set", "cards=１２"], "cards: got '１２'"),
        (["value", "state.bytes", "--set", "cards=1"], "from 2 to 1,048,576"),
        (["value", "state.bytes", "--set", "cards=8.0"], "cards: got '8.0'"),
        (["value", "state.bytes", "--set", "cards= 8"], "cards: got"),
        (["value", "state.bytes", "--set", "cards=1e1"], "cards: got '1e1'"),
        (["value", "state.bytes", "--set", "bandwidth=-5"], "bandwidth: got '-5'"),
        (["value", "state.bytes", "--set", "bandwidth=nan"], "bandwidth: got 'nan'"),
        (["value", "state.bytes", "--set", "gradient=int8"], "one of bf16, fp16, fp32"),
        (["value", "state.bytes", "--set", "colour=red"], "scenario field"),
        (["value", "state.bytes", "--set", "card=8"], "close to it: cards"),
        (["value", "state.bytes", "--set", "cards=8", "--set", "cards=9"], "given once"),
        (["value", "state.bytes", "--set", "model=qwen3"], "close to it: qwen3-"),
        (["value", "state.bytes", "--config", "gpt2", "--set", "model=gpt2"], "model: got 'gpt2'"),
        (["value", "cluster.nodes", "--set", "cards_per_node=3"], "a divisor of cards = 8"),
        (["value", "expert_parallel.experts_per_card"], "a mixture-of-experts model"),
        (["values", "--set", "cards=0"], "cards: got '0'"),
        (["claims", "--set", "tokens=many"], "tokens: got 'many'"),
        (["steps"], "Missing argument"),
        (["steps", "rign"], "ring"),
        (["steps", "quantum"], "scheme: got 'quantum', accepted is one of all-gather, direct"),
        (["steps", "ring", "--cards", "1"], "cards: got '1', accepted is a whole number from 2 to"),
        (["steps", "ring", "--cards", "17"], "cards: got '17'"),
        (["steps", "ring", "--cards", "2.5"], "cards: got '2.5'"),
        (["steps", "ring", "--cards", "１２"], "cards: got '１２'"),
        (["steps", "ring", "--cards", ""], "cards: got ''"),
        (["steps", "ring", "--cards", "9" * 5000], "cards: got '999"),
        (
            ["steps", "ring", "--elements", "3"],
            "elements: got '3', accepted is a whole number from 4",
        ),
        (["steps", "ring", "--elements", "1000000"], "elements: got '1000000'"),
        (["steps", "ring", "--seed", "-1"], "seed: got '-1', accepted is a whole number from 0"),
        (["steps", "ring", "--seed", "10000"], "seed: got '10000'"),
        (["steps", "ring", "--cards-per-node", "2"], "only hierarchical"),
        (["steps", "hierarchical", "--cards", "8", "--cards-per-node", "3"], "a divisor of 8"),
        (["steps", "hierarchical", "--cards", "8", "--cards-per-node", "0"], "from 1 to 8"),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_bad_arguments(arguments: list[str], says: str) -> None:
    assert says in refused(lesson(*arguments))


def test_a_file_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secret.json"
    file.write_text(config(), encoding="utf-8")

    def forbidden(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", forbidden)  # root, who runs some CI, may read all
    assert "Permission denied" in refused(lesson("params", str(file)))


def test_our_own_fault_is_one_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.compute, "model_of", _raises(RuntimeError("lost\nthe thread")))
    result = lesson("params", "gpt2")
    assert (result.exit_code, result.stdout) == (70, "")
    assert result.stderr.count("\n") == 1
    assert "a fault of ours, RuntimeError: lost the thread" in result.stderr
    monkeypatch.setenv("LESSON_TRACEBACK", "1")
    assert isinstance(lesson("params", "gpt2").exception, RuntimeError)


def test_ctrl_c_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.compute, "model_of", _raises(KeyboardInterrupt()))
    result = lesson("params", "gpt2")
    assert (result.exit_code, result.output.strip()) == (130, "")


def _raises(error: BaseException) -> Callable[..., None]:
    def raises(*_: object) -> None:
        raise error

    return raises


# ── as a process ────────────────────────────────────────────────────────────────────────


def test_the_installed_command_answers_as_the_library_does() -> None:
    done = process("params", str(QWEN3_8B), "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout) == answer("params", str(QWEN3_8B))


def test_help_names_every_command_and_has_no_colours() -> None:
    done = process("--help", FORCE_COLOR="1")
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    for command in ("params", "value", "values", "steps", "claims"):
        assert re.search(rf"^  {command} ".encode(), done.stdout, re.M)


def test_a_refusal_as_a_process() -> None:
    assert "cards: got '1'" in refused(process("steps", "ring", "--cards", "1"))
    assert "No such command" in refused(process("numbrs", FORCE_COLOR="1"))
    assert "No such file" in refused(
        process("params", b"\xff.json".decode(errors="surrogateescape"))
    )


def test_json_survives_a_terminal_that_is_not_utf8() -> None:
    done = process("value", "cards", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout.decode("ascii"))["says"] == "数据并行的卡数"
    text = process("value", "cards", PYTHONIOENCODING="ascii")
    assert (text.returncode, text.stderr) == (0, b"")


def test_a_reader_who_leaves_early_is_no_error() -> None:
    with subprocess.Popen(
        [LESSON, "values"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout
        assert running.stderr
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [LESSON, "values"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert done.returncode == 74
    assert done.stderr.count(b"\n") == 1


def test_starting_up_imports_little() -> None:
    """What the seconds depend on, without a clock: nothing heavy, nothing of the site."""
    code = (
        "import sys; from build_tools.cli import app\n"
        "try: app(['params', 'deepseek-v3', '--json'])\n"
        "except SystemExit: pass\n"
        "print(*{name.split('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stderr.split())
    assert "py_core" in loaded
    assert not loaded & {"mkdocs", "markdown", "jinja2", "rich", "numpy", "widgets", "asyncio"}


def test_set_takes_every_scenario_field() -> None:
    """The page's query string, ``--set`` and the Scenario share their names."""
    for name in FIELD_NAMES:
        line = refused(lesson("value", "cards", "--set", f"{name}="))
        assert line.startswith(f"lesson: {name}: ")
