"""What a model and a step can be cut into; what cannot run is refused, never answered.

Attention is cut by whole heads: the cards have to divide the query heads, and the K and V
heads have to divide evenly, or be copied evenly, over the cards. Megatron-LM and vLLM
refuse other sizes as well.
"""

from __future__ import annotations

from typing import NoReturn

from py_core.errors import Accepted, ScenarioError
from py_core.quantity import At
from py_core.terms import Named


def refuse(at: At, field: str, english: str, chinese: str) -> NoReturn:
    """Raise ScenarioError: ``field`` of this Scenario should have been what the texts say."""
    raise ScenarioError(field, getattr(at.scenario, field), Accepted(english, chinese))


def tensor_cards(at: At) -> Named:
    """The tensor-parallel cards t. Raises ScenarioError where heads do not divide over them."""
    _whole_heads(at, "tensor_parallel")
    for pointer, heads in at.inventory.sources.items():
        # Linear attention has heads of its own, and tensor parallelism cuts them too.
        linear = pointer.endswith(("/linear_num_key_heads", "/linear_num_value_heads"))
        if linear and isinstance(heads, int) and heads % at.scenario.tensor_parallel:
            _divisor(at, "tensor_parallel", heads, "linear-attention heads", "线性注意力的头数")
    return at.tensor_parallel


def ulysses_cards(at: At) -> Named:
    """The context-parallel cards c, over which Ulysses deals the heads out."""
    _whole_heads(at, "context_parallel")
    whole_pieces(at, at.scenario.context_parallel, "context_parallel", "上下文并行的卡数")
    return at.context_parallel


def whole_pieces(at: At, pieces: int, english: str, chinese: str) -> None:
    """Raise ScenarioError where the sequence does not fall into ``pieces`` equal pieces."""
    if at.scenario.sequence % pieces:
        refuse(at, "sequence", f"a multiple of {english} = {pieces}", f"{chinese} {pieces} 的倍数")


def stages(at: At, chunks: int = 1) -> Named:
    """The pipeline stages p, of ``chunks`` pieces each. Raises ScenarioError where a piece
    would have no layer."""
    p, layers = at.scenario.pipeline_stages, at.inventory.dims.layers
    if p > layers:
        refuse(
            at,
            "pipeline_stages",
            f"at most {layers}, the number of layers",
            f"不超过层数 {layers} 的整数",
        )
    if p * chunks > layers:
        refuse(
            at,
            "interleave",
            f"at most {layers // p}: {layers} layers, {p} stages",
            f"不超过 {layers // p} 的整数：{layers} 层要分给 {p} 级",
        )
    return at.pipeline_stages


def _whole_heads(at: At, field: str) -> None:
    cards, dims = getattr(at.scenario, field), at.inventory.dims
    if dims.heads % cards:
        _divisor(at, field, dims.heads, "attention heads", "注意力头数")
    if dims.kv_heads % cards and cards % dims.kv_heads:
        refuse(
            at,
            field,
            f"a divisor or a multiple of {dims.kv_heads} K/V heads",
            f"K、V 头数 {dims.kv_heads} 的约数或倍数",
        )


def _divisor(at: At, field: str, heads: int, english: str, chinese: str) -> NoReturn:
    refuse(at, field, f"a divisor of {heads} {english}", f"{chinese} {heads} 的约数")
