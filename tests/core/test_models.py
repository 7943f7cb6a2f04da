"""The inventory against transformers (recorded by ``make conformance``) and the field.

Where the reference class keeps all experts of a layer in one tensor and the checkpoint
does not, ours are put together before comparing; Mixtral's checkpoint also names its MoE
block differently.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from py_core.configs import parse_config
from py_core.inventory import DTYPE_BYTES, PARTS, ROLES, Inventory, Tensor
from py_core.models import inventory, known

CHECKOUT = Path(__file__).resolve().parents[2]
DATA = CHECKOUT / "docs" / "data"
FIXTURES = CHECKOUT / "tests" / "conformance" / "fixtures"
PARAMETERS = json.loads((FIXTURES / "parameters.json").read_text())
ARRIVAL = json.loads((FIXTURES / "arrival.json").read_text())
SLUGS = sorted(PARAMETERS["models"])


@cache
def published(slug: str) -> Inventory:
    path = DATA / ("anchor-model.json" if slug == "anchor" else f"models/{slug}.json")
    found = parse_config(path.read_bytes())
    return inventory(found["config"], found["name"])


def as_reference(tensors: Iterable[Tensor]) -> list[tuple[str, tuple[int, ...]]]:
    """Names and shapes as transformers has them: experts of a layer in two tensors."""
    result: list[tuple[str, tuple[int, ...]]] = []
    for tensor in tensors:
        name, shape = tensor.name.replace(".block_sparse_moe.", ".mlp."), tensor.shape
        if tensor.count > 1:
            at, matrix = name.removesuffix(".weight").split(".{}.")
            if matrix in ("down_proj", "w2"):
                name, shape = f"{at}.down_proj", (tensor.count, *shape)
            else:
                name, shape = f"{at}.gate_up_proj", (tensor.count, 2 * shape[0], shape[1])
        if (name, shape) not in result[-1:]:  # gate and up stand together
            result.append((name, shape))
    return result


def without_mtp(model: Inventory) -> list[Tensor]:
    return [tensor for tensor in model.tensors if tensor.part != "mtp"]


def assert_same_tensors(model: Inventory, fixture: dict[str, Any]) -> None:
    """Total, tying, and every name and shape in registration order."""
    ours = as_reference(without_mtp(model))
    assert model.total - model.parts["mtp"] == fixture["total"]
    assert model.tied == fixture["tied"]
    assert len(ours) == fixture["tensors"]
    lines = "\n".join(f"{name} {list(shape)}" for name, shape in ours)
    assert hashlib.sha256(lines.encode()).hexdigest() == fixture["ordered_sha256"], lines


@pytest.mark.parametrize("slug", SLUGS)
def test_published_config_counts_like_transformers(slug: str) -> None:
    assert_same_tensors(published(slug), PARAMETERS["models"][slug])


def test_every_committed_config_was_recorded() -> None:
    committed = {path.stem for path in (DATA / "models").glob("*.json")} | {"anchor"}
    assert committed == set(SLUGS), "run python3 tests/conformance/run.py --record record.py"


def test_every_known_type_is_recorded_published_or_bare() -> None:
    bare = set(PARAMETERS["bare"])
    assert set(known()) - bare == {"qwen3_5_text", "qwen3_5_moe_text"}
    assert bare <= set(known())


@pytest.mark.parametrize("model_type", sorted(PARAMETERS["bare"]))
def test_defaults_of_absent_fields_are_the_references(model_type: str) -> None:
    fixture = PARAMETERS["bare"][model_type]
    assert_same_tensors(inventory(fixture["config"]), fixture)


@pytest.mark.parametrize(
    "fixture",
    PARAMETERS["variants"],
    ids=lambda f: f"{f['config']['model_type']}-{'-'.join(f['change'])}",
)
def test_switches_change_the_same_tensors(fixture: dict[str, Any]) -> None:
    assert_same_tensors(inventory(fixture["config"]), fixture)


@pytest.mark.parametrize("slug", [s for s in SLUGS if PARAMETERS["models"][s]["mtp"]])
def test_nextn_modules_count_like_transformers_mtp_model(slug: str) -> None:
    assert published(slug).parts["mtp"] == PARAMETERS["models"][slug]["mtp"]


@pytest.mark.parametrize("text_type", ["qwen3_5_text", "qwen3_5_moe_text"])
def test_text_only_types_are_the_text_part_of_the_whole(text_type: str) -> None:
    slug = {"qwen3_5_text": "qwen3.5-9b", "qwen3_5_moe_text": "qwen3.5-35b-a3b"}[text_type]
    whole = published(slug)
    config = parse_config((DATA / "models" / f"{slug}.json").read_bytes())["config"]
    text = inventory(config["text_config"] | {"model_type": text_type})
    assert text.parts == {**whole.parts, "vision": 0}


# --- gradients ---------------------------------------------------------------


@pytest.mark.parametrize(
    "fixture", ARRIVAL["models"], ids=lambda fixture: str(fixture["config"]["model_type"])
)
def test_backward_order_is_the_order_torch_delivers(fixture: dict[str, Any]) -> None:
    """Exactly, tensor by tensor: autograd's order is determined by the forward."""
    model = inventory(fixture["config"])
    used = [tensor for tensor in model.backward_order() if tensor.forward is not None]
    assert [name for name, _ in as_reference(used)] == fixture["order"]


@pytest.mark.parametrize("slug", SLUGS)
def test_backward_order_holds_every_tensor_once(slug: str) -> None:
    model = published(slug)
    order = model.backward_order()
    assert sorted(t.name for t in order) == sorted(t.name for t in model.tensors)
    positions = [t.forward for t in order if t.forward is not None]
    assert positions == sorted(set(positions), reverse=True)
    used = len(positions)
    assert {t.part for t in order[used:]} <= {"vision", "mtp"}
    assert order[used - 1].role == "embedding"  # tied or not, last of all that is used


def test_experts_expand_in_registration_and_in_backward_order() -> None:
    model = published("deepseek-v3")
    assert len(model.tensors) < 1_100
    layer3 = [t.name for t in model.expand() if t.layer == 3 and t.role == "expert"]
    at = "model.layers.3.mlp.experts"
    assert layer3[:4] == [f"{at}.0.{m}_proj.weight" for m in ("gate", "up", "down")] + [
        f"{at}.1.gate_proj.weight"
    ]
    assert len(layer3) == 3 * 256
    back = [t.name for t in model.expand_backward() if t.layer == 3 and t.role == "expert"]
    assert back == layer3[::-1]
    assert sum(t.parameters for t in model.expand()) == model.total
    assert all(t.count == 1 and "{" not in t.name for t in model.expand())


# --- numbers of the field ----------------------------------------------------


def test_anchor_part_by_part() -> None:
    """FIELD.md 1.1: Qwen3.8-27B, exactly as published, 1,199 tensors of bfloat16."""
    model = published("anchor")
    assert model.total == 27_781_427_952
    assert (
        model.total
        == json.loads((DATA / "anchor-model.json").read_text())["published_total"]["parameters"]
    )
    assert len(model.tensors) == len(list(model.expand())) == 1_199
    assert model.bytes == 55_562_855_904
    assert model.parts == {
        "embedding": 1_271_398_400,
        "position": 0,
        "layers": 48 * 383_273_184 + 16 * 372_255_232,
        "norm": 5_120,
        "lm_head": 1_271_398_400,
        "vision": 460_730_096,
        "mtp": 424_699_392,
    }
    assert model.text == 26_895_998_464
    assert model.compute_parameters == 25_624_600_064
    assert model.total - model.parts["mtp"] == 27_356_728_560
    by_layer = [0] * 64
    for tensor in model.tensors:
        if tensor.layer is not None:
            by_layer[tensor.layer] += tensor.parameters
    assert by_layer == [372_255_232 if i % 4 == 3 else 383_273_184 for i in range(64)]
    assert (model.dims.layers, model.dims.full_attention_layers) == (64, 16)


def test_anchor_registers_vision_first_and_mtp_last() -> None:
    parts = [tensor.part for tensor in published("anchor").tensors]
    blocks = [part for part, before in zip(parts, ["", *parts], strict=False) if part != before]
    assert blocks == ["vision", "embedding", "layers", "norm", "lm_head", "mtp"]


def test_qwen3_next_counts_mtp_only_where_the_config_has_it() -> None:
    config = parse_config((DATA / "models" / "qwen3-next-80b-a3b.json").read_bytes())["config"]
    assert inventory(config).parts["mtp"] == 0
    model = inventory(config | {"num_nextn_predict_layers": 1})
    full = sum(t.parameters for t in model.tensors if t.layer == 3)
    assert model.parts["mtp"] == full + 2 * 2048**2 + 3 * 2048


def test_deepseek_v3() -> None:
    """FIELD.md 1.3: 671B, 654B of it routed experts, 36.63B at work on a token."""
    model = published("deepseek-v3")
    assert model.text == 671_026_404_352
    assert model.total == 682_636_472_320
    assert model.parts["mtp"] == 11_610_067_968
    assert model.routed_expert_parameters == 653_908_770_816
    assert model.compute_parameters == 37_552_282_624 - 926_679_040
    assert (model.dims.experts, model.dims.top_k) == (256, 8)
    dense = sum(t.parameters for t in model.tensors if t.layer == 0)
    sparse = sum(t.parameters for t in model.tensors if t.layer == 60)
    assert (dense, sparse) == (583_483_392, 11_507_286_016)


@pytest.mark.parametrize(
    ("slug", "total"),
    [
        ("qwen3-8b", 8_190_735_360),
        ("llama-3.1-405b", 405_853_388_800),
        ("glm-4.5-air", 106_852_245_504 + 2_375_059_456),
        ("qwen3.5-35b-a3b", 35_951_822_704),
        ("gpt2", 124_439_808),
    ],
)
def test_totals(slug: str, total: int) -> None:
    assert published(slug).total == total


def test_a_tied_embedding_is_the_head_and_a_look_up_is_no_product() -> None:
    tied, untied = published("qwen3-0.6b"), published("qwen3-8b")
    table = tied.tensors[0]
    assert table.tied_with == "lm_head.weight"
    assert table.active == 1
    assert tied.parts["lm_head"] == 0
    assert tied.compute_parameters == tied.total
    assert untied.tensors[0].active == 0
    assert untied.compute_parameters == untied.total - 622_329_856


def test_routed_experts_work_by_their_share() -> None:
    mixtral = published("mixtral-8x7b")
    assert {t.active for t in mixtral.tensors if t.role == "expert"} == {Fraction(2, 8)}
    assert mixtral.largest.name == "model.embed_tokens.weight"


# --- the record itself -------------------------------------------------------


@pytest.mark.parametrize("slug", SLUGS)
def test_inventory_is_well_formed(slug: str) -> None:
    model = published(slug)
    names = [tensor.name for tensor in model.tensors]
    assert len(set(names)) == len(names)
    assert sum(model.parts.values()) == model.total
    assert tuple(model.parts) == PARTS
    for tensor in model.tensors:
        assert tensor.role in ROLES
        assert tensor.part in PARTS
        assert tensor.dtype in DTYPE_BYTES
        assert 0 <= tensor.active <= 1
        assert ("{}" in tensor.name) == (tensor.count > 1)
        assert (tensor.layer is not None) == (tensor.part == "layers")
        assert (tensor.forward is None) == (tensor.part in ("vision", "mtp"))


def test_every_dimension_names_its_config_field() -> None:
    dims = published("anchor").dims
    assert dims.pointers["hidden"] == "/text_config/hidden_size"
    assert dims.pointers["layers"] == "/text_config/num_hidden_layers"
    assert "hidden" not in dims.defaults
    assert published("anchor").sources["/text_config/hidden_size"] == 5120
    gpt2 = published("gpt2").dims
    assert gpt2.pointers["hidden"] == "/n_embd"
    assert {"intermediate", "kv_heads"} <= gpt2.defaults
    assert published("deepseek-v3").dims.pointers["experts"] == "/n_routed_experts"
