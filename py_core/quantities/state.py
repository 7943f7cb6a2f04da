"""Model state: what every card holds before it has seen a single token.

16 bytes per parameter for mixed-precision AdamW (Rajbhandari et al. 2020, §3.1): bf16
parameter and gradient, fp32 master copy and two fp32 moments. Gradients kept in fp32
make it 18, as in Megatron-LM's estimate.
"""

from __future__ import annotations

from py_core.quantity import At, quantity
from py_core.scenario import GRADIENT_BYTES
from py_core.terms import Term, rounded_up


@quantity("parameter.bytes_each", "B/param", "每个参数本身占的字节", "k_p")
def _(at: At) -> Term:
    return at.given("2", 2, "B/param", "训练时参数以 bf16 存放，每个 2 字节")


@quantity("gradient.bytes_each", "B/param", "每个参数的梯度占的字节", "k_g")
def _(at: At) -> Term:
    dtype = at.scenario.gradient
    size = GRADIENT_BYTES[dtype]
    return at.given(str(size), size, "B/param", f"梯度以 {dtype} 存放和传输，每个 {size} 字节")


@quantity("optimizer.bytes_each", "B/param", "每个参数的优化器状态占的字节", "k_o")
def _(at: At) -> Term:
    master = at.given("4", 4, "B/param", "fp32 主参数，每个 4 字节")
    moments = at.given("8", 8, "B/param", "AdamW 的两个 fp32 动量，每个参数 2 × 4 字节")
    return master + moments


@quantity("state.bytes_each", "B/param", "每个参数的模型状态占的字节", "K")
def _(at: At) -> Term:
    return at("parameter.bytes_each") + at("gradient.bytes_each") + at("optimizer.bytes_each")


def all_trained(at: At) -> bool:
    """Whether every parameter has a gradient: yes, unless a reader says otherwise."""
    counts = at.scenario.model.counts
    return counts.trained == counts.total


def trained(at: At) -> Term:
    """The parameters that have gradients."""
    return at("model.parameters" if all_trained(at) else "model.trained_parameters")


@quantity("parameter.bytes", "GB", "一份完整的参数（bf16）", "Θ")
def _(at: At) -> Term:
    return at("parameter.bytes_each") * at("model.parameters")


@quantity("gradient.bytes", "GB", "一份完整的梯度", "G")
def _(at: At) -> Term:
    return at("gradient.bytes_each") * trained(at)


@quantity("gradient.largest_bytes", "MiB", "最大的一个张量的梯度：装它的桶不会比它小", "G_max")
def _(at: At) -> Term:
    return at("gradient.bytes_each") * at("model.largest_tensor")


@quantity("optimizer.bytes", "GB", "一份完整的优化器状态：fp32 主参数、一阶与二阶动量", "O")
def _(at: At) -> Term:
    return at("optimizer.bytes_each") * trained(at)


@quantity("state.bytes", "GB", "模型状态：参数、梯度与优化器状态", "S")
def _(at: At) -> Term:
    if all_trained(at):
        return at("state.bytes_each") * at("model.parameters")
    return at("parameter.bytes") + at("gradient.bytes") + at("optimizer.bytes")


@quantity("state.cards_of_memory", "×", "模型状态是一张卡显存的几倍")
def _(at: At) -> Term:
    return at("state.bytes") / at.card_memory


@quantity("state.cards_needed", "count", "至少要几张卡的显存才装得下一份模型状态")
def _(at: At) -> Term:
    return rounded_up(at("state.bytes") / at.card_memory)


@quantity("state.memory_left", "GB", "一张卡装下整份模型状态后剩下的显存（负数：装不下）")
def _(at: At) -> Term:
    return at.card_memory - at("state.bytes")


@quantity(
    "state.bytes_of_all_cards", "GB", "数据并行时所有卡上的模型状态合计：每张卡一整份", "S_all"
)
def _(at: At) -> Term:
    return at.cards * at("state.bytes")
