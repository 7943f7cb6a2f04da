"""Qwen1.5-MoE and Qwen2-MoE: Qwen2 with routed experts and one gated shared expert."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import NAMES, experts, qwen_moe, sparse_layers

DEFAULTS = {"kv_heads": 16, "intermediate": 5632, "experts": 60, "top_k": 4}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults=DEFAULTS, moe=True)
    mixer = attention(dims, bias=fields.flag("qkv_bias", default=True), out_bias=False)
    width = fields.integer("moe_intermediate_size", default=1408)
    shared = fields.integer("shared_expert_intermediate_size", default=5632)
    moe = qwen_moe(dims, experts(dims, width, at="mlp.experts", names=NAMES), shared)
    sparse = pre_norm(mixer, moe, rms_pair(dims))
    dense = pre_norm(mixer, swiglu(dims), rms_pair(dims))
    layers = [sparse if is_moe else dense for is_moe in sparse_layers(fields, dims)]
    return decoder(fields, name, model_type, dims, layers, tied=tied(fields, False))
