"""Mixture-of-experts blocks, multi-head latent attention and Gated DeltaNet."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from py_core.errors import Accepted, ConfigError
from py_core.fields import EXPERTS, LAYERS, Fields
from py_core.inventory import Dims
from py_core.models.blocks import Block, Ranked, Spec, linear, rms_norm, swiglu


def share(dims: Dims) -> Fraction:
    """The part of the routed experts that works on one token: top_k / experts."""
    return Fraction(dims.top_k, dims.experts)


def experts(dims: Dims, width: int, *, at: str, names: tuple[str, str, str]) -> Block:
    """Routed experts, each a SwiGLU of ``width``: three matrices, counted ``experts`` times."""
    gate, up, down = names
    wide, narrow, active = (width, dims.hidden), (dims.hidden, width), share(dims)
    return (
        Spec(f"{at}.{{}}.{gate}.weight", wide, "expert", 0, dims.experts, active),
        Spec(f"{at}.{{}}.{up}.weight", wide, "expert", 1, dims.experts, active),
        Spec(f"{at}.{{}}.{down}.weight", narrow, "expert", 2, dims.experts, active),
    )


def fused_experts(dims: Dims, width: int, *, at: str) -> Block:
    """The same experts as two three-dimensional tensors, where the checkpoint has them so."""
    active = share(dims)
    return (
        Spec(f"{at}.gate_up_proj", (dims.experts, 2 * width, dims.hidden), "expert", 0, 1, active),
        Spec(f"{at}.down_proj", (dims.experts, dims.hidden, width), "expert", 1, 1, active),
    )


NAMES = ("gate_proj", "up_proj", "down_proj")


def router(dims: Dims, name: str) -> Block:
    """Scores of all experts: experts × hidden."""
    return linear(name, dims.experts, dims.hidden, "router", 0)


def deepseek_moe(dims: Dims, width: int, shared: int, *, bias: bool = False) -> Ranked:
    """DeepSeek's MoE (arXiv 2401.06066): router, routed experts, then the shared expert.

    The score-correction bias of V3 is a buffer, not trained by gradients, and not counted.
    """
    inside: Ranked = [
        (1, experts(dims, width, at="mlp.experts", names=NAMES)),
        (0, router(dims, "mlp.gate")),
    ]
    if shared:
        at, role = "mlp.shared_experts", "shared_expert"
        inside.append((2, swiglu(dims, shared * width, at=at, bias=bias, role=role)))
    return inside


def qwen_moe(dims: Dims, routed: Block, shared: int) -> Ranked:
    """Qwen's MoE: shared expert first, router, routed experts, then the shared expert's gate."""
    gate = linear("mlp.shared_expert_gate", 1, dims.hidden, "shared_expert", 0)
    expert = swiglu(dims, shared, at="mlp.shared_expert", role="shared_expert")
    return [(1, router(dims, "mlp.gate")), (2, routed), (0, expert), (3, gate)]


def sparse_layers(fields: Fields, dims: Dims) -> list[bool]:
    """Which layers are MoE by Qwen's rule: every ``decoder_sparse_step``-th, none listed apart."""
    step = fields.integer("decoder_sparse_step", default=1, high=LAYERS)
    dense = fields.integers("mlp_only_layers", low=0, high=LAYERS)
    return [(i + 1) % step == 0 and i not in dense for i in range(dims.layers)]


def mla(dims: Dims, fields: Fields, *, bias: bool) -> Block:
    """Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434 §2.1).

    Queries through a ``q_lora_rank`` bottleneck (none if null), keys and values through
    ``kv_lora_rank`` plus one shared rotary key.
    """
    rotary = fields.integer("qk_rope_head_dim", default=64)
    kv_rank = fields.integer("kv_lora_rank", default=512)
    plain_q = fields.null("q_lora_rank")
    q_rank = fields.integer("q_lora_rank", default=1536)
    at, role, q = "self_attn", "attention", dims.heads * dims.head_dim
    kv = dims.heads * (dims.head_dim - rotary + dims.v_head_dim)
    if plain_q:
        block = linear(f"{at}.q_proj", q, dims.hidden, role, 0)
    else:
        block = (
            *linear(f"{at}.q_a_proj", q_rank, dims.hidden, role, 0, bias=bias),
            *rms_norm(f"{at}.q_a_layernorm", q_rank, role, 1),
            *linear(f"{at}.q_b_proj", q, q_rank, role, 2),
        )
    return (
        *block,
        *linear(f"{at}.kv_a_proj_with_mqa", kv_rank + rotary, dims.hidden, role, 3, bias=bias),
        *rms_norm(f"{at}.kv_a_layernorm", kv_rank, role, 4),
        *linear(f"{at}.kv_b_proj", kv, kv_rank, role, 5),
        *linear(f"{at}.o_proj", dims.hidden, dims.heads * dims.v_head_dim, role, 6, bias=bias),
    )


@dataclass(frozen=True, slots=True)
class Delta:
    """Sizes of a Gated DeltaNet mixer (arXiv 2412.06464)."""

    keys: int  # heads × head size
    values: int
    value_heads: int
    value_dim: int
    kernel: int

    @classmethod
    def read(cls, fields: Fields) -> Delta:
        """From the ``linear_*`` fields; value heads must come in whole groups per key head."""
        key_heads = fields.integer("linear_num_key_heads", default=16, high=EXPERTS)
        heads = fields.integer("linear_num_value_heads", default=32, high=EXPERTS)
        key_dim = fields.integer("linear_key_head_dim", default=128)
        value_dim = fields.integer("linear_value_head_dim", default=128)
        if heads % key_heads:
            accepted = Accepted(f"a multiple of {key_heads:,}", f"{key_heads:,} 的倍数")
            raise ConfigError(fields.pointer("linear_num_value_heads"), heads, accepted)
        kernel = fields.integer("linear_conv_kernel_dim", default=4, high=1_000)
        return cls(key_heads * key_dim, heads * value_dim, heads, value_dim, kernel)


def delta_net(dims: Dims, d: Delta, *, fused: bool, at: str = "linear_attn") -> Block:
    """Gated DeltaNet: projections, causal convolution over q, k, v, decay, gated norm, output.

    ``fused``: one matrix for q, k, v, z and one for b, a (Qwen3-Next), else four (Qwen3.5),
    which are also registered later.
    """
    role, conv = "linear_attention", 2 * d.keys + d.values
    first = (
        Spec(f"{at}.dt_bias", (d.value_heads,), role, 12),
        Spec(f"{at}.A_log", (d.value_heads,), role, 11),
        Spec(f"{at}.conv1d.weight", (conv, 1, d.kernel), role, 10),
    )
    last = (
        *rms_norm(f"{at}.norm", d.value_dim, role, 7),
        *linear(f"{at}.out_proj", dims.hidden, d.values, role, 8),
    )
    if fused:
        return (
            *first,
            *linear(f"{at}.in_proj_qkvz", conv + d.values, dims.hidden, role, 0),
            *linear(f"{at}.in_proj_ba", 2 * d.value_heads, dims.hidden, role, 1),
            *last,
        )
    return (
        *first,
        *last,
        *linear(f"{at}.in_proj_qkv", conv, dims.hidden, role, 0),
        *linear(f"{at}.in_proj_z", d.values, dims.hidden, role, 1),
        *linear(f"{at}.in_proj_b", d.value_heads, dims.hidden, role, 2),
        *linear(f"{at}.in_proj_a", d.value_heads, dims.hidden, role, 3),
    )
