"""Building blocks: what stands inside one layer, and in which order it is used.

A block is a tuple of :class:`Spec` in registration order. Each spec carries a ``step``,
its place in the block's forward; :func:`layer` interleaves blocks into one layer whose
steps are so numbered that gradients arrive in falling order. That is autograd's own
rule (the operation recorded last runs first), with two habits of its kernels, seen in
torch 2.13 (tests/conformance/fixtures/arrival.json): a Linear hands out its bias before
its weight, a LayerNorm its weight before its bias.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from py_core.inventory import ALL, Dims


class Spec(NamedTuple):
    """A tensor of a layer, or ``copies`` alike ones: name below the layer's prefix, shape."""

    name: str
    shape: tuple[int, ...]
    role: str
    step: int
    copies: int = 1
    active: Fraction = ALL


Block = tuple[Spec, ...]
Ranked = list[tuple[int, Block]]  # blocks in registration order, with their rank in the forward


def linear(name: str, out: int, into: int, role: str, step: int, *, bias: bool = False) -> Block:
    """``out × into`` weight, and a bias whose gradient comes first."""
    weight = Spec(f"{name}.weight", (out, into), role, 2 * step)
    if not bias:
        return (weight,)
    return (weight, Spec(f"{name}.bias", (out,), role, 2 * step + 1))


def rms_norm(name: str, width: int, role: str = "norm", step: int = 0) -> Block:
    """One weight vector."""
    return (Spec(f"{name}.weight", (width,), role, 2 * step),)


def layer_norm(name: str, width: int, role: str = "norm", step: int = 0) -> Block:
    """Weight and bias vector; here the weight's gradient comes first."""
    return (
        Spec(f"{name}.weight", (width,), role, 2 * step + 1),
        Spec(f"{name}.bias", (width,), role, 2 * step),
    )


def layer(registered: Ranked) -> Block:
    """One layer from ``(rank, block)`` pairs: listed as registered, run in order of rank."""
    ranked = [(rank, spec) for rank, block in registered for spec in block]
    order = sorted(range(len(ranked)), key=lambda i: (ranked[i][0], ranked[i][1].step))
    steps = {index: step for step, index in enumerate(order)}
    return tuple(spec._replace(step=steps[i]) for i, (_, spec) in enumerate(ranked))


def attention(
    dims: Dims,
    *,
    at: str = "self_attn",
    bias: bool = False,
    out_bias: bool | None = None,
    norm: str = "",
    norm_last: bool = False,
    gated: bool = False,
    sinks: bool = False,
    role: str = "attention",
) -> Block:
    """Softmax attention with grouped key/value heads.

    ``norm``: "" for none, "head" for one q/k norm over a head, "all" over all heads;
    applied right after each projection, or after all three with ``norm_last`` (which only
    the order of gradients can tell). ``gated``: q_proj also makes an output gate.
    """
    q, kv = dims.heads * dims.head_dim, dims.kv_heads * dims.head_dim
    out_bias = bias if out_bias is None else out_bias
    block: Block = (Spec(f"{at}.sinks", (dims.heads,), role, 12),) if sinks else ()
    block += linear(f"{at}.q_proj", q * (1 + gated), dims.hidden, role, 0, bias=bias)
    block += linear(f"{at}.k_proj", kv, dims.hidden, role, 2, bias=bias)
    block += linear(f"{at}.v_proj", kv, dims.hidden, role, 4, bias=bias)
    block += linear(f"{at}.o_proj", dims.hidden, q, role, 7, bias=out_bias)
    if norm:
        one = norm == "head"
        q_step, k_step = (5, 6) if norm_last else (1, 3)
        block += rms_norm(f"{at}.q_norm", dims.head_dim if one else q, role, q_step)
        block += rms_norm(f"{at}.k_norm", dims.head_dim if one else kv, role, k_step)
    return block


def swiglu(
    dims: Dims, width: int | None = None, *, at: str = "mlp", bias: bool = False, role: str = "mlp"
) -> Block:
    """Gated feed-forward: gate and up (width × hidden), down (hidden × width)."""
    width = dims.intermediate if width is None else width
    return (
        *linear(f"{at}.gate_proj", width, dims.hidden, role, 0, bias=bias),
        *linear(f"{at}.up_proj", width, dims.hidden, role, 1, bias=bias),
        *linear(f"{at}.down_proj", dims.hidden, width, role, 2, bias=bias),
    )


def fused_swiglu(dims: Dims, *, at: str = "mlp") -> Block:
    """The same with gate and up in one matrix."""
    return (
        *linear(f"{at}.gate_up_proj", 2 * dims.intermediate, dims.hidden, "mlp", 0),
        *linear(f"{at}.down_proj", dims.hidden, dims.intermediate, "mlp", 1),
    )


def two_linear(dims: Dims, up: str, down: str, *, bias: bool) -> Block:
    """Plain feed-forward: up, activation, down."""
    return (
        *linear(up, dims.intermediate, dims.hidden, "mlp", 0, bias=bias),
        *linear(down, dims.hidden, dims.intermediate, "mlp", 1, bias=bias),
    )


def pre_norm(mixer: Block, mlp: Block | Ranked, norms: tuple[Block, Block]) -> Block:
    """The common decoder layer: norm, attention, norm, MLP; norms registered last.

    ``mlp`` may be several blocks with ranks of their own (a mixture of experts).
    """
    inside = mlp if isinstance(mlp, list) else [(0, mlp)]
    return layer(
        [(0, mixer), *((2 + rank, block) for rank, block in inside), (-1, norms[0]), (1, norms[1])]
    )


def rms_pair(dims: Dims) -> tuple[Block, Block]:
    """``input_layernorm`` and ``post_attention_layernorm`` as RMSNorm."""
    return rms_norm("input_layernorm", dims.hidden), rms_norm(
        "post_attention_layernorm", dims.hidden
    )
