"""ZeRO and tensor parallelism: what fits after each cut."""

from __future__ import annotations

from py_core.claims import claim, line
from py_core.quantity import At
from py_core.terms import Comparison

# ZeRO.


@claim(
    "zero1_exceeds_card",
    "只切优化器状态（ZeRO-1），每张卡还是装不下",
    "ZeRO-1 之后每张卡 {zero1.bytes}，{card_memory} 的卡装得下",
)
def _(at: At) -> list[Comparison]:
    return [at("zero1.bytes") > at.card_memory]


@claim(
    "zero2_exceeds_card",
    "再切梯度（ZeRO-2），每张卡还是装不下",
    "ZeRO-2 之后每张卡 {zero2.bytes}，{card_memory} 的卡装得下",
)
def _(at: At) -> list[Comparison]:
    return [at("zero2.bytes") > at.card_memory]


@claim(
    "zero3_fits_card",
    "连参数也切（ZeRO-3），模型状态就装得下了",
    "ZeRO-3 之后每张卡还有 {zero3.bytes}，{card_memory} 的卡仍装不下，"
    "至少要 {state.cards_needed} 张卡来分",
)
def _(at: At) -> list[Comparison]:
    return [at("zero3.bytes") <= at.card_memory]


@claim(
    "zero3_costs_half_more",
    "每个训练步，ZeRO-3 的通信是数据并行的 1.5 倍",
    "梯度用 {gradient} 时，ZeRO-3 的通信是数据并行的 {zero3.over_data_parallel}",
)
def _(at: At) -> list[Comparison]:
    return [at("zero3.over_data_parallel").equals(line(at, "1.5", "多一次 all-gather"))]


@claim(
    "zero2_costs_no_more",
    "每个训练步，ZeRO-1 和 ZeRO-2 的通信不比数据并行多",
)
def _(at: At) -> list[Comparison]:
    ring = at("ring.sent_per_card")
    return [at(f"zero{stage}.sent_per_card", f"A_z{stage}") <= ring for stage in (1, 2)]


@claim(
    "activations_exceed_what_zero3_leaves",
    "用了选择性重算，ZeRO-3 剩下的显存还是放不下激活",
    "选择性重算的激活 {activations.selective}，ZeRO-3 剩下 {zero3.memory_left}：放得下",
)
def _(at: At) -> list[Comparison]:
    return [at("activations.selective") > at("zero3.memory_left")]


# Tensor parallelism.


@claim(
    "tensor_parallel_makes_activations_fit",
    "张量并行加序列并行加选择性重算，激活就放得进 ZeRO-3 剩下的显存",
    "选择性重算、切成 {tensor_parallel} 份的激活还有 {activations.tensor_sequence_selective}，"
    "ZeRO-3 剩下 {zero3.memory_left}：放不下",
)
def _(at: At) -> list[Comparison]:
    return [at("activations.tensor_sequence_selective") <= at("zero3.memory_left")]


@claim(
    "kv_heads_fewer_than_tensor_parallel",
    "K、V 的头数比张量并行的卡数少，K、V 要复制",
    "K、V 有 {model.kv_heads} 个头，张量并行 {tensor_parallel} 张卡：不用复制",
)
def _(at: At) -> list[Comparison]:
    return [
        at("model.kv_heads") < at.tensor_parallel,
        at("tensor_parallel.kv_copies", "n_copy") > line(at, "1", "不用复制"),
    ]


@claim(
    "tensor_parallel_slower_across_nodes",
    "张量并行一跨机器，通信就变慢",
    "跨机器要 {tensor_parallel.seconds_across_nodes}，机器之内要 "
    "{tensor_parallel.seconds_in_node}：跨机器并不更慢",
)
def _(at: At) -> list[Comparison]:
    slow, fast = "tensor_parallel.seconds_across_nodes", "tensor_parallel.seconds_in_node"
    return [at(slow, "t_x") > at(fast, "t_n")]


@claim("tensor_parallel_failed_across_nodes", "跨两台 DGX-2 做张量并行，实测算力不到峰值的 5%")
def _(at: At) -> list[Comparison]:
    bound = at.fact("zero.cross_node_peak_fraction", "5%", "%")
    return [at("tensor_parallel.cross_node_share") < bound]
