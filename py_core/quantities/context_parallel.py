"""Context parallelism: one long sequence cut over the cards.

Causal attention counts pairs (a token looks at itself and all before it). Cut in one
piece per card, the last card has the most; zig-zag gives card r pieces r and 2c−1−r of
2c, and all have the same. Ring Attention (Liu et al. 2023) passes K and V round; Ulysses
(Jacobs et al. 2023) swaps the cut of the sequence for a cut of the heads.
"""

from __future__ import annotations

from py_core.errors import Accepted, ScenarioError
from py_core.model import ANCHOR
from py_core.quantities.activations import activation_bytes_each
from py_core.quantities.splits import ulysses_cards, whole_pieces
from py_core.quantity import At, quantity
from py_core.terms import Named, Term, rounded_up, square


def _itself(at: At) -> Named:
    return at.given("1", 1, "tokens", "每个 token 也看自己")


def _pairs(at: At, card: Term | int, piece: Term) -> Term:
    """Pairs of the ``card``-th piece: all pieces before it, and half of its own square."""
    return card * square(piece) + piece * (piece + _itself(at)) / 2


@quantity("context_parallel.piece_tokens", "tokens", "上下文并行：连续切分，每张卡的 token 数", "ℓ")
def _(at: At) -> Term:
    whole_pieces(at, at.scenario.context_parallel, "context_parallel", "上下文并行的卡数")
    return at.sequence / at.context_parallel


@quantity(
    "context_parallel.half_piece_tokens", "tokens", "zig-zag：每张卡两段，每段的 token 数", "u"
)
def _(at: At) -> Term:
    pieces = 2 * at.scenario.context_parallel
    whole_pieces(at, pieces, "2 × context_parallel", "上下文并行的卡数的两倍")
    return at.sequence / (2 * at.context_parallel)


@quantity(
    "context_parallel.pairs_first", "pairs", "连续切分：第一张卡要算几对（查询与键）", "A_first"
)
def _(at: At) -> Term:
    piece = at("context_parallel.piece_tokens")
    return piece * (piece + _itself(at)) / 2


@quantity(
    "context_parallel.pairs_last", "pairs", "连续切分：最后一张卡要算几对（查询与键）", "A_last"
)
def _(at: At) -> Term:
    return _pairs(at, at.context_parallel - 1, at("context_parallel.piece_tokens"))


@quantity(
    "context_parallel.pairs_zigzag",
    "pairs",
    "zig-zag：每张卡要算几对（查询与键），张张一样",
    "A_zz",
)
def _(at: At) -> Term:
    # Pieces r and 2c−1−r together: (2c−1)·u² + u(u+1), whatever r is.
    c, u = at.context_parallel, at("context_parallel.half_piece_tokens")
    return (2 * c - 1) * square(u) + u * (u + _itself(at))


@quantity(
    "context_parallel.slowest_over_zigzag", "×", "连续切分：最忙的卡的计算量是 zig-zag 每张卡的几倍"
)
def _(at: At) -> Term:
    return at("context_parallel.pairs_last") / at("context_parallel.pairs_zigzag")


# The worked example: 16 tokens over 4 cards.


def _example(at: At) -> tuple[Named, Named]:
    return (
        at.given("n", 16, "tokens", "例子：一条 16 个 token 的序列"),
        at.given("c", 4, "count", "例子：切到 4 张卡上"),
    )


def _example_card(card: int) -> None:
    @quantity(
        f"context_parallel.example_card{card}",
        "pairs",
        f"例子，连续切分：{card} 号卡要算几对（查询与键）",
    )
    def _(at: At) -> Term:
        n, c = _example(at)
        r = at.given("r", card, "count", "卡的编号")
        return r * square(n / c) + n / c * (n / c + _itself(at)) / 2


for _card in range(4):
    _example_card(_card)


def _example_zigzag_card(card: int) -> None:
    name = f"context_parallel.example_zigzag_card{card}"

    @quantity(
        name,
        "pairs",
        f"例子，zig-zag：{card} 号卡一头一尾两段，要算几对（查询与键）",
        f"A_zz{card}",
    )
    def _(at: At) -> Term:
        n, c = _example(at)
        r, u = at.given("r", card, "count", "卡的编号"), n / (2 * c)
        return _pairs(at, r, u) + _pairs(at, 2 * c - 1 - r, u)


for _card in range(4):
    _example_zigzag_card(_card)


@quantity(
    "context_parallel.example_zigzag", "pairs", "例子，zig-zag：每张卡要算几对（查询与键）", "A_zz"
)
def _(at: At) -> Term:
    n, c = _example(at)
    u = n / (2 * c)
    return (2 * c - 1) * square(u) + u * (u + _itself(at))


# What travels in each full-attention layer, forward.


def _kv_width(at: At) -> Term:
    return at("model.kv_heads") * (at("model.head_dim") + at("model.v_head_dim"))


@quantity("context_parallel.kv_bytes", "GB", "每个全注意力层：整条序列的 K、V", "KV")
def _(at: At) -> Term:
    return _kv_width(at) * activation_bytes_each(at) * at.sequence


@quantity(
    "context_parallel.ring_sent_per_card",
    "GB",
    "Ring Attention：每个全注意力层前向，每张卡发出的 K、V",
)
def _(at: At) -> Term:
    whole_pieces(at, at.scenario.context_parallel, "context_parallel", "上下文并行的卡数")
    c = at.context_parallel
    return (c - 1) / c * at("context_parallel.kv_bytes")


def _ulysses(at: At, kv_width: Term) -> Term:
    """What a card keeps of its own piece stays; the rest, 1/c for each other card, is sent."""
    c = ulysses_cards(at)
    query_and_output = at("model.heads") * (at("model.head_dim") + at("model.v_head_dim"))
    return (
        (c - 1) / c * (at.sequence / c) * (query_and_output + kv_width) * activation_bytes_each(at)
    )


@quantity(
    "ulysses.sent_per_card",
    "GB",
    "Ulysses：每个全注意力层前向，每张卡发出的 Q、K、V 和输出；K、V 头不够分就复制",
)
def _(at: At) -> Term:
    return _ulysses(at, at("ulysses.kv_copies") * _kv_width(at))


@quantity(
    "ulysses.sent_per_card_unreplicated",
    "GB",
    "Ulysses，假如 K、V 不用复制：每个全注意力层前向，每张卡发出的 Q、K、V 和输出",
)
def _(at: At) -> Term:
    return _ulysses(at, _kv_width(at))


@quantity("ulysses.limit", "count", "Ulysses 不复制 K、V 时最多切到几张卡：K、V 的头数", "c_max")
def _(at: At) -> Term:
    return at("model.kv_heads")


@quantity("ulysses.kv_copies", "count", "Ulysses：每个 K、V 头要放在几张卡上", "r_kv")
def _(at: At) -> Term:
    return rounded_up(ulysses_cards(at) / at("model.kv_heads"))


@quantity(
    "linear_attention.state_bytes", "MB", "每个 Gated DeltaNet 层：序列在切口处传给下一张卡的状态"
)
def _(at: At) -> Term:
    heads = _linear(at, "linear_num_value_heads", "n_lv", "线性注意力的 V 头数")
    keys = _linear(at, "linear_key_head_dim", "d_lk", "线性注意力里 K 的每个头的维度")
    values = _linear(at, "linear_value_head_dim", "d_lv", "线性注意力里 V 的每个头的维度")
    return heads * keys * values * at.given("4", 4, "B", "状态以 fp32 存放，每个元素 4 字节")


def _linear(at: At, field: str, symbol: str, says: str) -> Named:
    for pointer, value in at.inventory.sources.items():
        if pointer.endswith(f"/{field}") and isinstance(value, int):
            return at.config(symbol, value, "count", pointer, says)
    accepted = Accepted(
        f"one with linear attention, such as model={ANCHOR} (this one has none)",
        f"带线性注意力的模型，例如 {ANCHOR}（这个模型没有）",
    )
    raise ScenarioError("model", at.scenario.model.name, accepted)
