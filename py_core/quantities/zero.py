"""ZeRO: what a card still holds, and sends, when the state is cut over N cards.

Rajbhandari et al. 2020: stage 1 cuts the optimizer state, stage 2 the gradients too,
stage 3 (FSDP's full sharding) the parameters too (§5); stages 1 and 2 send as much as data
parallelism, stage 3 half as much again (§7). That 1.5 assumes gradients as wide as the
parameters; the formulas here do not.
"""

from __future__ import annotations

from py_core.quantities.state import all_trained, trained
from py_core.quantity import At, quantity
from py_core.terms import Term


@quantity("zero1.bytes", "GB", "ZeRO-1：每张卡的模型状态，优化器状态切成 N 份", "S₁")
def _(at: At) -> Term:
    return at("parameter.bytes") + at("gradient.bytes") + at("optimizer.bytes") / at.cards


@quantity("zero2.bytes", "GB", "ZeRO-2：每张卡的模型状态，优化器状态和梯度切成 N 份", "S₂")
def _(at: At) -> Term:
    return at("parameter.bytes") + (at("gradient.bytes") + at("optimizer.bytes")) / at.cards


@quantity("zero3.bytes", "GB", "ZeRO-3：每张卡的模型状态，参数也一起切成 N 份", "S₃")
def _(at: At) -> Term:
    return at("state.bytes") / at.cards


def _memory_left(stage: int) -> None:
    says = f"ZeRO-{stage} 之后每张卡剩下的显存（负数：装不下）"

    @quantity(f"zero{stage}.memory_left", "GB", says, f"M_z{stage}")
    def _(at: At) -> Term:
        return at.card_memory - at(f"zero{stage}.bytes")


for _stage in (1, 2, 3):
    _memory_left(_stage)


def _updated(at: At) -> Term:
    """What every card has to be told after a step: the parameters that were trained."""
    if all_trained(at):
        return at("parameter.bytes")
    return at("parameter.bytes_each") * trained(at)


def _partial(stage: int) -> None:
    says = "梯度 reduce-scatter，参数 all-gather"

    @quantity(
        f"zero{stage}.sent_per_card", "GB", f"ZeRO-{stage}：每个训练步，每张卡发出的字节（{says}）"
    )
    def _(at: At) -> Term:
        n = at.cards
        return (n - 1) / n * (at("gradient.bytes") + _updated(at))


for _stage in (1, 2):
    _partial(_stage)


@quantity(
    "zero3.sent_per_card",
    "GB",
    "ZeRO-3：每个训练步，每张卡发出的字节（all-gather 两次、reduce-scatter 一次）",
    "A_z3",
)
def _(at: At) -> Term:
    n = at.cards
    return (n - 1) / n * (2 * at("parameter.bytes") + at("gradient.bytes"))


@quantity("zero3.over_data_parallel", "×", "ZeRO-3：每个训练步，通信是数据并行的几倍", "r_z3")
def _(at: At) -> Term:
    return at("zero3.sent_per_card") / at("ring.sent_per_card")


@quantity(
    "zero3.extra_all_gather", "GB", "ZeRO-3：每个训练步多出来的一次 all-gather，每张卡发出的字节"
)
def _(at: At) -> Term:
    n = at.cards
    return (n - 1) / n * at("parameter.bytes")
