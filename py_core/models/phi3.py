"""Phi-3, Phi-3.5 and Phi-4 (arXiv 2404.14219, 2412.08905): fused qkv and gate-up matrices."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import fused_swiglu, linear, pre_norm, rms_pair
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields)
    q, qkv = (n * dims.head_dim for n in (dims.heads, dims.heads + 2 * dims.kv_heads))
    mixer = (
        *linear("self_attn.o_proj", dims.hidden, q, "attention", 1),
        *linear("self_attn.qkv_proj", qkv, dims.hidden, "attention", 0),
    )
    layer = pre_norm(mixer, fused_swiglu(dims), rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
