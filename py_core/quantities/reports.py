"""Figures of published training runs, worked out again from what their reports print."""

from __future__ import annotations

from py_core.quantities.compute import flops_each
from py_core.quantities.splits import stages, tensor_cards
from py_core.quantity import At, quantity
from py_core.terms import Named, Term


def _gpu_time(at: At) -> Named:
    return at.fact("dsv3.pretrain_gpu_hours", "H", "h")


@quantity("dsv3.gpu_hours", "h", "DeepSeek-V3 预训练报告的 GPU 机时", "H")
def _(at: At) -> Term:
    return _gpu_time(at)


@quantity(
    "dsv3.gpu_hours_from_rate",
    "h",
    "DeepSeek-V3：每万亿 token 的机时乘以 token 数，应与报告的合计相等",
    "H₁·D",
)
def _(at: At) -> Term:
    rate = at.printed("dsv3.gpu_hours_per_trillion_tokens", "H₁", 180_000, "h")
    trillion = at.given("10¹²", 10**12, "tokens", "一万亿个 token")
    return rate * at.fact("dsv3.pretrain_tokens", "D", "tokens") / trillion


@quantity("dsv3.years_on_one_card", "years", "DeepSeek-V3 的预训练放到一张卡上要几年", "t₁")
def _(at: At) -> Term:
    return _gpu_time(at) / at.given("n", 1, "count", "只有一张卡")


@quantity("dsv3.days_on_its_cards", "days", "DeepSeek-V3 的预训练在它自己的卡上用了几天", "t_n")
def _(at: At) -> Term:
    return _gpu_time(at) / at.fact("dsv3.gpus", "n", "count")


@quantity("dsv3.training_flops", "10²⁴ FLOP", "DeepSeek-V3 预训练的计算量，按 6ND 估", "C")
def _(at: At) -> Term:
    active = at.fact("dsv3.activated_parameters", "P_act", "params")
    return flops_each(at, 6) * active * at.fact("dsv3.pretrain_tokens", "D", "tokens")


@quantity(
    "dsv3.flops_per_card", "TFLOPS", "DeepSeek-V3 每张卡的有效算力，由 6ND 和机时反推", "F_eff"
)
def _(at: At) -> Term:
    return at("dsv3.training_flops") / _gpu_time(at)


@quantity("dsv3.mfu", "%", "DeepSeek-V3 的 MFU，按 6ND 估（对 BF16 峰值）")
def _(at: At) -> Term:
    return at("dsv3.flops_per_card") / at.fact("hw.h800_bf16_dense_tflops", "F_peak", "TFLOPS")


@quantity("dsv3.expert_replicas", "count", "DeepSeek-V3：每个专家在全部卡上有几份", "R")
def _(at: At) -> Term:
    return at.fact("dsv3.gpus", "n", "count") / at("dsv3.cards_per_replica")


@quantity(
    "dsv3.cards_per_replica",
    "count",
    "DeepSeek-V3：一套专家要用的卡数，流水线级数 × 专家并行",
    "PP·EP",
)
def _(at: At) -> Term:
    pp = at.fact("dsv3.pipeline_parallel", "PP", "count")
    return pp * at.fact("dsv3.expert_parallel", "EP", "count")


@quantity(
    "dsv3.expert_parallel_cards",
    "count",
    "DeepSeek-V3：专家并行跨的机器数 × 每台的卡数",
    "D·g_DS",
)
def _(at: At) -> Term:
    nodes = at.fact("dsv3.expert_parallel_nodes", "D", "count")
    return nodes * at.fact("dsv3.gpus_per_node", "g_DS", "count")


@quantity(
    "dsv3.ib_over_nvlink", "ratio", "DeepSeek-V3：跨机 IB 带宽是机内 NVLink 的几分之几", "W_IB/W_NV"
)
def _(at: At) -> Term:
    ib = at.fact("dsv3.ib_gb_per_s", "W_IB", "GB/s")
    return ib / at.fact("dsv3.nvlink_gb_per_s", "W_NV", "GB/s")


def _product(name: str, says: str, fact: str, sizes: dict[str, int]) -> None:
    @quantity(name, "count", says)
    def _(at: At) -> Term:
        first, *rest = (at.printed(fact, symbol, size) for symbol, size in sizes.items())
        term: Term = first
        for factor in rest:
            term = term * factor
        return term


_product(
    "llama3.cards",
    "Llama 3 405B 主要配置的卡数：TP × CP × PP × DP（表 4 第 2 行）",
    "llama3.row2_parallelism",
    {"TP": 8, "CP": 1, "PP": 16, "DP": 128},
)
_product(
    "llama3.cards_first_row",
    "Llama 3 405B 前期配置的卡数：TP × CP × PP × DP（表 4 第 1 行）",
    "llama3.row1_parallelism",
    {"TP": 8, "CP": 1, "PP": 16, "DP": 64},
)
_product(
    "llama3.cards_long_context",
    "Llama 3 405B 长上下文的卡数：TP × CP × PP × DP（表 4 第 3 行）",
    "llama3.row3_parallelism",
    {"TP": 8, "CP": 16, "PP": 16, "DP": 8},
)
_product(
    "megatron_1t.cards",
    "Megatron-LM 万亿参数模型的卡数：张量 × 流水线 × 数据并行",
    "sc21.trillion_parallelism",
    {"t": 8, "p": 64, "d": 6},
)


@quantity(
    "llama3.cards_misprinted",
    "count",
    "Llama 3 405B 长上下文：照旧版误印的 DP 去乘，得到的卡数",
    "n_4",
)
def _(at: At) -> Term:
    fact = "llama3.row3_parallelism"
    tp, cp, pp = (at.printed(fact, s, n) for s, n in (("TP", 8), ("CP", 16), ("PP", 16)))
    return tp * cp * pp * at.fact("llama3.row3_dp_misprint", "DP", "count")


@quantity("llama3.mfu", "%", "Llama 3 405B 主要配置：报告印出的 MFU（BF16）", "MFU")
def _(at: At) -> Term:
    return at.fact("llama3.mfu", "MFU", "%")


@quantity(
    "llama3.tflops_over_peak",
    "%",
    "Llama 3 405B 主要配置：印出的单卡算力（取过整）÷ 峰值",
    "u",
)
def _(at: At) -> Term:
    printed = at.fact("llama3.tflops", "F_eff", "TFLOPS")
    return printed / at.fact("hw.h100_bf16_dense_tflops", "F_peak", "TFLOPS")


@quantity("combined.cards", "count", "几种并行一起用：张量 × 上下文 × 流水线 × 数据并行的卡数")
def _(at: At) -> Term:
    return at.tensor_parallel * at.context_parallel * at.pipeline_stages * at.cards


@quantity("combined.parameters_per_card", "B params", "张量并行加流水线：平均每张卡上的参数")
def _(at: At) -> Term:
    return at("model.parameters") / (tensor_cards(at) * stages(at))


@quantity(
    "combined.gradient_bytes", "GB", "张量并行加流水线之后，数据并行平均每张卡要同步的梯度", "G_tp"
)
def _(at: At) -> Term:
    return at("gradient.bytes") / (tensor_cards(at) * stages(at))
