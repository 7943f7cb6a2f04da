"""Gemma (arXiv 2403.08295): Llama's layer with wide heads; embedding and head are tied."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 16, "head_dim": 256})
    mixer = attention(dims, bias=fields.flag("attention_bias", default=False))
    layer = pre_norm(mixer, swiglu(dims), rms_pair(dims))
    is_tied = tied(fields, True)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
