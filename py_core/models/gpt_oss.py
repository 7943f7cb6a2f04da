"""gpt-oss (arXiv 2508.10925): attention sinks, biases, every layer a mixture of experts.

Counted as trained in bfloat16, without the checkpoint's MXFP4 scales. The reference keeps
all experts of a layer in one tensor.
"""

from py_core.fields import Fields
from py_core.inventory import Dims, Inventory
from py_core.models.blocks import Ranked, Spec, attention, linear, pre_norm, rms_pair
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import share

NAMES = {
    "experts": ("num_local_experts", "num_experts"),
    "top_k": ("num_experts_per_tok", "experts_per_token"),
}
DEFAULTS = {"kv_heads": 8, "head_dim": 64, "experts": 128, "top_k": 4}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, defaults=DEFAULTS, moe=True)
    mixer = attention(dims, bias=fields.flag("attention_bias", default=True), sinks=True)
    layer = pre_norm(mixer, moe(dims), rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)


def moe(dims: Dims) -> Ranked:
    """Router with bias; gate-up and down of all experts, whose biases' gradients come last."""
    count, hidden, wide, at = dims.experts, dims.hidden, dims.intermediate, "mlp.experts"
    active = share(dims)
    routed = (
        Spec(f"{at}.gate_up_proj", (count, hidden, 2 * wide), "expert", 1, 1, active),
        Spec(f"{at}.gate_up_proj_bias", (count, 2 * wide), "expert", 0, 1, active),
        Spec(f"{at}.down_proj", (count, wide, hidden), "expert", 3, 1, active),
        Spec(f"{at}.down_proj_bias", (count, hidden), "expert", 2, 1, active),
    )
    return [(0, linear("mlp.router", count, hidden, "router", 0, bias=True)), (1, routed)]
