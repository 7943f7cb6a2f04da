"""BLOOM (arXiv 2211.05100): ALiBi, LayerNorm (one right after the embedding), biases; tied."""

from dataclasses import replace

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import layer, layer_norm, linear, two_linear
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims

NAMES = {
    "layers": ("n_layer", "num_hidden_layers"),
    "hidden": ("n_embed", "hidden_size"),
    "heads": ("n_head", "num_attention_heads"),
    "kv_heads": ("n_head", "num_attention_heads"),
}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, four_h=True)
    dims = replace(dims, intermediate=4 * dims.hidden)  # whatever n_inner says
    hidden = dims.hidden
    block = layer(
        [
            (0, layer_norm("input_layernorm", hidden)),
            (
                1,
                linear(
                    "self_attention.query_key_value", 3 * hidden, hidden, "attention", 0, bias=True
                ),
            ),
            (2, linear("self_attention.dense", hidden, hidden, "attention", 1, bias=True)),
            (3, layer_norm("post_attention_layernorm", hidden)),
            (4, two_linear(dims, "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", bias=True)),
        ]
    )
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [block] * dims.layers,
        tied=tied(fields, True),
        root="transformer.",
        stack="h",
        embedding="word_embeddings",
        after_embedding=layer_norm("word_embeddings_layernorm", hidden),
        norm=layer_norm("ln_f", hidden),
    )
