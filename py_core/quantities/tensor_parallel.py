"""Tensor parallelism: what it sends, and how far it can be cut.

Shoeybi et al. 2019 and Narayanan et al. 2021 (§2.3): two all-reduces forward and two
backward per layer, each of the activations of one micro-batch. Left out: the embedding,
the loss, and the extra all-gather that sequence parallelism adds in the backward.
"""

from __future__ import annotations

from py_core.quantities.splits import tensor_cards
from py_core.quantity import At, quantity
from py_core.terms import Term, rounded_up


@quantity(
    "tensor_parallel.allreduces_per_layer",
    "count",
    "张量并行：每个微批、每层的 all-reduce 次数，前向加反向",
    "n_ar",
)
def _(at: At) -> Term:
    fact = "megatron.allreduces_per_layer"
    return at.printed(fact, "n_fwd", 2) + at.printed(fact, "n_bwd", 2)


@quantity("tensor_parallel.sent_per_card", "GB", "张量并行：每张卡每个微批发出的字节", "A_t")
def _(at: At) -> Term:
    t = tensor_cards(at)
    times = at("model.layers") * at("tensor_parallel.allreduces_per_layer")
    return times * (2 * (t - 1) / t) * at("activations.message_bytes")


@quantity("tensor_parallel.seconds_in_node", "s", "张量并行都在一台机器之内：每个微批的通信时间")
def _(at: At) -> Term:
    return at("tensor_parallel.sent_per_card") / at.node_bandwidth


@quantity("tensor_parallel.seconds_across_nodes", "s", "张量并行跨机器：每个微批的通信时间")
def _(at: At) -> Term:
    return at("tensor_parallel.sent_per_card") / at.bandwidth


@quantity(
    "tensor_parallel.syncs_per_micro_batch",
    "count",
    "张量并行：一个微批走完各层，一共停下来同步几次",
)
def _(at: At) -> Term:
    return at("model.layers") * at("tensor_parallel.allreduces_per_layer")


@quantity("tensor_parallel.kv_copies", "count", "张量并行：每个 K、V 头要放在几张卡上")
def _(at: At) -> Term:
    return rounded_up(tensor_cards(at) / at("model.kv_heads"))


@quantity(
    "tensor_parallel.cross_node_share",
    "%",
    "ZeRO 的作者跨两台 DGX-2 做张量并行：实测算力占峰值的比例",
    "u_x",
)
def _(at: At) -> Term:
    measured = at.fact("zero.cross_node_tflops", "F_V100", "TFLOPS")
    return measured / at.fact("hw.v100_fp16_tensor_tflops", "F_peak", "TFLOPS")
