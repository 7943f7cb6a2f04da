"""StarCoder2 (arXiv 2402.19173): LayerNorm, biases, plain feed-forward; tied."""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, layer_norm, pre_norm, two_linear
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults={"kv_heads": 2})
    bias = fields.flag("use_bias", default=True)
    norms = (
        layer_norm("input_layernorm", dims.hidden),
        layer_norm("post_attention_layernorm", dims.hidden),
    )
    mlp = two_linear(dims, "mlp.c_fc", "mlp.c_proj", bias=bias)
    layer = pre_norm(attention(dims, bias=bias), mlp, norms)
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [layer] * dims.layers,
        tied=tied(fields, True),
        norm=layer_norm("norm", dims.hidden),
    )
