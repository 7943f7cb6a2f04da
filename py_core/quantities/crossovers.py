"""Where one scheme overtakes another: the sizes at which latency stops mattering."""

from __future__ import annotations

from py_core.quantity import At, quantity
from py_core.terms import Term, ceil_log2


@quantity("ring.balance_bytes", "MiB", "环形：要归约多少字节，固定开销与传字节才各占一半", "S*")
def _(at: At) -> Term:
    # 2(N−1)·α = 2(N−1)/N·S/W
    return at.cards * at("link.latency") * at("link.bandwidth")


@quantity("ring.beats_tree_from_bytes", "MiB", "要归约的字节超过多少，环形就比二项树快")
def _(at: At) -> Term:
    # 2(N−1)α + 2(N−1)/N·S/W < 2⌈log₂N⌉(α + S/W)
    n, rounds = at.cards, ceil_log2(at.cards)
    fewer_bytes = rounds - (n - 1) / n
    return (n - 1 - rounds) * at("link.latency") * at("link.bandwidth") / fewer_bytes


@quantity(
    "bucket.ring_latency_seconds", "ms", "环形同步一个桶：花在消息固定开销上的时间（α 项）", "t_α"
)
def _(at: At) -> Term:
    return at("ring.steps") * at("link.latency")


@quantity(
    "bucket.ring_bandwidth_seconds", "ms", "环形同步一个桶：花在传字节上的时间（β 项）", "t_W"
)
def _(at: At) -> Term:
    return at("ring.coefficient") * at.bucket_cap / at("link.bandwidth")


@quantity("bucket.ring_seconds", "ms", "环形同步一个桶：总时间，固定开销加传字节", "t_bucket")
def _(at: At) -> Term:
    return at("bucket.ring_latency_seconds") + at("bucket.ring_bandwidth_seconds")


@quantity("bucket.latency_share", "%", "环形同步一个桶：固定开销占总时间的比例")
def _(at: At) -> Term:
    return at("bucket.ring_latency_seconds") / at("bucket.ring_seconds")


@quantity("tree.over_ring_seconds", "×", "二项树用的时间是环形的几倍")
def _(at: At) -> Term:
    return at("tree.seconds") / at("ring.seconds")


@quantity("hierarchical.over_ring_seconds", "×", "分层用的时间是一个平铺大环的几倍")
def _(at: At) -> Term:
    return at("hierarchical.seconds") / at("ring.seconds")


@quantity("halving-doubling.over_ring_seconds", "×", "递归减半加倍用的时间是环形的几倍")
def _(at: At) -> Term:
    return at("halving-doubling.seconds") / at("ring.seconds")
