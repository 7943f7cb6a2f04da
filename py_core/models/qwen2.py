"""Qwen2 and Qwen2.5 (arXiv 2407.10671): Llama's layer with biases on q, k and v."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 32})
    mixer = attention(dims, bias=True, out_bias=False)
    layer = pre_norm(mixer, swiglu(dims), rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
