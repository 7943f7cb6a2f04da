"""Pipeline parallelism: bubbles and micro-batches in flight.

GPipe (Huang et al. 2018), 1F1B (Narayanan et al. 2019), interleaved 1F1B (Narayanan et
al. 2021, §2.2.2). The last needs its micro-batches in whole rounds of p, and other numbers
are refused, unless v = 1, which is 1F1B. A bubble is given over the ideal time, as
Megatron-LM does, and over the whole time, as GPipe does; the page has to say which.
"""

from __future__ import annotations

from py_core.quantities.splits import refuse, stages
from py_core.quantity import At, quantity
from py_core.terms import Named, Term, smaller


def _interleaved(at: At) -> tuple[Named, Named, Named]:
    """p, m and v. Raises ScenarioError where the interleaved schedule cannot run."""
    p, m = at.scenario.pipeline_stages, at.scenario.micro_batches
    if at.scenario.interleave > 1 and m % p:
        refuse(
            at,
            "micro_batches",
            f"a multiple of pipeline_stages = {p} (interleaved pipeline)",
            f"级数 {p} 的倍数（交错流水线一轮一轮地喂）",
        )
    return at.pipeline_stages, at.micro_batches, at.interleave


@quantity("pipeline.bubble_over_ideal", "%", "GPipe 与 1F1B 的气泡：空等占理想时间的比例")
def _(at: At) -> Term:
    return (at.pipeline_stages - 1) / at.micro_batches


@quantity("pipeline.bubble_of_total", "%", "GPipe 与 1F1B 的气泡：空等占总时间的比例")
def _(at: At) -> Term:
    p, m = at.pipeline_stages, at.micro_batches
    return (p - 1) / (m + p - 1)


@quantity("interleaved.bubble_over_ideal", "%", "交错流水线的气泡：空等占理想时间的比例")
def _(at: At) -> Term:
    p, m, v = _interleaved(at)
    return (p - 1) / (v * m)


@quantity("interleaved.bubble_of_total", "%", "交错流水线的气泡：空等占总时间的比例")
def _(at: At) -> Term:
    p, m, v = _interleaved(at)
    return (p - 1) / (v * m + p - 1)


@quantity("interleaved.communication_factor", "×", "交错流水线：级间通信是 1F1B 的几倍")
def _(at: At) -> Term:
    return _interleaved(at)[2]


@quantity("gpipe.in_flight", "count", "GPipe：第一级最多同时留着几个微批的激活", "n_gpipe")
def _(at: At) -> Term:
    return at.micro_batches


@quantity("1f1b.in_flight", "count", "1F1B：第一级最多同时留着几个微批的激活", "n_1f1b")
def _(at: At) -> Term:
    return smaller(at.pipeline_stages, at.micro_batches)


@quantity(
    "interleaved.in_flight",
    "count",
    "交错流水线：第一级最多同时留着几个微批的激活（按段折合）",
    "n_inter",
)
def _(at: At) -> Term:
    # Korthikanti et al. 2023, §4.2.3; but never more than there are.
    p, m, v = _interleaved(at)
    return smaller(p if at.scenario.interleave == 1 else p * (1 + (p - 1) / (p * v)), m)


@quantity("pipeline.sent_per_step", "GB", "相邻两级之间，每个训练步来回传的字节")
def _(at: At) -> Term:
    if at.scenario.pipeline_stages == 1:
        refuse(
            at, "pipeline_stages", "at least 2: one stage has no next", "至少是 2：一级没有下一级"
        )
    return 2 * at.micro_batches * at("activations.message_bytes")


@quantity("pipeline.layers_per_stage", "count", "平均每级的层数")
def _(at: At) -> Term:
    return at("model.layers") / stages(at)
