"""Qwen3-Next: Gated DeltaNet and gated attention, three to one, each with 512 experts.

The published configs do not mention the MTP module that the checkpoints hold (transformers
ignores ``mtp.*``), so it is counted only where a config gives its number. Its shape is
vLLM's ``qwen3_next_mtp``; not verified against a checkpoint.
"""

from dataclasses import replace

from py_core.fields import LAYERS, Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, linear, pre_norm, rms_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import hybrid_layers, read_dims
from py_core.models.moe import NAMES, Delta, delta_net, experts, qwen_moe, sparse_layers

DEFAULTS = {"kv_heads": 2, "head_dim": 256, "intermediate": 5632, "experts": 512, "top_k": 10}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, defaults=DEFAULTS, moe=True)
    kinds = hybrid_layers(fields, dims.layers)
    dims = replace(dims, full_attention_layers=kinds.count("full_attention"))
    bias = fields.flag("attention_bias", default=False)
    mixers = {
        "linear_attention": delta_net(dims, Delta.read(fields), fused=True),
        "full_attention": attention(dims, bias=bias, norm="head", gated=True),
    }
    width = fields.integer("moe_intermediate_size", default=512)
    shared = fields.integer("shared_expert_intermediate_size", default=512)
    moe = qwen_moe(dims, experts(dims, width, at="mlp.experts", names=NAMES), shared)
    norms = rms_pair(dims)
    built = {
        (kind, is_moe): pre_norm(mixer, moe if is_moe else swiglu(dims), norms)
        for kind, mixer in mixers.items()
        for is_moe in (True, False)
    }
    layers = [built[key] for key in zip(kinds, sparse_layers(fields, dims), strict=True)]
    modules = fields.integer(
        "mtp_num_hidden_layers", "num_nextn_predict_layers", default=0, low=0, high=LAYERS
    )
    mtp = [(f"mtp.layers.{i}.", built["full_attention", True]) for i in range(modules)]
    if modules:
        around = linear("fc", dims.hidden, 2 * dims.hidden, "mtp", 0)
        for norm in ("norm", "pre_fc_norm_hidden", "pre_fc_norm_embedding"):
            around += rms_norm(norm, dims.hidden)
        mtp.append(("mtp.", around))
    return decoder(fields, name, model_type, dims, layers, tied=tied(fields, False), mtp=mtp)
