"""A page for the reader's own model: what is computed, judged, taken and refused."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import widgets
from py_core.claims import claims, judge
from py_core.errors import ConfigError, LessonError
from py_core.inventory import PARTS
from py_core.model import load_model
from py_core.quantity import evaluate, names
from py_core.scenario import DEFAULT, FIELD_NAMES, parse_scenario
from tests.conftest import ROOT
from widgets import models
from widgets.models import MOST_PACKED, bring, unpacked
from widgets.page import recomputed
from widgets.state import parse
from widgets.yours.parts import parts
from widgets.yours.widget import FIELDS, NAMES, TILES, scenario_of

MODELS = sorted((ROOT / "docs/data/models").glob("*.json"))
QUERIES = ["", "model=deepseek-v3&cards=64", "model=qwen3-8b&cards_per_node=8&flops=989.4"]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Models that a test brings are not there for the next."""
    options = dict(models._options())
    yield
    models._options().clear()
    models._options().update(options)


def asked(query: str, figures: list[list[str]], judged: list[list[str]]) -> dict[str, Any]:
    page = {"base": "../", "figures": figures, "claims": judged}
    answer: dict[str, Any] = json.loads(widgets.answer(json.dumps({"page": page, "query": query})))
    return answer


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
            assert found == {"text": "—", "why": why}
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
            assert found == {"holds": False, "instead": f"说不上：{why}"}
        else:
            assert found == {"holds": verdict.holds, "instead": verdict.instead}


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


def test_a_tile_that_cannot_be_says_why() -> None:
    html = widgets.render("yours", "model=gpt2")
    assert html.count("<dt>") == len(TILES)


def test_recomputed_without_anything() -> None:
    empty = recomputed({"figures": [], "claims": []}, DEFAULT)
    assert empty == {"model": DEFAULT.model.name, "figures": [], "claims": [], "panels": ""}
