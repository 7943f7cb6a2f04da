"""Bad configs: one ConfigError naming field, value and what is accepted, within a second."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from py_core.configs import MAX_BYTES, ROOT, Fields, parse_config
from py_core.errors import ConfigError
from py_core.model import own_model
from py_core.models import inventory, known

DATA = Path(__file__).resolve().parents[2] / "docs" / "data"


def published(slug: str) -> dict[str, Any]:
    config: dict[str, Any] = parse_config((DATA / "models" / f"{slug}.json").read_bytes())["config"]
    return config


def refused(text: str | bytes) -> ConfigError:
    """The error that ``text`` gives; nothing hangs (how quick it is stands in the bench)."""
    start = time.perf_counter()
    with pytest.raises(ConfigError) as caught:
        inventory(parse_config(text))
    assert time.perf_counter() - start < 10
    error = caught.value
    assert len(str(error)) < 2_000
    assert "\n" not in str(error)
    str(error).encode()
    error.chinese.encode()
    return error


# --- text that is no config --------------------------------------------------

MIB = 2**20
TYPE = "/model_type"
JUNK: list[tuple[str, str | bytes, str, str]] = [
    ("too long", b" " * (MAX_BYTES + 1), ROOT, "8,388,608 bytes"),
    ("too long in characters", "é" * (MAX_BYTES - 1), ROOT, "8,388,608 bytes"),
    ("nested 50,000 deep", "[" * 50_000 + "]" * 50_000, ROOT, "64 levels"),
    ("objects 65 deep", '{"a":' * 65 + "1" + "}" * 65, ROOT, "64 levels"),
    ("8 MiB of open brackets", "[" * MAX_BYTES, ROOT, "64 levels"),
    ("8 MiB of objects", "[" + "{}," * (MAX_BYTES // 3 - 1) + "{}]", ROOT, "entries"),
    ("8 MiB of quotes", '"' * MAX_BYTES, ROOT, "entries"),
    ("8 MiB of escaped quotes", '"' + '\\"' * (MAX_BYTES // 2 - 1) + '"', ROOT, "a JSON object"),
    ("8 MiB of backslashes", '"' + "\\" * (MAX_BYTES - 2) + '"', ROOT, "a JSON object"),
    ("8 MiB of digits", "1" * MAX_BYTES, ROOT, "18 digits"),
    ("8 MiB of spaces", " " * MAX_BYTES, ROOT, "valid JSON"),
    ("junk keys", json.dumps({f"junk{i}": i for i in range(50_000)}), ROOT, "10,000 keys"),
    ("7 MiB of junk keys", json.dumps({f"junk{i}": i for i in range(350_000)}), ROOT, "entries"),
    (
        "7 MiB in few keys",
        json.dumps({f"k{i}": "x" * 1000 for i in range(7_000)}),
        "/model_type",
        "llama",
    ),
    ("one long key", '{"' + "k" * (7 * MIB) + '": 1}', "/" + "k" * 59 + "…", "200 characters"),
    ("empty", "", ROOT, "valid JSON"),
    ("not JSON", '{"a": 1,\n "b": }', ROOT, "valid JSON"),
    ("two documents", "{} {}", ROOT, "valid JSON"),
    ("a list", "[1, 2]", ROOT, "a JSON object"),
    ("a string", '"llama"', ROOT, "a JSON object"),
    ("null", "null", ROOT, "a JSON object"),
    ("not UTF-8", b'{"a": "\xff"}', ROOT, "UTF-8"),
    ("UTF-16", '{"a": 1}'.encode("utf-16"), ROOT, "UTF-8"),
    ("half a surrogate in the text", '{"a": "\ud800"}', ROOT, "UTF-8"),
    ("half a surrogate escaped", '{"a": {"b": "\\ud800"}}', "/a/b", "whole characters"),
    ("half a surrogate in a key", '{"\\ud800": 1}', "/?", "200 characters"),
    ("duplicate key", '{"hidden_size": 1, "hidden_size": 2}', "/hidden_size", "each key once"),
    ("duplicate inside", '{"a": [{"b/c": 1, "b/c": 1}]}', "/a/0/b~1c", "each key once"),
    ("NaN", '{"rope_theta": NaN}', "/rope_theta", "finite"),
    ("Infinity", '{"a": {"b": -Infinity}}', "/a/b", "finite"),
    ("1e999", '{"a": [0, 1e999]}', "/a/1", "finite"),
    ("a long integer", '{"vocab_size": 1' + "0" * 5_000 + "}", "/vocab_size", "18 digits"),
]


@pytest.mark.parametrize(
    ("text", "field", "accepted"), [c[1:] for c in JUNK], ids=[c[0] for c in JUNK]
)
def test_junk_is_refused_by_field_and_rule(text: str | bytes, field: str, accepted: str) -> None:
    error = refused(text)
    assert error.field == field
    assert accepted in error.accepted.english


def test_a_syntax_error_names_line_and_column() -> None:
    assert "line 2 column 7" in str(refused('{"a": 1,\n "b": }').value)


def test_brackets_inside_strings_do_not_nest() -> None:
    text = json.dumps({"chat_template": "[[{{" * 100 + '\\"' * 100 + "[" * 100})
    assert parse_config(text)["chat_template"].startswith("[[{{")


@pytest.mark.parametrize("string", ['"\\\\"', '"\\\\\\\\"', '"\\""', '"a\\\\\\"b"'])
def test_backslashes_do_not_hide_where_a_string_ends(string: str) -> None:
    json.loads(string)
    assert "levels" in str(refused(f'{{"a": {string}, "b": {"[" * 64}{"]" * 64}}}'))
    assert parse_config(f'{{"a": {string}, "b": "{"[" * 64}"}}')


def test_sixty_four_levels_and_a_byte_order_mark_are_fine() -> None:
    deep = '{"a":' * 64 + "1" + "}" * 64
    assert parse_config(deep) == json.loads(deep)
    assert parse_config(b"\xef\xbb\xbf{}") == {}


# --- configs that cannot be counted ------------------------------------------

MISSING = object()
BAD: list[tuple[str, str, Any, str]] = [
    ("qwen3-8b", "hidden_size", MISSING, "whole number"),
    ("qwen3-8b", "num_hidden_layers", MISSING, "whole number"),
    ("qwen3-8b", "vocab_size", None, "whole number"),
    ("qwen3-8b", "hidden_size", -4096, "from 1 to"),
    ("qwen3-8b", "hidden_size", 0, "from 1 to"),
    ("qwen3-8b", "hidden_size", "4096", "whole number"),
    ("qwen3-8b", "hidden_size", 4096.0, "whole number"),
    ("qwen3-8b", "hidden_size", True, "whole number"),
    ("qwen3-8b", "hidden_size", [4096], "whole number"),
    ("qwen3-8b", "hidden_size", {"x": 1}, "whole number"),
    ("qwen3-8b", "hidden_size", 10**15, "1,000,000"),
    ("qwen3-8b", "num_hidden_layers", 1_001, "1,000"),
    ("qwen3-8b", "vocab_size", 10**9, "10,000,000"),
    ("qwen3-8b", "num_key_value_heads", 5, "a divisor of 32"),
    ("qwen3-8b", "tie_word_embeddings", "false", "true or false"),
    ("qwen3-8b", "tie_word_embeddings", 0, "true or false"),
    ("qwen3-8b", "attention_bias", 1, "true or false"),
    ("qwen3-8b", "torch_dtype", "int3", "bfloat16"),
    ("qwen3-8b", "torch_dtype", 16, "bfloat16"),
    ("qwen3-8b", "model_type", MISSING, "llama"),
    ("qwen3-8b", "model_type", "qwen99", "llama"),
    ("qwen3-8b", "model_type", ["qwen3"], "llama"),
    ("qwen3-8b", "model_type", "<script>alert(1)</script>", "llama"),
    ("qwen3-8b", "_name_or_path", "<img src=x onerror=alert(1)>", "without control characters"),
    ("qwen3-8b", "_name_or_path", "a\nb", "without control characters"),
    ("qwen3-8b", "_name_or_path", "n" * 201, "200 characters"),
    ("qwen3-8b", "_name_or_path", 7, "text"),
    ("qwen3-8b", "architectures", "Qwen3ForCausalLM", "a list"),
    ("qwen3-8b", "architectures/0", "<b>", "without control characters"),
    ("llama-3.1-8b", "num_attention_heads", 33, "a divisor of 4,096"),
    ("gpt2", "n_head", 7, "a divisor of 768"),
    ("gpt2", "add_cross_attention", True, "false"),
    ("deepseek-v3", "n_routed_experts", 0, "from 1 to 10,000"),
    ("deepseek-v3", "n_routed_experts", 20_000, "from 1 to 10,000"),
    ("deepseek-v3", "num_experts_per_tok", 257, "from 1 to 256"),
    ("deepseek-v3", "moe_layer_freq", 2, "from 1 to 1"),
    ("deepseek-v2-lite", "num_experts_per_tok", MISSING, "whole number"),
    ("qwen1.5-moe-a2.7b", "mlp_only_layers", 3, "a list"),
    ("qwen1.5-moe-a2.7b", "decoder_sparse_step", 0, "from 1 to"),
    ("qwen3.5-9b", "text_config", MISSING, "a JSON object"),
    ("qwen3.5-9b", "text_config", "text", "a JSON object"),
    ("qwen3.5-9b", "text_config/hidden_size", MISSING, "whole number"),
    ("qwen3.5-9b", "text_config/layer_types", ["full_attention"], "a list of 32 entries"),
    ("qwen3.5-9b", "text_config/layer_types", "full_attention", "a list"),
    ("qwen3.5-9b", "text_config/layer_types/5", "mamba", "linear_attention"),
    ("qwen3.5-9b", "text_config/linear_num_value_heads", 33, "a multiple of 16"),
    ("qwen3.5-9b", "text_config/mtp_use_dedicated_embeddings", True, "false"),
    ("qwen3.5-9b", "vision_config", [], "a JSON object"),
    ("qwen3.5-9b", "vision_config/num_heads", 7, "a divisor of 1,152"),
    ("gemma-3-4b", "vision_config/image_size", 13, "from 14 to"),
    ("gemma-3-4b", "vision_config/model_type", "clip", "siglip_vision_model"),
]


def change(config: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of ``config`` with the value at ``path`` replaced or removed."""
    result = copy.deepcopy(config)
    *parents, last = path.split("/")
    place: Any = result
    for step in parents:
        place = place[int(step)] if isinstance(place, list) else place[step]
    if value is MISSING:
        del place[last]
    else:
        place[int(last) if isinstance(place, list) else last] = value
    return result


@pytest.mark.parametrize(
    ("slug", "path", "value", "accepted"), BAD, ids=[f"{b[1]}={str(b[2])[:20]}" for b in BAD]
)
def test_a_bad_field_is_named_with_its_value(
    slug: str, path: str, value: Any, accepted: str
) -> None:
    error = refused(json.dumps(change(published(slug), path, value)))
    assert error.field == f"/{path}"
    assert accepted in error.accepted.english
    if value is not MISSING and value is not None and "entries" not in accepted:
        assert error.value == value


def test_a_name_given_by_the_caller_is_checked_too() -> None:
    with pytest.raises(ConfigError) as caught:
        inventory(published("qwen3-8b"), "<b>bold</b>")
    assert caught.value.field == "/name"


def test_an_unknown_type_lists_every_known_one() -> None:
    error = refused('{"model_type": "mamba"}')
    assert all(kind in error.accepted.english for kind in known())
    assert all(kind in error.accepted.chinese for kind in known())


def test_an_entry_of_a_list_is_named_by_its_index() -> None:
    config = change(published("qwen1.5-moe-a2.7b"), "mlp_only_layers", [1, "2"])
    assert refused(json.dumps(config)).field == "/mlp_only_layers/1"


def test_an_empty_name_in_a_config_is_no_name() -> None:
    assert inventory(change(published("qwen3-8b"), "_name_or_path", "")).name == "qwen3"


# --- the reader --------------------------------------------------------------


def test_fields_remember_what_was_read() -> None:
    fields = Fields({"a": {"b~/c": 3}, "flag": None})
    section = fields.section("a")
    assert section.integer("x", "b~/c") == 3
    assert section.pointer("x", "b~/c") == "/a/b~0~1c"
    assert fields.flag("flag", default=True) is True
    assert fields.null("flag")
    assert not fields.has("flag")
    assert fields.used == {"/a/b~0~1c": 3}


# --- anything at all ---------------------------------------------------------

SLUGS = sorted(path.stem for path in (DATA / "models").glob("*.json"))
CONFIGS = {slug: published(slug) for slug in SLUGS}
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**17), 10**17),
    st.integers(0, 300),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=30),
    st.lists(st.integers(-2, 5), max_size=4),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


def places(config: dict[str, Any], prefix: str = "") -> list[str]:
    found = []
    for key, value in config.items():
        found.append(prefix + key)
        if isinstance(value, dict) and key.endswith("_config"):
            found += places(value, f"{prefix}{key}/")
    return found


@settings(max_examples=400, deadline=1_000)
@given(st.data())
def test_a_mutated_config_counts_or_is_refused(data: st.DataObject) -> None:
    config = CONFIGS[data.draw(st.sampled_from(SLUGS))]
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(places(config)))
        config = change(config, path, data.draw(st.one_of(st.just(MISSING), ODD)))
    counts_or_is_refused(json.dumps(config))


@settings(max_examples=300, deadline=1_000)
@given(st.data())
def test_mutated_text_counts_or_is_refused(data: st.DataObject) -> None:
    text = json.dumps(CONFIGS[data.draw(st.sampled_from(SLUGS))])
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 20)))
    filling = data.draw(st.one_of(st.text(max_size=10), st.text('[]{}",:\\0e-', max_size=10)))
    counts_or_is_refused(text[:start] + filling + text[end:])


@settings(max_examples=200, deadline=1_000)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    counts_or_is_refused(data)


def counts_or_is_refused(text: str | bytes) -> None:
    refusal, model = None, None
    try:
        model = inventory(parse_config(text))
    except ConfigError as error:
        refusal = error
    if model is not None:
        assert sum(model.parts.values()) == model.total > 0
        assert model.compute_parameters <= model.total
    elif refusal is not None:
        assert refusal.field.startswith("/")
        assert str(refusal).isprintable()


UNSEEN = ["\u202eabc", "\u200b", "a\u200bb", "\ufeffabc", "a\u2066b", "a\u00adb", "\U000e0041a",
          "   ", "\u3000", "\u00a0 ", "\u3164", "a\u3164", "\u2800\u2800", "\u0301", "\ufe0f",
          "a\u2028b", "a\x85b"]  # fmt: skip


@pytest.mark.parametrize("name", UNSEEN, ids=ascii)
def test_names_that_cannot_be_seen_are_refused(name: str) -> None:
    """Format characters turn the text around them; blank names look like none."""
    for config, field in (
        (change(published("gpt2"), "_name_or_path", name), "/_name_or_path"),
        ({"name": name, "config": published("gpt2")}, "/name"),
    ):
        with pytest.raises(ConfigError) as caught:
            own_model(json.dumps(config).encode())
        assert caught.value.field == field
        assert "all to be seen" in caught.value.accepted.english


@pytest.mark.parametrize(
    "name", ["Qwen3.8-27B", "我的模型 v2", "modèle", "e\u0301t", "🦙", "./out/a b"]
)
def test_names_in_any_script_are_kept(name: str) -> None:
    config = change(published("gpt2"), "_name_or_path", name)
    assert own_model(json.dumps(config).encode()).name == name
