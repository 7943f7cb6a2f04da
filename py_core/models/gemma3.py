"""Gemma 3 (arXiv 2503.19786): Gemma 2's layer with q/k norms; tied; from 4B on it sees.

The multimodal configs leave out most of the text model, even the vocabulary: transformers'
defaults stand for it. Its vision tower is SigLIP, joined by one projection and a norm.
"""

from py_core.fields import Fields
from py_core.inventory import Inventory
from py_core.models.blocks import Block, Spec, attention, rms_norm
from py_core.models.build import decoder, tied
from py_core.models.dims import read_dims, read_dtype
from py_core.models.gemma2 import sandwich
from py_core.models.vision import siglip

DEFAULTS = {"vocab": 262_208, "heads": 8, "kv_heads": 4, "head_dim": 256}


def build(fields: Fields, name: str, model_type: str) -> Inventory:
    sees = model_type == "gemma3"
    text = fields.section("text_config") if sees else fields
    dims = read_dims(text, defaults=DEFAULTS)
    bias = text.flag("attention_bias", default=False)
    layer = sandwich(dims, attention(dims, bias=bias, norm="head", norm_last=True))
    return decoder(
        fields,
        name,
        model_type,
        dims,
        [layer] * dims.layers,
        tied=tied(fields, True),
        root="model.language_model." if sees else "model.",
        dtype=read_dtype(text, fields),
        vision=vision(fields, dims.hidden) if sees else (),
    )


def vision(fields: Fields, hidden: int) -> list[tuple[str, Block]]:
    """The tower, and the projector from its width to the text model's ``hidden``."""
    config = fields.section("vision_config", optional=True)
    config.choice("model_type", known=("siglip_vision_model",), default="siglip_vision_model")
    tower = siglip(config)
    width = config.integer("hidden_size", default=768)
    projector = (
        Spec("mm_input_projection_weight", (width, hidden), "vision", 0),
        *rms_norm("mm_soft_emb_norm", width),
    )
    return [("model.vision_tower.", tower), ("model.multi_modal_projector.", projector)]
