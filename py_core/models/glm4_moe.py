"""GLM-4.5 (arXiv 2508.06471): grouped-query attention with DeepSeek's MoE and MTP module.

The MTP layer is counted without the embedding and head it shares with the model (the
checkpoint of GLM-4.5 stores them twice, that of GLM-4.6 once: vllm-project/vllm #27597),
and only where the config gives ``num_nextn_predict_layers``.
"""

from py_core.fields import LAYERS, Fields
from py_core.inventory import Inventory
from py_core.models.blocks import attention, pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.deepseek_v3 import NAMES, nextn_modules
from py_core.models.dims import read_dims
from py_core.models.moe import deepseek_moe

DEFAULTS = {"kv_heads": 8, "experts": 128, "top_k": 8}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, defaults=DEFAULTS, moe=True)
    mixer = attention(
        dims,
        bias=fields.flag("attention_bias", default=False),
        out_bias=False,
        norm="head" if fields.flag("use_qk_norm", default=False) else "",
        norm_last=True,
    )
    first = fields.integer("first_k_dense_replace", default=1, low=0, high=LAYERS)
    width = fields.integer("moe_intermediate_size", default=1408)
    shared = fields.integer("n_shared_experts", default=1, low=0, high=1_000)
    dense = pre_norm(mixer, swiglu(dims), rms_pair(dims))
    sparse = pre_norm(mixer, deepseek_moe(dims, width, shared), rms_pair(dims))
    layers = [dense if i < first else sparse for i in range(dims.layers)]
    mtp = nextn_modules(fields, dims, sparse)
    is_tied = tied(fields, False)
    return decoder(fields, name, model_type, dims, layers, tied=is_tied, mtp=mtp)
