"""GPT-2: learned positions, LayerNorm, biases everywhere; embedding and head are tied.

Its matrices are stored input × output (transformers' ``Conv1D``).
"""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import Block, layer, layer_norm, linear
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims

NAMES = {
    "layers": ("n_layer", "num_hidden_layers"),
    "hidden": ("n_embd", "hidden_size"),
    "heads": ("n_head", "num_attention_heads"),
    "intermediate": ("n_inner",),
}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    fields.never("add_cross_attention")
    dims = read_dims(fields, names=NAMES, four_h=True)
    hidden, wide = dims.hidden, dims.intermediate
    block = layer(
        [
            (0, layer_norm("ln_1", hidden)),
            (1, conv1d("attn.c_attn", 3 * hidden, hidden, "attention", 0)),
            (2, conv1d("attn.c_proj", hidden, hidden, "attention", 1)),
            (3, layer_norm("ln_2", hidden)),
            (4, conv1d("mlp.c_fc", wide, hidden, "mlp", 0)),
            (5, conv1d("mlp.c_proj", hidden, wide, "mlp", 1)),
        ]
    )
    rows = fields.integer("n_positions", "max_position_embeddings", default=1024, high=10**8)
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [block] * dims.layers,
        tied=tied(fields, True),
        root="transformer.",
        stack="h",
        embedding="wte",
        positions=("wpe", rows),
        norm=layer_norm("ln_f", hidden),
    )


def conv1d(name: str, out: int, into: int, role: str, step: int) -> Block:
    """A Linear with its weight transposed."""
    block = linear(name, out, into, role, step, bias=True)
    return tuple(spec._replace(shape=spec.shape[::-1]) for spec in block)
