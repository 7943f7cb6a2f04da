"""All-reduce schemes compared: steps, bytes and α–β times of each.

The model (Thakur, Rabenseifner & Gropp 2005): a message costs α seconds and then its
bytes ÷ W; a card sends and receives at once, over one port; adding up is free. A scheme
is its steps, what its busiest card sends, what all cards send together, and the bytes
that have to go through one after another. Time = steps × α + those bytes ÷ W.

Every scheme registers the same six names: ``<scheme>.steps``, ``.sent_by_busiest``,
``.sent_in_total``, ``.latency_seconds``, ``.bandwidth_seconds``, ``.seconds``; those that
the executor runs also have what its ledger says (:mod:`py_core.quantities.ledger`).
"""

from __future__ import annotations

from math import isqrt

from py_core.quantities.ledger import read_ledger
from py_core.quantity import At, Formula, quantity
from py_core.terms import Applied, Term, ceil_log2, floor_log2

SCHEMES: dict[str, str] = {}  # scheme -> its Chinese name, in the order of the comparison

_BUSIEST = {"tree": "root", "in-network": "switch"}  # whose bytes "A_…" means, if not a scheme's


def _g(at: At) -> Term:
    return at("gradient.bytes")


def _optimal(at: At) -> Term:
    return 2 * (at.cards - 1) / at.cards * _g(at)


def _twice_n_minus_1(at: At) -> Term:
    return 2 * (at.cards - 1) * _g(at)


def _scheme(
    name: str,
    says: str,
    *,
    steps: Formula,
    busiest: Formula,
    total: Formula = _twice_n_minus_1,
    in_sequence: Formula | None = None,
    latency: Formula | None = None,
    bandwidth: Formula | None = None,
) -> None:
    """Register one scheme. ``in_sequence`` is left out where the busiest card's sends are it."""
    SCHEMES[name] = says
    symbol = f"A_{_BUSIEST.get(name, name)}"
    quantity(f"{name}.steps", "count", f"{says}：通信步数", "n_step")(steps)
    quantity(f"{name}.sent_by_busiest", "GB", f"{says}：最忙的卡发出的字节", symbol)(busiest)
    quantity(f"{name}.sent_in_total", "GB", f"{says}：所有卡发出的字节合计", f"ΣA_{name}")(total)

    def default_latency(at: At) -> Term:
        return at(f"{name}.steps") * at("link.latency")

    def default_bandwidth(at: At) -> Term:
        if in_sequence is None:
            return at(f"{name}.sent_by_busiest") / at("link.bandwidth")
        return in_sequence(at) / at("link.bandwidth")

    def seconds(at: At) -> Term:
        return at(f"{name}.latency_seconds") + at(f"{name}.bandwidth_seconds")

    quantity(f"{name}.latency_seconds", "ms", f"{says}：花在消息固定开销上的时间（α 项）", "t_α")(
        latency or default_latency
    )
    quantity(f"{name}.bandwidth_seconds", "s", f"{says}：花在传字节上的时间（β 项）", "t_W")(
        bandwidth or default_bandwidth
    )
    quantity(f"{name}.seconds", "s", f"{says}：总时间，固定开销加传字节", f"t_{name}")(seconds)
    read_ledger(name, says)


_scheme(
    "naive",
    "朴素做法",
    steps=lambda at: 2 * (at.cards - 1),
    busiest=lambda at: (at.cards - 1) * _g(at),
    in_sequence=_twice_n_minus_1,
)
_scheme(
    "ring",
    "环形 all-reduce",
    steps=lambda at: 2 * (at.cards - 1),
    busiest=lambda at: at("ring.sent_per_card"),
)
_scheme(
    "reduce-scatter",
    "只做环形的 reduce-scatter",
    steps=lambda at: at.cards - 1,
    busiest=lambda at: (at.cards - 1) / at.cards * _g(at),
    total=lambda at: (at.cards - 1) * _g(at),
)
_scheme(
    "all-gather",
    "只做环形的 all-gather",
    steps=lambda at: at.cards - 1,
    busiest=lambda at: (at.cards - 1) / at.cards * _g(at),
    total=lambda at: (at.cards - 1) * _g(at),
)
_scheme(
    "bidirectional-ring",
    "双向环（左右各一个口，各走一半）",
    steps=lambda at: 2 * (at.cards - 1),
    busiest=_optimal,
    in_sequence=lambda at: (at.cards - 1) / at.cards * _g(at),
)
_scheme(
    "tree",
    "二项树",
    steps=lambda at: 2 * ceil_log2(at.cards),
    busiest=lambda at: ceil_log2(at.cards) * _g(at),
    in_sequence=lambda at: 2 * ceil_log2(at.cards) * _g(at),
)
_scheme(
    "double-tree",
    "双二叉树（切成小段流水，约数）",
    steps=lambda at: 2 * ceil_log2(at.cards),
    busiest=lambda at: 2 * _g(at),
)


# Powers of two: where N is none, the cards beyond the largest one inside N first fold
# into a neighbour, sit out, and get the result back: two more steps of G each.


@quantity(
    "cards.power_of_two", "count", "递归减半加倍里直接参加的卡数：不超过 N 的最大的 2 的幂", "N₂"
)
def _(at: At) -> Term:
    k = at.scenario.cards.bit_length() - 1
    return Applied("2^⌊log₂ {}⌋", 1 << k, at.cards)


def _folds(at: At) -> bool:
    return at.quantity("cards.power_of_two").value != at.scenario.cards


def _halving_doubling_bytes(at: At) -> Term:
    active = at("cards.power_of_two")
    return 2 * (active - 1) / active * _g(at)


_scheme(
    "halving-doubling",
    "递归减半加倍",
    steps=lambda at: 2 * floor_log2(at.cards) + 2 if _folds(at) else 2 * floor_log2(at.cards),
    busiest=lambda at: (
        _halving_doubling_bytes(at) + _g(at) if _folds(at) else _halving_doubling_bytes(at)
    ),
    in_sequence=lambda at: (
        (_halving_doubling_bytes(at) + 2 * _g(at)) if _folds(at) else _halving_doubling_bytes(at)
    ),
)


def _recursive_doubling_total(at: At) -> Term:
    n, active = at.cards, at("cards.power_of_two")
    exchanged = active * floor_log2(n) * _g(at)
    return exchanged + 2 * (n - active) * _g(at) if _folds(at) else exchanged


_scheme(
    "recursive-doubling",
    "递归加倍",
    steps=lambda at: floor_log2(at.cards) + 2 if _folds(at) else floor_log2(at.cards),
    busiest=lambda at: (
        (floor_log2(at.cards) + 1) * _g(at) if _folds(at) else floor_log2(at.cards) * _g(at)
    ),
    total=_recursive_doubling_total,
    in_sequence=lambda at: (
        (floor_log2(at.cards) + 2) * _g(at) if _folds(at) else floor_log2(at.cards) * _g(at)
    ),
)
_scheme(
    "direct",
    "直接互发（每两张卡都直接相连）",
    steps=lambda at: at.given("2", 2, "count", "一步 reduce-scatter，一步 all-gather"),
    busiest=_optimal,
)
_scheme(
    "one-shot",
    "一步直达（每张卡把整份梯度发给其他所有卡）",
    steps=lambda at: at.given("1", 1, "count", "所有卡同时发给所有卡"),
    busiest=lambda at: (at.cards - 1) * _g(at),
    total=lambda at: at.cards * (at.cards - 1) * _g(at),
)


def _inside(at: At) -> Term:
    g = at("cluster.cards_in_node")
    return 2 * (g - 1) / g * _g(at)


def _across(at: At) -> Term:
    g, n = at("cluster.cards_in_node"), at("cluster.nodes")
    return 2 * (n - 1) / n * _g(at) / g


_scheme(
    "hierarchical",
    "分层（机内先归约，机间走环形，机内再分发）",
    steps=lambda at: 2 * (at("cluster.cards_in_node") - 1) + 2 * (at("cluster.nodes") - 1),
    busiest=lambda at: _inside(at) + _across(at),
    latency=lambda at: (
        2 * (at("cluster.cards_in_node") - 1) * at.node_latency
        + 2 * (at("cluster.nodes") - 1) * at.latency
    ),
    bandwidth=lambda at: _inside(at) / at.node_bandwidth + _across(at) / at.bandwidth,
)


@quantity("torus.rows", "count", "二维环面的行数：不超过 √N 的最大约数", "r")
def _(at: At) -> Term:
    n = at.scenario.cards
    rows = next(a for a in range(isqrt(n), 0, -1) if n % a == 0)
    return Applied("max r: r | {}, r ≤ √{}", rows, at.cards, at.cards)


@quantity("torus.columns", "count", "二维环面的列数", "q")
def _(at: At) -> Term:
    return at.cards / at("torus.rows")


_scheme(
    "torus",
    "二维环面（先沿行、再沿列的环形）",
    steps=lambda at: 2 * (at("torus.rows") - 1) + 2 * (at("torus.columns") - 1),
    busiest=lambda at: (
        2 * (at("torus.rows") - 1) / at("torus.rows") * _g(at)
        + 2 * (at("torus.columns") - 1) / at("torus.columns") * _g(at) / at("torus.rows")
    ),
)
_scheme(
    "in-network",
    "在网归约（由交换机加总）",
    steps=lambda at: at.given("2", 2, "count", "上行一跳，下行一跳"),
    busiest=_g,
    total=lambda at: at.cards * _g(at),
    latency=lambda at: at("link.latency"),
)


@quantity("in-network.gain", "×", "环形每张卡发出的字节是在网归约的几倍")
def _(at: At) -> Term:
    return at("ring.sent_by_busiest") / at("in-network.sent_by_busiest")
