"""OLMo 2 (arXiv 2501.00656): norms after attention and feed-forward, and over all of q and k."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, layer, rms_norm, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields)
    bias = fields.flag("attention_bias", default=False)
    block = layer(
        [
            (0, attention(dims, bias=bias, norm="all")),
            (2, swiglu(dims)),
            (1, rms_norm("post_attention_layernorm", dims.hidden)),
            (3, rms_norm("post_feedforward_layernorm", dims.hidden)),
        ]
    )
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [block] * dims.layers, tied=is_tied)
