"""Pipelines, long sequences, experts, and how reports combine them."""

from __future__ import annotations

from py_core.claims import claim, line
from py_core.quantity import At
from py_core.terms import Comparison, total

# Pipelines.


@claim("interleaving_divides_bubble", "流水线交错成 v 段，气泡正好是原来的 v 分之一")
def _(at: At) -> list[Comparison]:
    interleaved = at("interleaved.bubble_over_ideal", "bubble_v")
    return [(interleaved * at.interleave).equals(at("pipeline.bubble_over_ideal", "bubble"))]


@claim(
    "1f1b_keeps_fewer_than_gpipe",
    "1F1B 同时留着激活的微批，比 GPipe 少",
    "{micro_batches} 个微批、{pipeline_stages} 级：两种做法都要留 {1f1b.in_flight} 个微批的激活",
)
def _(at: At) -> list[Comparison]:
    return [at("1f1b.in_flight") < at("gpipe.in_flight")]


@claim("zb_h1_is_a_third", "F = B = W 时，ZB-H1 的气泡是 1F1B 的三分之一")
def _(at: At) -> list[Comparison]:
    return [(3 * at("zb_h1.idle_slots")).equals(at("1f1b.idle_slots"))]


@claim("bubble_notations_agree", "Zero Bubble 和 DeepSeek-V3 的两种记法，写的是同一个气泡")
def _(at: At) -> list[Comparison]:
    return [
        at("zb1p.idle_slots", "n_1p").equals(at("zb_h1.idle_slots")),
        at("dualpipe.idle_slots").equals(at("dualpipe.idle_slots_split", "n_split")),
    ]


@claim("dualpipe_keeps_two_copies", "DualPipe 每张卡要放两份参数")
def _(at: At) -> list[Comparison]:
    return [at("dualpipe.parameter_copies", "n_copy").equals(2)]


# Long sequences.


@claim(
    "contiguous_cut_is_uneven",
    "连续切分，最后一张卡要算的比 zig-zag 的每张卡多",
    "只有 1 张卡，没有什么要切的",
)
def _(at: At) -> list[Comparison]:
    return [at("context_parallel.pairs_last") > at("context_parallel.pairs_zigzag")]


@claim("zigzag_is_even", "例子里 zig-zag 的每张卡一样多，四张卡合起来和连续切分一样多")
def _(at: At) -> list[Comparison]:
    contiguous = total([at(f"context_parallel.example_card{r}", f"A_{r}") for r in range(4)])
    each = at("context_parallel.example_zigzag")
    return [
        *(at(f"context_parallel.example_zigzag_card{r}").equals(each) for r in range(4)),
        (4 * each).equals(contiguous),
    ]


@claim(
    "kv_heads_limit_ulysses",
    "K、V 的头数比上下文并行的卡数少，Ulysses 不复制 K、V 就切不开",
    "K、V 有 {model.kv_heads} 个头，上下文并行 {context_parallel} 张卡：Ulysses 不复制也切得开",
)
def _(at: At) -> list[Comparison]:
    return [
        at("ulysses.limit") < at.context_parallel,
        at("ulysses.kv_copies") > line(at, "1", "不用复制"),
    ]


# Experts.


@claim(
    "node_limit_saves_traffic",
    "照 DeepSeek-V3 限制每个 token 去的机器数，跨机通信比不限时少",
    "不限时平均也只到 {expert_parallel.nodes_free} 台机器，限制到最多 "
    "{expert_parallel.nodes_limited} 台省不了什么",
)
def _(at: At) -> list[Comparison]:
    return [at("expert_parallel.nodes_limited") < at("expert_parallel.nodes_free")]


@claim("ib_is_a_third_of_nvlink", "DeepSeek-V3 的跨机带宽大约是机内的三分之一")
def _(at: At) -> list[Comparison]:
    share = at("dsv3.ib_over_nvlink", "W_IB ÷ W_NV")
    return [
        share > line(at, "0.3", "「大约三分之一」的下限"),
        share < line(at, "0.35", "「大约三分之一」的上限"),
    ]


# Combinations, from the reports.


@claim("llama3_product_is_its_cards", "Llama 3 405B 的 TP × CP × PP × DP 正好是它用的卡数")
def _(at: At) -> list[Comparison]:
    return [at("llama3.cards", "TP·CP·PP·DP").equals(at.fact("llama3.gpus", "n", "count"))]


@claim(
    "llama3_misprint_does_not_multiply",
    "Llama 3 405B 长上下文那一行，若照旧版误印的 DP，卡数就对不上",
)
def _(at: At) -> list[Comparison]:
    cards = at.fact("llama3.gpus", "n", "count")
    return [
        at("llama3.cards_misprinted", "n_4") < cards,
        at("llama3.cards_long_context", "n_8").equals(cards),
    ]


@claim("llama3_mfu_is_not_recomputed", "Llama 3 405B 印出的单卡算力除以峰值，比印出的 MFU 略低")
def _(at: At) -> list[Comparison]:
    return [at("llama3.tflops_over_peak", "F_eff/F_peak") < at("llama3.mfu", "MFU")]


@claim(
    "dsv3_product_is_its_cards", "DeepSeek-V3 的流水线级数 × 专家并行 × 两份副本，正好是它用的卡数"
)
def _(at: At) -> list[Comparison]:
    cards = at.fact("dsv3.gpus", "n", "count")
    return [(at("dsv3.cards_per_replica") * line(at, "2", "两份副本")).equals(cards)]


@claim(
    "dsv3_experts_fill_their_nodes", "DeepSeek-V3 专家并行的卡数，正好是它跨的机器数 × 每台的卡数"
)
def _(at: At) -> list[Comparison]:
    ep = at.fact("dsv3.expert_parallel", "EP", "count")
    return [at("dsv3.expert_parallel_cards").equals(ep)]
