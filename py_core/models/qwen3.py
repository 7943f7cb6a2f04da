"""Qwen3 (arXiv 2505.09388): Llama's layer with a norm on every query and key head."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 32, "head_dim": 128})
    bias = fields.flag("attention_bias", default=False)
    layer = pre_norm(attention(dims, bias=bias, norm="head"), swiglu(dims), rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
