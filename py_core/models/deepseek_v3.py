"""DeepSeek-V3 (arXiv 2412.19437) and Kimi K2 (arXiv 2507.20534), which uses its layers.

MLA, ``first_k_dense_replace`` dense layers, then MoE with shared experts. The MTP modules
(§2.2) are counted as DeepSeek's README counts them, without the embedding and head they
share with the model, and only where the config says that there are any: transformers
takes one for granted (``num_mtp_layers = 1``) but never builds it, and K2 has none.
"""

from py_core.fields import LAYERS, Fields
from py_core.inventory import Dims, Inventory
from py_core.models.blocks import Block, linear, pre_norm, rms_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import deepseek_moe, mla

NAMES = {"experts": ("n_routed_experts", "num_local_experts", "num_experts")}
DEFAULTS = {"experts": 256, "top_k": 8}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, defaults=DEFAULTS, moe=True, mla=True)
    bias = fields.flag("attention_bias", default=False)
    mixer, norms = mla(dims, fields, bias=bias), rms_pair(dims)
    first = fields.integer("first_k_dense_replace", default=3, low=0, high=LAYERS)
    fields.integer("moe_layer_freq", default=1, high=1)  # transformers knows no other
    width = fields.integer("moe_intermediate_size", default=2048)
    shared = fields.integer("n_shared_experts", default=1, low=0, high=1_000)
    dense = pre_norm(mixer, swiglu(dims), norms)
    sparse = pre_norm(mixer, deepseek_moe(dims, width, shared), norms)
    layers = [dense if i < first else sparse for i in range(dims.layers)]
    mtp = nextn_modules(fields, dims, sparse)
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, layers, tied=is_tied, mtp=mtp)


def nextn_modules(fields: Fields, dims: Dims, sparse: Block) -> list[tuple[str, Block]]:
    """``num_nextn_predict_layers`` modules: two norms, a 2h → h projection, a layer, a norm."""
    count = fields.integer(
        "num_nextn_predict_layers", "num_mtp_layers", default=0, low=0, high=LAYERS
    )
    block = (
        *rms_norm("enorm", dims.hidden),
        *rms_norm("hnorm", dims.hidden),
        *linear("eh_proj", dims.hidden, 2 * dims.hidden, "mtp", 0),
        *sparse,
        *rms_norm("shared_head.norm", dims.hidden),
    )
    return [(f"model.layers.{dims.layers + k}.", block) for k in range(count)]
