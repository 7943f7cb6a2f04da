"""GLM-4-0414: four norms a layer, fused gate-up matrix, biases on q, k and v."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, fused_swiglu, layer, rms_norm
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 2, "head_dim": 128})
    bias = fields.flag("attention_bias", default=True)
    block = layer(
        [
            (1, attention(dims, bias=bias, out_bias=False)),
            (4, fused_swiglu(dims)),
            (0, rms_norm("input_layernorm", dims.hidden)),
            (3, rms_norm("post_attention_layernorm", dims.hidden)),
            (2, rms_norm("post_self_attn_layernorm", dims.hidden)),
            (5, rms_norm("post_mlp_layernorm", dims.hidden)),
        ]
    )
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [block] * dims.layers, tied=is_tied)
