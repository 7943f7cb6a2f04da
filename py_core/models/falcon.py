"""Falcon (arXiv 2311.16867): one key/value head (7B) or groups (40B), fused qkv; tied.

``multi_query`` and ``new_decoder_architecture`` decide on the key/value heads; the 7B
config's ``num_kv_heads: 71`` means nothing.
"""

from dataclasses import replace

from py_core.fields import Fields
from py_core.inventory import Dims, Inventory
from py_core.models.blocks import Block, Ranked, layer, layer_norm, linear, two_linear
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims

NAMES = {
    "hidden": ("n_embed", "hidden_size"),
    "kv_heads": ("num_kv_heads",),
    "intermediate": ("ffn_hidden_size",),
}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = kv_heads(fields, read_dims(fields, names=NAMES, four_h=True))
    bias = fields.flag("bias", default=False)
    qkv = (dims.heads + 2 * dims.kv_heads) * dims.head_dim
    mixer = (
        *linear("self_attention.query_key_value", qkv, dims.hidden, "attention", 0, bias=bias),
        *linear("self_attention.dense", dims.hidden, dims.hidden, "attention", 1, bias=bias),
    )
    mlp = two_linear(dims, "mlp.dense_h_to_4h", "mlp.dense_4h_to_h", bias=bias)
    block = layer([(2, mixer), (4, mlp), *norms(fields, dims.hidden)])
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
        norm=layer_norm("ln_f", dims.hidden),
    )


def kv_heads(fields: Fields, dims: Dims) -> Dims:
    """``dims`` with the key/value heads there really are, and the field that says so."""
    if fields.flag("new_decoder_architecture", default=False):
        return dims
    one = fields.flag("multi_query", default=True)
    where = {**dims.pointers, "kv_heads": fields.pointer("multi_query")}
    return replace(dims, kv_heads=1 if one else dims.heads, pointers=where)


def norms(fields: Fields, hidden: int) -> Ranked:
    """Two norms in sequence, or in parallel one shared or two separate ones."""

    def norm(name: str) -> Block:
        return layer_norm(name, hidden)

    both = 2 if fields.flag("new_decoder_architecture", default=False) else 1
    if not fields.flag("parallel_attn", default=True):
        return [(3, norm("post_attention_layernorm")), (0, norm("input_layernorm"))]
    if fields.integer("num_ln_in_parallel_attn", default=both, high=2) == 2:
        return [(0, norm("ln_attn")), (1, norm("ln_mlp"))]
    return [(0, norm("input_layernorm"))]
