"""Gemma 2 (arXiv 2408.00118): a norm before and after attention and feed-forward; tied."""

from py_core.fields import Fields
from py_core.inventory import Dims, Inventory
from py_core.models.blocks import Block, attention, layer, rms_norm, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 4, "head_dim": 256})
    mixer = attention(dims, bias=fields.flag("attention_bias", default=False))
    one = sandwich(dims, mixer)
    return decoder(fields, name, model_type, dims, [one] * dims.layers, tied=tied(fields, True))


def sandwich(dims: Dims, mixer: Block) -> Block:
    """Norm, attention, norm, norm, feed-forward, norm."""
    return layer(
        [
            (1, mixer),
            (4, swiglu(dims)),
            (0, rms_norm("input_layernorm", dims.hidden)),
            (2, rms_norm("post_attention_layernorm", dims.hidden)),
            (3, rms_norm("pre_feedforward_layernorm", dims.hidden)),
            (5, rms_norm("post_feedforward_layernorm", dims.hidden)),
        ]
    )
