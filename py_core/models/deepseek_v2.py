"""DeepSeek-V2 (arXiv 2405.04434): multi-head latent attention, routed and shared experts."""

from py_core.fields import LAYERS, Fields
from py_core.inventory import Inventory
from py_core.models.blocks import pre_norm, rms_pair, swiglu
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims
from py_core.models.moe import deepseek_moe, mla

NAMES = {"experts": ("n_routed_experts", "num_experts")}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    dims = read_dims(fields, names=NAMES, defaults={"experts": 64}, moe=True, mla=True)
    mixer = mla(dims, fields, bias=fields.flag("attention_bias", default=False))
    first = fields.integer("first_k_dense_replace", default=0, low=0, high=LAYERS)
    fields.integer("moe_layer_freq", default=1, high=1)  # transformers knows no other
    width = fields.integer("moe_intermediate_size", default=1407)
    shared = fields.integer("n_shared_experts", default=2, low=0, high=1_000)
    bias = fields.flag("mlp_bias", default=False)
    dense = pre_norm(mixer, swiglu(dims, bias=bias), rms_pair(dims))
    sparse = pre_norm(mixer, deepseek_moe(dims, width, shared, bias=bias), rms_pair(dims))
    layers = [dense if i < first else sparse for i in range(dims.layers)]
    return decoder(fields, name, model_type, dims, layers, tied=tied(fields, False))
