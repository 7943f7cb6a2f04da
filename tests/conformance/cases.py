"""Which configs transformers is asked about: the published ones, tiny ones, bare ones.

Standard library only; ``record.py`` is the one that imports transformers.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

Config = dict[str, Any]
DATA = Path(__file__).resolve().parents[2] / "docs" / "data"

# One published config for each model_type, to shrink and to strip.
EXAMPLES = {
    "bloom": "bloom-560m",
    "deepseek_v2": "deepseek-v2-lite",
    "deepseek_v3": "deepseek-v3",
    "falcon": "falcon-7b",
    "gemma": "gemma-2b",
    "gemma2": "gemma-2-2b",
    "gemma3": "gemma-3-4b",
    "gemma3_text": "gemma-3-1b",
    "glm4": "glm-4-9b-0414",
    "glm4_moe": "glm-4.5-air",
    "gpt2": "gpt2",
    "gpt_neox": "pythia-6.9b",
    "gpt_oss": "gpt-oss-20b",
    "kimi_k2": "kimi-k2",
    "llama": "llama-3.1-8b",
    "mistral": "mistral-7b-v0.3",
    "mixtral": "mixtral-8x7b",
    "olmo2": "olmo-2-7b",
    "phi3": "phi-4",
    "qwen2": "qwen2-0.5b",
    "qwen2_moe": "qwen1.5-moe-a2.7b",
    "qwen3": "qwen3-8b",
    "qwen3_5": "anchor",
    "qwen3_5_moe": "qwen3.5-35b-a3b",
    "qwen3_moe": "qwen3-30b-a3b",
    "qwen3_next": "qwen3-next-80b-a3b",
    "starcoder2": "starcoder2-7b",
}

_TINY = {
    **dict.fromkeys(("hidden_size", "n_embd", "out_hidden_size", "num_position_embeddings"), 64),
    **dict.fromkeys(("num_attention_heads", "n_head", "num_heads", "num_kv_heads"), 4),
    **dict.fromkeys(("linear_num_value_heads", "num_experts"), 4),
    **dict.fromkeys(("n_routed_experts", "num_local_experts", "num_hidden_layers"), 4),
    **dict.fromkeys(("num_key_value_heads", "linear_num_key_heads", "n_layer", "depth"), 2),
    **dict.fromkeys(("num_experts_per_tok", "experts_per_token"), 2),
    **dict.fromkeys(("head_dim", "linear_key_head_dim", "linear_value_head_dim"), 16),
    **dict.fromkeys(("kv_lora_rank", "qk_nope_head_dim", "v_head_dim"), 16),
    **dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1),
    **{"intermediate_size": 96, "moe_intermediate_size": 32, "n_positions": 64},
    **{"shared_expert_intermediate_size": 48, "vocab_size": 128, "q_lora_rank": 24},
    **{"qk_rope_head_dim": 8, "image_size": 56},
}
_DROP: tuple[str, ...] = (
    "bos_token_id",
    "eos_token_id",
    "pad_token_id",
    "rope_scaling",
    "torch_dtype",
    "dtype",
)
_DROP += ("auto_map", "quantization_config", "transformers_version", "task_specific_params")
_MLA = ("deepseek_v2", "deepseek_v3", "kimi_k2")

# What each reference class needs to be told, and a bare config keeps.
_CORE: tuple[str, ...] = (
    "model_type",
    "architectures",
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
)
_CORE += ("num_attention_heads", "intermediate_size", "n_embd", "n_layer", "n_head")

# Changes to a tiny config, each of which turns some tensors on, off or over.
VARIANTS: dict[str, list[Config]] = {
    "bloom": [{"tie_word_embeddings": False}, {"n_embed": 32}, {"n_inner": 7}],
    "deepseek_v2": [{"attention_bias": True, "mlp_bias": True}, {"q_lora_rank": 24}],
    "deepseek_v3": [{"attention_bias": True}, {"q_lora_rank": None}, {"n_shared_experts": 3}],
    "falcon": [
        {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True},
        {"new_decoder_architecture": True, "num_ln_in_parallel_attn": 1, "num_kv_heads": 2},
        {"parallel_attn": False, "multi_query": False, "tie_word_embeddings": False},
        {"new_decoder_architecture": True, "num_kv_heads": 2, "ffn_hidden_size": 80},
    ],
    "gemma": [{"attention_bias": True, "tie_word_embeddings": False}],
    "gemma2": [{"attention_bias": True, "tie_word_embeddings": False}],
    "gemma3": [{"tie_word_embeddings": False}, {"vision_config": {"vision_use_head": True}}],
    "gemma3_text": [{"attention_bias": True, "tie_word_embeddings": False}],
    "glm4": [{"attention_bias": False, "tie_word_embeddings": True}],
    "glm4_moe": [{"use_qk_norm": True}, {"attention_bias": False, "n_shared_experts": 2}],
    "gpt2": [{"n_inner": 80, "tie_word_embeddings": False}],
    "gpt_neox": [{"attention_bias": False, "tie_word_embeddings": True}],
    "gpt_oss": [{"attention_bias": False, "tie_word_embeddings": True}],
    "llama": [
        {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True},
        {"head_dim": 24, "num_key_value_heads": None},
    ],
    "mistral": [{"head_dim": 24, "tie_word_embeddings": True}],
    "mixtral": [{"head_dim": 24, "tie_word_embeddings": True}],
    "olmo2": [{"attention_bias": True, "tie_word_embeddings": True}],
    "phi3": [{"tie_word_embeddings": True, "head_dim": 24}],
    "qwen2": [{"tie_word_embeddings": False, "head_dim": 24}],
    "qwen2_moe": [
        {"mlp_only_layers": [1, 2], "qkv_bias": False},
        {"decoder_sparse_step": 2, "tie_word_embeddings": True},
    ],
    "qwen3": [{"attention_bias": True, "tie_word_embeddings": True}],
    "qwen3_5": [
        {"text_config": {"tie_word_embeddings": True}, "tie_word_embeddings": None},
        {"tie_word_embeddings": True, "text_config": {"attention_bias": True}},
        {"text_config": {"layer_types": None, "full_attention_interval": 2}},
        {"vision_config": None},
    ],
    "qwen3_5_moe": [{"tie_word_embeddings": True, "text_config": {"attention_bias": True}}],
    "qwen3_moe": [
        {"mlp_only_layers": [0], "attention_bias": True},
        {"decoder_sparse_step": 3, "tie_word_embeddings": True},
    ],
    "qwen3_next": [
        {"mlp_only_layers": [3], "attention_bias": True, "full_attention_interval": 2},
        {"decoder_sparse_step": 2, "tie_word_embeddings": True},
    ],
    "starcoder2": [{"use_bias": False, "tie_word_embeddings": False}],
}


# Where a default does not divide the example's heads, which we refuse and the class does
# not look at, or where there is no default at all.
_FITTING: dict[str, Config] = {
    "deepseek_v2": {"num_experts_per_tok": 6},
    "gemma": {"num_attention_heads": 16},
    "glm4_moe": {"head_dim": 128},
    "qwen2": {"num_attention_heads": 32, "hidden_size": 1024},
    "starcoder2": {"num_attention_heads": 24, "hidden_size": 3072},
}


def published() -> dict[str, Config]:
    """Every committed config by file name; the lesson's own model is ``anchor``."""
    files = {path.stem: path for path in sorted((DATA / "models").glob("*.json"))}
    files["anchor"] = DATA / "anchor-model.json"
    return {slug: json.loads(path.read_text())["config"] for slug, path in files.items()}


def tiny(config: Config) -> Config:
    """The same architecture in a few thousand parameters per layer."""
    small = {key: _shrink(key, value) for key, value in config.items() if key not in _DROP}
    if config["model_type"] in _MLA:
        small |= {"num_key_value_heads": 4, "n_group": 1, "topk_group": 1}
    if config["model_type"] == "gemma3":
        text = {"vocab_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2}
        small["text_config"] |= {**text, "head_dim": 16}
    return small | {"pad_token_id": 0}  # some defaults lie outside a tiny vocabulary


def _shrink(key: str, value: Any) -> Any:
    if isinstance(value, dict) and key.endswith("_config"):
        return {k: _shrink(k, v) for k, v in value.items() if k not in _DROP}
    if key == "layer_types":
        return value[:4]
    if key == "rope_parameters":
        return value | {"mrope_section": [1, 1, 0]}
    return _TINY[key] if key in _TINY and value is not None else copy.deepcopy(value)


def varied(config: Config, change: Config) -> Config:
    """``config`` with ``change`` laid over it, section by section; None removes a field
    of the example and stays as null where it was not there."""
    result = copy.deepcopy(config)
    for key, value in change.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = varied(result[key], value)
        elif value is None and key in result and key not in ("q_lora_rank", "num_key_value_heads"):
            del result[key]
        else:
            result[key] = value
    return result


def bare(config: Config) -> Config:
    """Only what has no default worth having: everything else is the reference's default."""
    kept = {key: value for key, value in config.items() if key in _CORE}
    kept |= _FITTING.get(config["model_type"], {})
    if "text_config" in config:
        kept["text_config"] = {k: v for k, v in config["text_config"].items() if k in _CORE}
    return kept
