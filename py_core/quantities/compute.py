"""Arithmetic: C ≈ 6ND, of which the backward is 4ND (Kaplan et al. 2020, §2.1).

N here is the parameters that work on a token: not the input embedding, which is looked
up, and of the routed experts only the chosen share. Attention scores are left out.
"""

from __future__ import annotations

from py_core.quantity import At, quantity
from py_core.terms import Named, Term

_NAMES = {
    2: "前向：每个参数、每个 token 一次乘、一次加",
    4: "反向：前向的两倍，输入梯度与权重梯度各一份",
    6: "前向 2，反向 4",
}


def flops_each(at: At, factor: int) -> Named:
    """2, 4 or 6 FLOP per parameter and token."""
    return at.given(str(factor), factor, "FLOP/param/token", _NAMES[factor])


def _flops(name: str, factor: int, says: str, symbol: str) -> None:
    @quantity(
        f"{name}.flops", "TFLOP", f"{says}：每个训练步，每张卡的计算量（不计注意力分数）", symbol
    )
    def _(at: At) -> Term:
        return flops_each(at, factor) * at("model.compute_parameters") * at.tokens

    @quantity(f"{name}.seconds", "s", f"{says}：每个训练步，每张卡的计算时间", f"t_{symbol[2:]}")
    def _(at: At) -> Term:
        return at(f"{name}.flops") / at.flops


_flops("forward", 2, "前向", "C_fwd")
_flops("backward", 4, "反向", "C_bwd")
_flops("step", 6, "前向加反向", "C_step")


@quantity("backward.seconds_all_parameters", "s", "假如全部参数都参与计算，反向要多久")
def _(at: At) -> Term:
    return flops_each(at, 4) * at("model.parameters") * at.tokens / at.flops


@quantity("global_batch.tokens", "tokens", "每个训练步，所有卡合起来处理的 token 数", "T_all")
def _(at: At) -> Term:
    return at.cards * at.tokens


@quantity(
    "global_batch.tokens_each",
    "tokens",
    "全局批量固定在 8 张卡时的大小，每张卡分到的 token 数",
)
def _(at: At) -> Term:
    return at.where(cards=8)("global_batch.tokens") / at.cards


@quantity("compute.share_of_peak", "%", "约定的有效算力占 H100 稠密 BF16 峰值的比例")
def _(at: At) -> Term:
    return at.flops / at.fact("hw.h100_bf16_dense_tflops", "F_peak", "TFLOPS")


@quantity(
    "mfu.sync_after_backward",
    "%",
    "反向算完再同步时的 MFU：实际做的计算占峰值能做的比例",
)
def _(at: At) -> Term:
    seconds = at("step.seconds") + at("communication.seconds")
    peak = at.fact("hw.h100_bf16_dense_tflops", "F_peak", "TFLOPS")
    return at("step.flops") / (seconds * peak)
