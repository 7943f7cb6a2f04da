"""GPT-NeoX and Pythia (arXiv 2204.06745, 2304.01373): fused qkv, LayerNorm, biases.

The parallel residual changes what is added, not which tensors there are.
"""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import layer, layer_norm, linear, two_linear
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names={"kv_heads": ("num_attention_heads",)})
    hidden = dims.hidden
    bias = fields.flag("attention_bias", default=True)
    mixer = (
        *linear("attention.query_key_value", 3 * hidden, hidden, "attention", 0, bias=bias),
        *linear("attention.dense", hidden, hidden, "attention", 1, bias=bias),
    )
    block = layer(
        [
            (0, layer_norm("input_layernorm", hidden)),
            (2, layer_norm("post_attention_layernorm", hidden)),
            (1, mixer),
            (3, two_linear(dims, "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", bias=True)),
        ]
    )
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [block] * dims.layers,
        tied=tied(fields, False),
        root="gpt_neox.",
        embedding="embed_in",
        norm=layer_norm("final_layer_norm", hidden),
    )
