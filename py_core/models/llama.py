"""Llama (arXiv 2302.13971, 2407.21783): RMSNorm, grouped-query attention, SwiGLU."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields)
    layer = pre_norm(
        attention(dims, bias=fields.flag("attention_bias", default=False)),
        swiglu(dims, bias=fields.flag("mlp_bias", default=False)),
        rms_pair(dims),
    )
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
