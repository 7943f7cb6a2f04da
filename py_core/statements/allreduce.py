"""The naive scheme against the ring, why nothing beats the ring, and fixed costs.

What holds for any number of cards is stated twice: of the formulas at N cards, and of the
executor's ledger for as many of them as it runs. A wrong formula, or a wrong schedule,
makes such a claim false.
"""

from __future__ import annotations

from py_core.claims import claim, line
from py_core.quantities.schemes import SCHEMES
from py_core.quantity import At
from py_core.terms import Comparison

# The naive scheme and the ring.


@claim("naive_loads_card0", "朴素做法里，0 号卡收到的字节是其余每张卡的 N − 1 倍")
def _(at: At) -> list[Comparison]:
    ran = at("naive.ledger_card0") / at("naive.ledger_others")
    return [
        at("naive.card0_over_others").equals(at.cards - 1),
        ran.equals(at("run.cards") - 1),
    ]


@claim("naive_grows_hundredfold", "从 8 张卡到 1,024 张卡，朴素做法的 0 号卡收到的字节涨到一百多倍")
def _(at: At) -> list[Comparison]:
    return [at("naive.growth_8_to_1024") > line(at, "100", "一百倍")]


@claim("ring_hardly_grows", "从 8 张卡到 1,024 张卡，环形每张卡发出的字节涨不到两成")
def _(at: At) -> list[Comparison]:
    return [at("ring.growth_8_to_1024") < line(at, "1.2", "「涨不到两成」：不到 1.2 倍")]


@claim(
    "doubling_hurts_naive_only",
    "卡数翻倍，朴素做法的 0 号卡收到的字节至少也翻倍，环形每张卡发出的涨不到两成",
    "卡数从 {cards} 张翻倍，朴素做法的 0 号卡收到的字节涨到 {naive.growth_when_doubled}，"
    "环形每张卡发出的涨到 {ring.growth_when_doubled}：卡还少的时候，环形也明显地涨",
)
def _(at: At) -> list[Comparison]:
    return [
        at("naive.growth_when_doubled") >= line(at, "2", "翻倍"),
        at("ring.growth_when_doubled") < line(at, "1.2", "「涨不到两成」：不到 1.2 倍"),
    ]


@claim("naive_over_ring_is_half_n", "朴素做法的 0 号卡收到的字节，正好是环形每张卡的 N ÷ 2 倍")
def _(at: At) -> list[Comparison]:
    ran = at("naive.ledger_card0") / at("ring.ledger_card0")
    return [at("naive.over_ring").equals(at.cards / 2), ran.equals(at("run.cards") / 2)]


@claim("ring_below_twice_gradient", "环形：卡再多，每张卡发出的字节也不到梯度的两倍")
def _(at: At) -> list[Comparison]:
    return [
        at("ring.sent_per_card") < at("ring.limit"),
        at("ring.ledger_busiest") < line(at, "2", "梯度的两倍"),
    ]


@claim(
    "ring_coefficient_above_1_9",
    "环形的系数已经超过 1.9",
    "{cards} 张卡时系数是 {ring.coefficient}，要从 {ring.cards_above_coefficient} 张卡起才超过 1.9",
)
def _(at: At) -> list[Comparison]:
    return [at.cards >= at("ring.cards_above_coefficient")]


@claim("halves_make_ring", "一次 reduce-scatter 加一次 all-gather，正好是一次环形 all-reduce")
def _(at: At) -> list[Comparison]:
    halves = at("reduce-scatter.sent_by_busiest") + at("all-gather.sent_by_busiest")
    ran = at("reduce-scatter.ledger_busiest") + at("all-gather.ledger_busiest")
    return [halves.equals(at("ring.sent_per_card")), ran.equals(at("ring.ledger_busiest"))]


# Why nothing beats it.


@claim("totals_are_equal", "朴素、二项树、递归减半加倍和环形，所有卡合计传的字节一样多")
def _(at: At) -> list[Comparison]:
    least = at("allreduce.least_in_total")
    schemes = ("naive", "tree", "halving-doubling", "ring")
    ran = 2 * (at("run.cards") - 1)
    return [
        *(at(f"{s}.sent_in_total").equals(least) for s in schemes),
        *(at(f"{s}.ledger_total").equals(ran) for s in schemes),
    ]


@claim("ring_reaches_the_bound", "环形最忙的卡发出的字节，正好等于下界")
def _(at: At) -> list[Comparison]:
    n = at("run.cards")
    return [
        at("ring.sent_by_busiest").equals(at("allreduce.least_by_busiest")),
        at("ring.ledger_busiest").equals(2 * (n - 1) / n),
    ]


# No all-reduce of their own: the ring's two halves.
_HALVES = ("reduce-scatter", "all-gather")


@claim(
    "nothing_beats_ring_on_bytes",
    "除了由交换机加总，没有哪种做法的最忙的卡，发得比环形的每张卡少",
)
def _(at: At) -> list[Comparison]:
    ring = at("ring.sent_per_card")
    others = [s for s in SCHEMES if s not in ("ring", "in-network", *_HALVES)]
    if at.scenario.cards % min(at.scenario.cards, at.scenario.cards_per_node):
        others.remove("hierarchical")  # which uneven nodes cannot run
    return [at(f"{s}.sent_by_busiest") >= ring for s in others]


@claim(
    "leaf_sends_less_than_ring",
    "二项树的一个叶子发出的字节，比环形的每张卡还少",
    "只有 2 张卡时，叶子和环形的每张卡一样，都发 {ring.sent_per_card}",
)
def _(at: At) -> list[Comparison]:
    return [at("tree.sent_by_leaf") < at("ring.sent_per_card")]


@claim(
    "root_sends_more_than_ring",
    "二项树的根发出的字节，比环形的每张卡多",
    "只有 2 张卡时，树根和环形的每张卡一样，都发 {ring.sent_per_card}",
)
def _(at: At) -> list[Comparison]:
    return [at("tree.sent_by_busiest") > at("ring.sent_per_card")]


@claim(
    "switch_beats_the_bound",
    "由交换机加总，每张卡发出的字节低于环形的下界",
    "只有 2 张卡时，交换机帮不上忙：每张卡都要发 {in-network.sent_by_busiest}",
)
def _(at: At) -> list[Comparison]:
    return [at("in-network.sent_by_busiest") < at("allreduce.least_by_busiest")]


# Fixed costs per message.


@claim(
    "latency_is_negligible",
    "整份梯度一次 all-reduce，环形的固定开销不到总时间的百分之一",
    "环形的固定开销是 {ring.latency_seconds}，总时间 {ring.seconds}：已经不能不算",
)
def _(at: At) -> list[Comparison]:
    share = at.given("1%", 1, "%", "「可以不算」：不到百分之一")
    return [at("ring.latency_seconds") < share * at("ring.seconds")]


@claim(
    "bucket_is_latency_bound",
    "环形同步一个桶，花在固定开销上的时间超过传字节的时间",
    "环形同步一个 {bucket_cap} 的桶，固定开销 {bucket.ring_latency_seconds}，"
    "传字节 {bucket.ring_bandwidth_seconds}：还是传字节占大头",
)
def _(at: At) -> list[Comparison]:
    return [at("bucket.ring_latency_seconds") > at("bucket.ring_bandwidth_seconds")]


@claim(
    "ring_faster_than_tree",
    "同步整份梯度，环形比二项树快",
    "这里二项树用 {tree.seconds}，环形用 {ring.seconds}：环形不更快",
)
def _(at: At) -> list[Comparison]:
    return [at("ring.seconds") < at("tree.seconds")]


@claim(
    "halving_doubling_never_slower",
    "按 α–β 模型，递归减半加倍不比环形慢",
    "{cards} 张卡不是 2 的幂，要先折叠再展开，递归减半加倍用 {halving-doubling.seconds}，"
    "环形用 {ring.seconds}",
)
def _(at: At) -> list[Comparison]:
    return [at("halving-doubling.seconds") <= at("ring.seconds")]


@claim(
    "hierarchical_faster_than_flat_ring",
    "分层 all-reduce 比一个平铺的大环快",
    "{cluster.nodes} 台机器、每台 {cluster.cards_in_node} 张卡参与，分层用 {hierarchical.seconds}，"
    "平铺的环用 {ring.seconds}：分层不更快。每台机器只有 1 张卡参与，或者只有 1 台机器，"
    "分层就是平铺的环",
)
def _(at: At) -> list[Comparison]:
    # With one card a node, or one node, both are the same ring: say so, not 1.945 s < 1.945 s.
    levels = [
        at.cards_per_node > line(at, "1", "每台机器只有 1 张卡参与，分层就是平铺的环"),
        at.cards > at.cards_per_node,
    ]
    return [*levels, at("hierarchical.seconds") < at("ring.seconds")] if all(levels) else levels
