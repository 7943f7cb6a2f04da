"""Vision towers. No text step uses them, so their order of use is left out."""

from __future__ import annotations

from py_core.errors import Accepted, ConfigError
from py_core.fields import HEADS, LAYERS, Fields
from py_core.models.blocks import Block, Spec, layer_norm, linear

ROLE = "vision"


def _biased(name: str, out: int, into: int) -> Block:
    return linear(name, out, into, ROLE, 0, bias=True)


def _norm(name: str, width: int) -> Block:
    return layer_norm(name, width, ROLE)


def _heads_divide(fields: Fields, name: str, heads: int, hidden: int) -> None:
    if hidden % heads:
        accepted = Accepted(f"a divisor of {hidden:,}", f"{hidden:,} 的约数")
        raise ConfigError(fields.pointer(name), heads, accepted)


def qwen_vision(fields: Fields) -> Block:
    """Qwen3.5's tower: 3-D patches, learned positions, pre-norm blocks, 2 × 2 merger."""
    hidden = fields.integer("hidden_size", default=1152)
    width = fields.integer("intermediate_size", default=4304)
    heads = fields.integer("num_heads", "num_attention_heads", default=16, high=HEADS)
    _heads_divide(fields, "num_heads", heads, hidden)
    depth = fields.integer("depth", "num_hidden_layers", default=27, high=LAYERS)
    patch = fields.integer("patch_size", default=16, high=10_000)
    frames = fields.integer("temporal_patch_size", default=2, high=10_000)
    channels = fields.integer("in_channels", default=3, high=10_000)
    merge = fields.integer("spatial_merge_size", default=2, high=1_000)
    merged = hidden * merge**2
    out = fields.integer("out_hidden_size", default=3584)
    positions = fields.integer("num_position_embeddings", default=2304)
    block: Block = (
        Spec("patch_embed.proj.weight", (hidden, channels, frames, patch, patch), ROLE, 0),
        Spec("patch_embed.proj.bias", (hidden,), ROLE, 0),
        Spec("pos_embed.weight", (positions, hidden), ROLE, 0),
    )
    for i in range(depth):
        block += (
            *_norm(f"blocks.{i}.norm1", hidden),
            *_norm(f"blocks.{i}.norm2", hidden),
            *_biased(f"blocks.{i}.attn.qkv", 3 * hidden, hidden),
            *_biased(f"blocks.{i}.attn.proj", hidden, hidden),
            *_biased(f"blocks.{i}.mlp.linear_fc1", width, hidden),
            *_biased(f"blocks.{i}.mlp.linear_fc2", hidden, width),
        )
    return (
        *block,
        *_norm("merger.norm", hidden),
        *_biased("merger.linear_fc1", merged, merged),
        *_biased("merger.linear_fc2", out, merged),
    )


def siglip(fields: Fields) -> Block:
    """SigLIP's tower (arXiv 2303.15343): square patches, learned positions, pre-norm blocks."""
    hidden = fields.integer("hidden_size", default=768)
    width = fields.integer("intermediate_size", default=3072)
    heads = fields.integer("num_attention_heads", default=12, high=HEADS)
    _heads_divide(fields, "num_attention_heads", heads, hidden)
    depth = fields.integer("num_hidden_layers", default=12, high=LAYERS)
    channels = fields.integer("num_channels", default=3, high=10_000)
    patch = fields.integer("patch_size", default=16, high=10_000)
    side = fields.integer("image_size", default=224, low=patch, high=100_000) // patch
    block: Block = (
        Spec("embeddings.patch_embedding.weight", (hidden, channels, patch, patch), ROLE, 0),
        Spec("embeddings.patch_embedding.bias", (hidden,), ROLE, 0),
        Spec("embeddings.position_embedding.weight", (side * side, hidden), ROLE, 0),
    )
    for i in range(depth):
        at = f"encoder.layers.{i}"
        block += _norm(f"{at}.layer_norm1", hidden)
        for projection in ("k_proj", "v_proj", "q_proj", "out_proj"):
            block += _biased(f"{at}.self_attn.{projection}", hidden, hidden)
        block += _norm(f"{at}.layer_norm2", hidden) + _feed_forward(f"{at}.mlp", hidden, width)
    block += _norm("post_layernorm", hidden)
    if fields.flag("vision_use_head", default=True):
        block += _pooling_head(hidden, width)
    return block


def _feed_forward(at: str, hidden: int, width: int) -> Block:
    return _biased(f"{at}.fc1", width, hidden) + _biased(f"{at}.fc2", hidden, width)


def _pooling_head(hidden: int, width: int) -> Block:
    """Attention of one learned probe over all patches."""
    return (
        Spec("head.probe", (1, 1, hidden), ROLE, 0),
        Spec("head.attention.in_proj_weight", (3 * hidden, hidden), ROLE, 0),
        Spec("head.attention.in_proj_bias", (3 * hidden,), ROLE, 0),
        *_biased("head.attention.out_proj", hidden, hidden),
        *_norm("head.layernorm", hidden),
        *_feed_forward("head.mlp", hidden, width),
    )
