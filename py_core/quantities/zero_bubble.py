"""Zero Bubble and DualPipe: the backward split in two, in both notations.

Qi et al. 2023 write B for the backward of the inputs alone and W for that of the weights,
so a whole backward is B + W. DeepSeek-V3 (Table 2) writes B for the *whole* backward.
Slots: F = B = W = 1 in the first notation, so a whole backward takes 2.

The bubbles hold only where the pipe fills: with as many micro-batches as are in flight,
and for DualPipe an even number of them, 2p or more (deepseek-ai/DualPipe asserts that).
"""

from __future__ import annotations

from py_core.quantities.splits import refuse
from py_core.quantity import At, quantity
from py_core.terms import Named, Term, smaller


def _slots(at: At) -> tuple[Named, Named, Named]:
    return (
        at.given("F", 1, "count", "一个微批的前向，占 1 格时间（约定）"),
        at.given("B", 1, "count", "反向里求输入梯度的部分，占 1 格（约定 F = B = W）"),
        at.given("W", 1, "count", "反向里求权重梯度的部分，占 1 格（约定 F = B = W）"),
    )


def _full_slots(at: At) -> tuple[Named, Named, Named, Named]:
    return (
        at.given("F", 1, "count", "一个微批的前向，占 1 格时间（约定）"),
        at.given("B", 2, "count", "整个反向，占 2 格（DeepSeek-V3 的记法）"),
        at.given("W", 1, "count", "其中求权重梯度的部分，占 1 格"),
        at.given("F&B", 3, "count", "重叠着做的一个前向和一个反向，占 3 格（约定通信全藏住）"),
    )


def _filled(at: At, least: int, scheme: str) -> Named:
    """The stages p, where at least ``least`` micro-batches fill the pipe of ``scheme``."""
    if at.scenario.micro_batches < least:
        refuse(
            at,
            "micro_batches",
            f"at least {least} for {scheme} of {at.scenario.pipeline_stages} stages",
            f"至少是 {least}：{at.scenario.pipeline_stages} 级的 {scheme} 要这么多微批才填得满",
        )
    return at.pipeline_stages


def _h1(at: At) -> Named:
    return _filled(at, at.scenario.pipeline_stages, "ZB-H1")


def _h2(at: At) -> Named:
    return _filled(at, 2 * at.scenario.pipeline_stages - 1, "ZB-H2")


def _dualpipe(at: At) -> Named:
    p, m = at.scenario.pipeline_stages, at.scenario.micro_batches
    if p % 2:
        refuse(at, "pipeline_stages", "an even number (DualPipe)", "偶数（DualPipe 从两头同时喂）")
    if m % 2 or m < 2 * p:
        refuse(
            at,
            "micro_batches",
            f"an even number, at least {2 * p}, for DualPipe of {p} stages",
            f"不小于 {2 * p} 的偶数（{p} 级的 DualPipe 从两头同时喂）",
        )
    return at.pipeline_stages


@quantity("pipeline.ideal_slots", "count", "没有气泡时，每个训练步每级要做几格", "n_ideal")
def _(at: At) -> Term:
    f, b, w = _slots(at)
    return at.micro_batches * (f + b + w)


@quantity("1f1b.idle_slots", "count", "GPipe 与 1F1B：每级空等几格", "n_1f1b")
def _(at: At) -> Term:
    f, b, w = _slots(at)
    return (at.pipeline_stages - 1) * (f + b + w)


@quantity("zb_h1.idle_slots", "count", "ZB-H1：每级空等几格", "n_h1")
def _(at: At) -> Term:
    f, b, w = _slots(at)
    return (_h1(at) - 1) * (f + b - w)


@quantity("zb_h2.idle_slots", "count", "ZB-H2：每级空等几格", "n_h2")
def _(at: At) -> Term:
    f, b, w = _slots(at)
    return (_h2(at) - 1) * (f + b - 2 * w)


@quantity("zb1p.idle_slots", "count", "ZB1P（即 ZB-H1，DeepSeek-V3 的记法）：每级空等几格")
def _(at: At) -> Term:
    f, b, w, _ = _full_slots(at)
    return (_h1(at) - 1) * (f + b - 2 * w)


@quantity("dualpipe.idle_slots", "count", "DualPipe（DeepSeek-V3 的记法）：每级空等几格", "n_dual")
def _(at: At) -> Term:
    _, b, w, both = _full_slots(at)
    return (_dualpipe(at) / 2 - 1) * (both + b - 3 * w)


@quantity("dualpipe.idle_slots_split", "count", "DualPipe（Zero Bubble 的记法）：每级空等几格")
def _(at: At) -> Term:
    _, b, w = _slots(at)
    both = at.given(
        "F&(B+W)", 3, "count", "重叠着做的一个前向和一个反向，占 3 格（约定通信全藏住）"
    )
    return (_dualpipe(at) / 2 - 1) * (both + b - 2 * w)


def _derived(name: str, says: str) -> None:
    @quantity(f"{name}.slots", "count", f"{says}：一步从头到尾几格（每级做的加空等的）")
    def _(at: At) -> Term:
        return at("pipeline.ideal_slots") + at(f"{name}.idle_slots", "n_idle")

    @quantity(f"{name}.bubble_over_ideal", "%", f"{says}：空等占理想时间的比例")
    def _(at: At) -> Term:
        return at(f"{name}.idle_slots", "n_idle") / at("pipeline.ideal_slots")


for _name, _says in (
    ("1f1b", "1F1B"),
    ("zb_h1", "ZB-H1"),
    ("zb_h2", "ZB-H2"),
    ("dualpipe", "DualPipe"),
):
    _derived(_name, _says)


@quantity("zb_h1.over_1f1b", "ratio", "ZB-H1 的气泡是 1F1B 的几分之几（F = B = W）")
def _(at: At) -> Term:
    # The stages cancel, so that one stage (no bubble at all) divides nothing by zero.
    _h1(at)
    f, b, w = _slots(at)
    return (f + b - w) / (f + b + w)


@quantity("zb_h1.in_flight", "count", "ZB-H1：第一级最多同时留着几个微批的激活")
def _(at: At) -> Term:
    return smaller(at.pipeline_stages, at.micro_batches)


@quantity("zb_h2.in_flight", "count", "ZB-H2：第一级最多同时留着几个微批的激活")
def _(at: At) -> Term:
    return smaller(2 * at.pipeline_stages - 1, at.micro_batches)


@quantity("dualpipe.in_flight", "count", "DualPipe：每张卡最多同时留着几个微批的激活")
def _(at: At) -> Term:
    return _dualpipe(at) + 1


@quantity("dualpipe.parameter_copies", "count", "DualPipe：每张卡放几份参数")
def _(at: At) -> Term:
    return at.fact("dsv3.dualpipe_parameter_copies", "n_copy", "count")
