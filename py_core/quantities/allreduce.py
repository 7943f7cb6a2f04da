"""What one all-reduce of the gradient moves: the naive scheme and the ring.

Ring: Patarasuk & Yuan (2009). Naive: card 0 gathers all gradients, adds them up and
sends the sum back. Steps, totals and times of these and all other schemes are in
:mod:`py_core.quantities.schemes`.
"""

from __future__ import annotations

from fractions import Fraction

from py_core.errors import Accepted, ScenarioError
from py_core.quantity import At, quantity
from py_core.terms import Term, smaller, whole_part


def _in_one_node(at: At) -> bool:
    return at.scenario.cards <= at.scenario.cards_per_node


@quantity("link.bandwidth", "GB/s", "最慢一段链路的单向带宽：卡都在一台机器里时，是机内带宽", "W")
def _(at: At) -> Term:
    return at.node_bandwidth if _in_one_node(at) else at.bandwidth


@quantity("link.latency", "µs", "最慢一段链路上每条消息的固定开销", "α")
def _(at: At) -> Term:
    return at.node_latency if _in_one_node(at) else at.latency


@quantity("cluster.cards_in_node", "count", "一台机器里参与数据并行的卡数", "g")
def _(at: At) -> Term:
    return smaller(at.cards, at.cards_per_node)


@quantity("cluster.nodes", "count", "机器数", "n")
def _(at: At) -> Term:
    nodes = at.cards / at("cluster.cards_in_node")
    if nodes.value.denominator != 1:
        n = at.scenario.cards
        raise ScenarioError(
            "cards_per_node",
            at.scenario.cards_per_node,
            Accepted(f"a divisor of cards = {n}", f"卡数 {n} 的约数"),
        )
    return nodes


@quantity("ring.coefficient", "ratio", "环形的系数：每张卡发出的字节 ÷ 梯度的字节", "c_ring")
def _(at: At) -> Term:
    n = at.cards
    return 2 * (n - 1) / n


@quantity("ring.sent_per_card", "GB", "环形 all-reduce：同步一次梯度，每张卡发出的字节", "A")
def _(at: At) -> Term:
    n, g = at.cards, at("gradient.bytes")
    return 2 * (n - 1) / n * g


@quantity("ring.block_bytes", "GB", "环形：一块的字节，梯度的 1/N", "G_blk")
def _(at: At) -> Term:
    return at("gradient.bytes") / at.cards


@quantity("ring.limit", "GB", "环形 all-reduce：卡再多，每张卡发出的字节也不到这个数", "A_lim")
def _(at: At) -> Term:
    return 2 * at("gradient.bytes")


@quantity("naive.received_by_card0", "GB", "朴素做法：0 号卡收到的字节（不算发回的）", "R₀")
def _(at: At) -> Term:
    return (at.cards - 1) * at("gradient.bytes")


@quantity("naive.received_by_others", "GB", "朴素做法：其余每张卡收到的字节", "R₁")
def _(at: At) -> Term:
    return at("gradient.bytes")


@quantity("naive.card0_over_others", "×", "朴素做法：0 号卡收到的字节是其余每张卡的几倍", "R₀/R₁")
def _(at: At) -> Term:
    return at("naive.received_by_card0") / at("naive.received_by_others")


@quantity("naive.gather_seconds", "s", "朴素做法：0 号卡光是收完要多久（不计每条消息的固定开销）")
def _(at: At) -> Term:
    return at("naive.received_by_card0") / at("link.bandwidth")


@quantity("naive.over_ring", "×", "朴素做法的 0 号卡收到的字节是环形每张卡的几倍", "r_n")
def _(at: At) -> Term:
    return at("naive.received_by_card0") / at("ring.sent_per_card")


@quantity("tree.sent_by_leaf", "GB", "二项树：一个叶子发出的字节", "A_leaf")
def _(at: At) -> Term:
    return at("gradient.bytes")


@quantity(
    "allreduce.transfers_per_element",
    "count",
    "每个元素都加齐、再送到所有卡，至少要传几次",
    "n_min",
)
def _(at: At) -> Term:
    return 2 * (at.cards - 1)


@quantity(
    "allreduce.least_in_total",
    "GB",
    "任何 all-reduce 至少要传的字节，所有卡合计（交换机不帮忙加）",
    "A_min",
)
def _(at: At) -> Term:
    return at("allreduce.transfers_per_element") * at("gradient.bytes")


@quantity(
    "allreduce.least_by_busiest",
    "GB",
    "最忙的卡至少要发出的字节：合计至少要传的平摊到 N 张卡",
    "a_min",
)
def _(at: At) -> Term:
    return at("allreduce.least_in_total") / at.cards


@quantity(
    "ring.growth_8_to_1024", "×", "环形：卡数从 8 到 1,024，每张卡发出的字节涨到几倍", "r_ring"
)
def _(at: At) -> Term:
    return _growth(at, "ring.sent_per_card")


@quantity(
    "naive.growth_8_to_1024",
    "×",
    "朴素做法：卡数从 8 到 1,024，0 号卡收到的字节涨到几倍",
    "r_naive",
)
def _(at: At) -> Term:
    return _growth(at, "naive.received_by_card0")


def _growth(at: At, name: str) -> Term:
    few, many = at.where(cards=8), at.where(cards=1024)
    return many(name) / few(name)


@quantity("ring.growth_when_doubled", "×", "环形：卡数翻倍，每张卡发出的字节涨到几倍", "r2_ring")
def _(at: At) -> Term:
    n = at.cards
    return (2 * n - 1) / (2 * n) / ((n - 1) / n)


@quantity(
    "naive.growth_when_doubled", "×", "朴素做法：卡数翻倍，0 号卡收到的字节涨到几倍", "r2_naive"
)
def _(at: At) -> Term:
    n = at.cards
    return (2 * n - 1) / (n - 1)


@quantity("ring.cards_above_coefficient", "count", "从几张卡起，环形的系数超过 1.9", "N_x")
def _(at: At) -> Term:
    # 2(N−1)/N > x  ⇔  N > 2/(2−x)
    x = at.given("x", Fraction(19, 10), "ratio", "本课随手取的一个接近 2 的系数")
    return whole_part(2 / (2 - x)) + 1
