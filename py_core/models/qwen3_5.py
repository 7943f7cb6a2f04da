"""Qwen3.5 to 3.8, dense and MoE: three Gated DeltaNet layers to one of gated attention,
a vision tower (not in the ``_text`` types), and an MTP module.

transformers builds text and vision and drops ``mtp.*``. The MTP module's shape follows
the published checkpoints: pre-fc norms for embedding and hidden state, fc 2h → h, full
attention layers, a norm; embedding and head are the model's own. That makes Qwen3.8-27B
27,781,427,952 parameters, the published total to the last one. For the MoE type it is
not verified against a checkpoint.
"""

from collections.abc import Sequence

from py_core.fields import LAYERS, Fields
from py_core.inventory import Dims, Inventory
from py_core.models.blocks import (
    Block,
    Ranked,
    attention,
    linear,
    pre_norm,
    rms_norm,
    rms_pair,
    swiglu,
)
from py_core.models.build import decoder, tied
from py_core.models.dims import hybrid_layers, read_dims, read_dtype
from py_core.models.moe import Delta, delta_net, fused_experts, qwen_moe
from py_core.models.vision import qwen_vision

DENSE = {"kv_heads": 4, "head_dim": 256}
MOE = {"kv_heads": 2, "head_dim": 256, "experts": 256, "top_k": 8}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    moe = "moe" in model_type
    sees = not model_type.endswith("_text")
    text = fields.section("text_config") if sees else fields
    dims, kinds = _dims(text, moe)
    by_kind = _layers(text, dims, _moe(text, dims) if moe else swiglu(dims))
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [by_kind[kind] for kind in kinds],
        tied=tied(fields, False),
        root="model.language_model." if sees else "model.",
        dtype=read_dtype(text, fields),
        vision=[("model.visual.", tower(fields))] if sees else (),
        mtp=mtp_modules(text, dims, by_kind["full_attention"]),
    )


def tower(fields: Fields) -> Block:
    """The vision tower; transformers builds its default one where the config has none."""
    return qwen_vision(fields.section("vision_config", optional=True))


def _dims(text: Fields, moe: bool) -> tuple[Dims, Sequence[str]]:
    """Dimensions, with full attention counted from the kinds of the layers."""
    kinds = hybrid_layers(text, text.integer("num_hidden_layers", high=LAYERS))
    dims = read_dims(
        text,
        defaults=MOE if moe else DENSE,
        moe=moe,
        intermediate=0 if moe else None,  # the MoE type has no dense layer
        full_attention_layers=kinds.count("full_attention"),
    )
    return dims, kinds


def _moe(text: Fields, dims: Dims) -> Ranked:
    width = text.integer("moe_intermediate_size", default=512)
    shared = text.integer("shared_expert_intermediate_size", default=512)
    return qwen_moe(dims, fused_experts(dims, width, at="mlp.experts"), shared)


def _layers(text: Fields, dims: Dims, mlp: Block | Ranked) -> dict[str, Block]:
    bias = text.flag("attention_bias", default=False)
    mixers = {
        "linear_attention": delta_net(dims, Delta.read(text), fused=False),
        "full_attention": attention(dims, bias=bias, norm="head", gated=True),
    }
    return {kind: pre_norm(mixer, mlp, rms_pair(dims)) for kind, mixer in mixers.items()}


def mtp_modules(text: Fields, dims: Dims, full: Block) -> list[tuple[str, Block]]:
    """``mtp_num_hidden_layers`` full-attention layers behind one projection."""
    count = text.integer("mtp_num_hidden_layers", default=0, low=0, high=LAYERS)
    text.never("mtp_use_dedicated_embeddings")  # no such checkpoint is known
    if not count:
        return []
    return [
        ("mtp.", linear("fc", dims.hidden, 2 * dims.hidden, "mtp", 0)),
        *((f"mtp.layers.{i}.", full) for i in range(count)),
        ("mtp.", rms_norm("norm", dims.hidden)),
        ("mtp.", rms_norm("pre_fc_norm_hidden", dims.hidden)),
        ("mtp.", rms_norm("pre_fc_norm_embedding", dims.hidden)),
    ]
