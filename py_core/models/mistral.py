"""Mistral 7B (arXiv 2310.06825): Llama's layer, never a bias, eight key/value heads."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 8})
    layer = pre_norm(attention(dims), swiglu(dims), rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
