"""A page for the reader's own model: what is computed, judged, taken and refused."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from py_core.buckets import plan
from py_core.claims import claims, judge
from py_core.errors import ConfigError, LessonError
from py_core.inventory import PARTS
from py_core.model import NoInventory, load_model
from py_core.models import known
from py_core.quantity import evaluate, names
from py_core.scenario import DEFAULT, FIELD_NAMES, parse_scenario
from py_core.setting import setting_of
from tests.conftest import ROOT
from widgets import models
from widgets.models import MOST_PACKED, bring, unpacked
from widgets.state import parse
from widgets.yours.parts import KINDS, blocks, parts
from widgets.yours.widget import FIELDS, NAMES, scenario_of

MODELS = sorted((ROOT / "docs/data/models").glob("*.json"))
KINDS_IN_ORDER = list(KINDS)
QUERIES = ["", "model=deepseek-v3&cards=64", "model=qwen3-8b&cards_per_node=8&flops=989.4"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Models that a test brings are not there for the next."""
    kept = [(options, dict(options)) for options in (models._options(), models._counted())]
    yield
    for options, before in kept:
        options.clear()
        options.update(before)


def asked(query: str, figures: list[list[str]], judged: list[list[str]]) -> dict[str, Any]:
    page = json.dumps({"base": "../", "figures": figures, "claims": judged})
    request = {"page": page, "query": query}
    answer: dict[str, Any] = json.loads(widgets.answer(json.dumps(request)))
    panels = json.loads(widgets.answer(json.dumps(request | {"panels": True})))
    return answer | {"panels": panels["html"]}


def tried[T](ask: Callable[[], T]) -> tuple[T | None, str]:
    """What was asked for, or None and the reason in the reader's words."""
    try:
        return ask(), ""
    except LessonError as error:
        return None, error.chinese


@pytest.mark.parametrize("query", QUERIES)
def test_every_figure_is_what_the_core_says(query: str) -> None:
    scenario = parse_scenario(query)
    answer = asked(query, [[name, "", "", ""] for name in names()], [])
    for name, found in zip(names(), answer["figures"], strict=True):
        q, why = tried(lambda name=name: evaluate(name, scenario))
        if q is None:
            assert (found["text"], found["why"]) == ("—", why)
            assert f'id="{found["panel"]}"' in answer["panels"]
        else:
            assert found["text"] == q.display()
            assert f'id="{found["panel"]}"' in answer["panels"]
    assert answer["model"] == scenario.model.name


@pytest.mark.parametrize("query", QUERIES)
def test_every_claim_is_judged_again(query: str) -> None:
    answer = asked(query, [], [[claim.name, "cards=8"] for claim in claims()])
    scenario = parse_scenario(query).with_fields({"cards": 8})
    for claim, found in zip(claims(), answer["claims"], strict=True):
        verdict, why = tried(lambda name=claim.name: judge(name, scenario))
        if verdict is None:
            assert found["holds"] is None
            assert found["note"].endswith(f"说不上这句还成不成立：{why}")
        else:
            assert found["holds"] == verdict.holds
            assert found["note"].endswith(verdict.instead if not verdict.holds else "")
            assert bool(found["note"]) != verdict.holds


def test_pins_units_and_digits_stay() -> None:
    answer = asked(
        "model=qwen3-8b&cards=64",
        [["ring.sent_per_card", "cards=8", "", ""], ["state.bytes", "", "GB", "3"]],
        [],
    )
    q = evaluate("ring.sent_per_card", parse_scenario("model=qwen3-8b&cards=8"))
    state = evaluate("state.bytes", parse_scenario("model=qwen3-8b"))
    assert [f["text"] for f in answer["figures"]] == [q.display(), state.display("GB", 3)]


def test_the_default_is_the_lesson() -> None:
    state = parse(FIELDS, "")
    assert scenario_of(state.values) == DEFAULT
    assert set(NAMES) <= set(FIELD_NAMES)


@pytest.mark.parametrize("file", MODELS, ids=lambda f: f.stem)
def test_a_real_config_can_be_brought(file: Path) -> None:
    config = json.loads(file.read_text(encoding="utf-8"))["config"]
    brought = bring(json.dumps(config, indent=2))
    known = load_model(file.stem).inventory
    assert brought["total"] == f"{known.total:,}"
    # Chosen, it is a model like any other.
    answer = asked(f"model={brought['slug']}", [["model.parameters", "", "", ""]], [])
    assert answer["figures"][0]["text"] == brought["total"]
    html = widgets.render("yours", f"model={brought['slug']}")
    assert f'value="{brought["slug"]}" selected' in html
    assert "lw-notice" not in html
    # And a link carries it.
    again = bring(unpacked(brought["packed"]))
    assert again == brought


BAD = {
    "": "config",
    "{": "config",
    "[]": "config",
    '"x"': "config",
    "null": "config",
    '{"model_type": "llama"}': "hidden_size",
    '{"model_type": "nobody-knows"}': "model_type",
    "{}": "model_type",
    '{"model_type": 7}': "model_type",
    '{"model_type": "llama", "hidden_size": -1}': "hidden_size",
    '{"model_type": "llama", "hidden_size": "4096"}': "hidden_size",
    "<script>alert(1)</script>": "config",
    "{" * 100_000: "config",
}


@pytest.mark.parametrize("text", BAD, ids=lambda t: t[:40] or "empty")
def test_a_bad_config_is_answered_in_words(text: str) -> None:
    answer = json.loads(widgets.answer(json.dumps({"config": text})))
    assert set(answer) == {"error"}
    assert answer["error"]["says"]


@given(st.text(max_size=60) | st.sampled_from(["eJw", "A" * (MOST_PACKED + 1), "eJwDAAAAAAE"]))
def test_a_bad_link_is_refused(packed: str) -> None:
    with pytest.raises(ConfigError):
        bring(unpacked(packed))


def test_a_bomb_does_not_go_off() -> None:
    import zlib
    from base64 import urlsafe_b64encode

    bomb = urlsafe_b64encode(zlib.compress(b" " * 3_000_000, 9)).decode()
    assert len(bomb) < MOST_PACKED
    with pytest.raises(ConfigError):
        unpacked(bomb)


@pytest.mark.parametrize("slug", ["qwen3.8-27b", *(f.stem for f in MODELS)])
def test_the_parts_add_up(slug: str) -> None:
    inventory = load_model(slug).inventory
    found = parts(inventory)
    assert sum(int(p.count.replace(",", "")) for p in found) == inventory.total
    assert found[0].at == 0
    assert found[-1].at + found[-1].width == 1000
    assert all(a.at + a.width == b.at for a, b in pairwise(found))
    assert set(inventory.parts) == set(PARTS)


@pytest.mark.parametrize("slug", ["qwen3.8-27b", "deepseek-v3", "gpt2"])
def test_the_model_card_can_be_taken_away(slug: str) -> None:
    inventory = load_model(slug).inventory
    file = widgets.exported("yours", f"model={slug}", "csv")
    rows = list(csv.DictReader(io.StringIO(file["text"])))
    assert [r["name"] for r in rows] == [t.name for t in inventory.tensors]
    assert sum(int(r["parameters"]) for r in rows) == inventory.total
    card = json.loads(widgets.exported("yours", f"model={slug}&cards=64", "json")["text"])
    assert card["total"] == sum(card["parts"].values()) == inventory.total
    assert card["scenario"]["cards"] == 64
    assert card["largest"][0]["parameters_each"] == inventory.largest.numel
    sent = evaluate("ring.sent_per_card", parse_scenario(f"model={slug}&cards=64"))
    assert card["figures"]["ring.sent_per_card"]["display"] == sent.display()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"model_type": "llama",\n "hidden_size": 8,\n}', "第 2 行第 18 列"),
        ('{"model_type": "llama", "num_hidden_layers": 2,\n\n "hidden_size": -1}', "第 3 行"),
        ('{\n"model_type": "nobody"}', "第 2 行"),
    ],
)
def test_an_error_names_the_line(text: str, line: str) -> None:
    answer = json.loads(widgets.answer(json.dumps({"config": text})))
    assert answer["error"]["says"].startswith(line)


def test_a_file_too_large_is_refused_unread() -> None:
    assert json.loads(widgets.answer(json.dumps({"size": 4_000}))) == {}
    answer = json.loads(widgets.answer(json.dumps({"size": 9_000_000})))
    assert answer["error"]["says"] == "/ 不能是「9,000,000 bytes」，要填最多 8,388,608 字节"


def test_every_bucket_is_in_the_picture() -> None:
    for slug in ("qwen3.8-27b", "deepseek-v3", "gpt2"):
        made = plan(setting_of(parse_scenario(f"model={slug}")).cut)
        found = blocks(made.runs, made.bytes)
        assert found[0].at == 0
        assert found[-1].at + found[-1].width == 1000
        assert all(a.at + a.width == b.at for a, b in pairwise(found))
        assert len(found) < 400
        first = "前馈层" if slug == "gpt2" else "输出头"  # GPT-2 has no head of its own
        assert KINDS_IN_ORDER[found[0].kind] == first
    # A bucket that is wide enough stands by itself: the anchor's embedding, next to last.
    anchor = parse_scenario("")
    made = plan(setting_of(anchor).cut)
    table = max(made.runs, key=lambda run: run.bytes)
    widths = [b.width for b in blocks(made.runs, made.bytes) if b.kind == 0]
    assert widths == [round(1000 * table.bytes / made.bytes)]


# ── a model of which only the counts are known ──────────────────────────────────────────

SOME = {"total": "8B", "trained": "1,000,000,000", "largest_tensor": "0.525 B"}


def brought(counts: dict[str, str]) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(widgets.answer(json.dumps({"counts": counts})))
    return answer


def test_an_unknown_architecture_says_which_are_known() -> None:
    answer = json.loads(widgets.answer(json.dumps({"config": '{"model_type": "mamba"}'})))
    assert answer["error"]["unknown"]
    for name in known():
        assert name in answer["error"]["says"]
    other = json.loads(widgets.answer(json.dumps({"config": '{"model_type": "llama"}'})))
    assert not other["error"]["unknown"]


def test_counts_alone_drive_what_needs_no_tensors() -> None:
    scenario = parse_scenario(f"model={brought(SOME)['slug']}&cards=64")
    want = {
        "model.parameters": 8 * 10**9,
        "model.trained_parameters": 10**9,
        "model.largest_tensor": 525 * 10**6,
        "parameter.bytes": 16 * 10**9,
        "gradient.bytes": 2 * 10**9,
        "gradient.largest_bytes": 1_050_000_000,
        "optimizer.bytes": 12 * 10**9,
        "state.bytes": (16 + 2 + 12) * 10**9,
        "ring.sent_per_card": Fraction(2 * 63, 64) * 2 * 10**9,
        # Only what was trained has changed, and is gathered; ZeRO-3 gathers everything, twice.
        "zero1.sent_per_card": Fraction(63, 64) * (2 + 2) * 10**9,
        "zero3.sent_per_card": Fraction(63, 64) * (2 * 16 + 2) * 10**9,
    }
    assert {name: evaluate(name, scenario).value for name in want} == want


def test_where_not_all_is_trained_no_product_is_shown_that_does_not_hold() -> None:
    products = [["every_parameter_has_state", ""], ["every_parameter_has_a_gradient", ""]]
    assert all(found["holds"] for found in asked("model=deepseek-v3", [], products)["claims"])
    slug = brought(SOME)["slug"]
    for found in asked(f"model={slug}", [], products)["claims"]:
        assert found["holds"] is False
        assert "要训练的 1,000,000,000 个" in found["note"].replace("只训练", "要训练的")
    told = widgets.render("formula", f"model={slug}&guess=skip&term=whole")
    told = re.search(r"<strong>G：.*?</p>", told, re.S)[0]
    assert "要训练的参数个数" in told
    assert re.findall(r">([\d,.]+)[^<]*</button>", told) == ["1,000,000,000", "2", "2"]


def test_who_comes_later_does_not_take_it_for_a_counted_one() -> None:
    """Widgets are imported when they are first asked for, in a browser after a model is brought."""
    script = f"""
import json, widgets
answer = json.loads(widgets.answer(json.dumps({{"counts": {SOME!r}}})))
print(widgets.render("overlap", "model=" + answer["slug"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "有 config.json 的模型" in done.stdout


def test_what_is_left_empty_is_everything_or_nobody_knows() -> None:
    scenario = parse_scenario(
        f"model={brought(SOME | {'trained': '', 'largest_tensor': ''})['slug']}"
    )
    assert evaluate("state.bytes", scenario).value == 16 * 8 * 10**9
    assert evaluate("model.trained_parameters", scenario).value == 8 * 10**9
    with pytest.raises(NoInventory):
        evaluate("gradient.largest_bytes", scenario)


def test_all_else_says_what_is_missing() -> None:
    slug = brought(SOME)["slug"]
    page = asked(
        f"model={slug}",
        [
            [name, "", "", ""]
            for name in ("model.parameters", "backward.seconds", "timeline.buckets")
        ],
        [["comm_exceeds_backward", ""], ["state_exceeds_card", ""]],
    )
    assert page["model"] == "你的模型"
    first, *others = page["figures"]
    assert first["text"] == "8,000,000,000"
    for other in others:
        assert other["text"] == "—"
        assert "没有一个个张量" in other["why"]
        assert f'id="{other["panel"]}"' in page["panels"]
    unknown, judged = page["claims"]
    assert unknown["holds"] is None
    assert "没有一个个张量" in unknown["note"]
    assert judged["holds"] is False  # 30 GB go into one card
    html = widgets.render("yours", f"model={slug}")
    assert "没有一个个张量" in html
    assert 'data-export="csv"' not in html
    card = json.loads(widgets.exported("yours", f"model={slug}", "json")["text"])
    assert (card["total"], card["trained"]) == (8 * 10**9, 10**9)
    assert "parts" not in card
    for widget in widgets.NAMES:
        assert widgets.render(widget, f"model={slug}&guess=skip&time=on")
    assert "有 config.json 的模型" in widgets.render("overlap", f"model={slug}")


@pytest.mark.parametrize(
    ("typed", "total"),
    [
        ("7241732096", 7_241_732_096),
        ("7,241,732,096", 7_241_732_096),
        ("7.2b", 7_200_000_000),
        ("350 M", 350_000_000),
        ("72 亿", 7_200_000_000),
        ("1.04万亿", 1_040_000_000_000),
        ("1T", 10**12),
    ],
)
def test_a_count_may_be_typed_as_people_write_it(typed: str, total: int) -> None:
    answer = brought({"total": typed, "trained": "", "largest_tensor": ""})
    assert answer["total"] == f"{total:,}"
    assert bring(unpacked(answer["packed"])) == answer


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ({"total": ""}, "「参数总数」"),
        ({"total": "many"}, "「参数总数」"),
        ({"total": "0"}, "「参数总数」"),
        ({"total": "1.5"}, "「参数总数」"),
        ({"total": "-8B"}, "「参数总数」"),
        ({"total": "９B"}, "「参数总数」"),
        ({"total": "9999999T"}, "「参数总数」"),
        ({"trained": "9B"}, "「要训练的」要填 1 到 8,000,000,000 之间的整数"),
        ({"largest_tensor": "9B"}, "「最大的一个张量」"),
    ],
)
def test_a_bad_count_is_answered_in_words(counts: dict[str, str], says: str) -> None:
    assert brought(SOME | counts)["error"]["says"].startswith(says)


@pytest.mark.parametrize("only", [7, [], {}, {"total": "8B"}, {"total": 8, "trained": 9}])
def test_a_config_of_bad_counts_is_refused(only: object) -> None:
    with pytest.raises(ConfigError, match="parameters_only"):
        bring(json.dumps({"parameters_only": only}))


def test_recomputed_without_anything() -> None:
    empty = asked("", [], [])
    assert empty == {"model": DEFAULT.model.name, "figures": [], "claims": [], "panels": ""}
