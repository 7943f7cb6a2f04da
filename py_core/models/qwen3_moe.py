"""Qwen3 MoE (arXiv 2505.09388): Qwen3 with routed experts, none shared."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import Ranked, attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import NAMES, experts, router, sparse_layers

COUNT = {"experts": ("num_experts", "num_local_experts")}
DEFAULTS = {"kv_heads": 4, "intermediate": 6144, "experts": 128, "top_k": 8}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=COUNT, defaults=DEFAULTS, moe=True)
    mixer = attention(dims, bias=fields.flag("attention_bias", default=False), norm="head")
    width = fields.integer("moe_intermediate_size", default=768)
    moe: Ranked = [
        (1, experts(dims, width, at="mlp.experts", names=NAMES)),
        (0, router(dims, "mlp.gate")),
    ]
    sparse = pre_norm(mixer, moe, rms_pair(dims))
    dense = pre_norm(mixer, swiglu(dims), rms_pair(dims))
    layers = [sparse if is_moe else dense for is_moe in sparse_layers(fields, dims)]
    return decoder(fields, name, model_type, dims, layers, tied=tied(fields, False))
