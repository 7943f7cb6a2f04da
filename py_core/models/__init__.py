"""Registry of architectures: a config's ``model_type`` leads to one small module.

Adding an architecture is one file here and one line in :data:`_ARCHITECTURES`. Modules
load when first asked for. Each has ``build(fields, name, model_type) -> Inventory``, and
says which fields it reads, with the defaults of its reference implementation, Hugging
Face transformers 5.24 unless it names another.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from py_core.errors import ABSENT, ConfigError, one_of
from py_core.fields import Fields
from py_core.inventory import Inventory

_ARCHITECTURES: Final[dict[str, str]] = {
    "bloom": "bloom",
    "deepseek_v2": "deepseek_v2",
    "deepseek_v3": "deepseek_v3",
    "falcon": "falcon",
    "gemma": "gemma",
    "gemma2": "gemma2",
    "gemma3": "gemma3",
    "gemma3_text": "gemma3",
    "glm4": "glm4",
    "glm4_moe": "glm4_moe",
    "gpt2": "gpt2",
    "gpt_neox": "gpt_neox",
    "gpt_oss": "gpt_oss",
    "kimi_k2": "deepseek_v3",
    "llama": "llama",
    "mistral": "mistral",
    "mixtral": "mixtral",
    "olmo2": "olmo2",
    "phi3": "phi3",
    "qwen2": "qwen2",
    "qwen2_moe": "qwen2_moe",
    "qwen3": "qwen3",
    "qwen3_5": "qwen3_5",
    "qwen3_5_moe": "qwen3_5",
    "qwen3_5_moe_text": "qwen3_5",
    "qwen3_5_text": "qwen3_5",
    "qwen3_moe": "qwen3_moe",
    "qwen3_next": "qwen3_next",
    "starcoder2": "starcoder2",
}


def known() -> tuple[str, ...]:
    """Every ``model_type`` that can be counted."""
    return tuple(_ARCHITECTURES)


def inventory(config: dict[str, Any], name: str | None = None) -> Inventory:
    """The tensors of the model that ``config`` (a parsed ``config.json``) describes.

    ``name`` is what to call it; else the config's own ``_name_or_path``, else its type.
    Raises :class:`ConfigError` with the JSON pointer of the field, the value, and what
    would be accepted; for an unknown ``model_type`` that is the list of known ones.
    """
    fields = Fields(config)
    model_type = config.get("model_type")
    if not isinstance(model_type, str) or model_type not in _ARCHITECTURES:
        got = ABSENT if model_type is None else model_type
        raise ConfigError(fields.pointer("model_type"), got, one_of(known()))
    fields.strings("architectures")
    own = fields.text("_name_or_path", default=model_type) if config.get("_name_or_path") else None
    name = model_type if own is None and name is None else name or own or model_type
    module = import_module(f"{__name__}.{_ARCHITECTURES[model_type]}")
    built = module.build(fields, Fields({"name": name}).text("name"), model_type)
    assert isinstance(built, Inventory)
    return built
