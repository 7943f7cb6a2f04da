"""Mixtral (arXiv 2401.04088): Mistral with eight routed experts in every layer.

Names are the checkpoint's: w1 is the gate, w3 up, w2 down.
"""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import Ranked, attention, pre_norm, rms_pair
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import experts, router

NAMES = {"experts": ("num_local_experts", "num_experts")}
DEFAULTS = {"kv_heads": 8, "experts": 8, "top_k": 2}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, defaults=DEFAULTS, moe=True)
    at = "block_sparse_moe"
    moe: Ranked = [
        (0, router(dims, f"{at}.gate")),
        (1, experts(dims, dims.intermediate, at=f"{at}.experts", names=("w1", "w3", "w2"))),
    ]
    layer = pre_norm(attention(dims), moe, rms_pair(dims))
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, [layer] * dims.layers, tied=is_tied)
