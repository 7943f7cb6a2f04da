"""Pipeline parallelism: bubbles and micro-batches in flight.

GPipe (Huang et al. 2018), 1F1B (Narayanan et al. 2019), interleaved 1F1B (Narayanan et
al. 2021, §2.2). A bubble is given over the ideal time, as Megatron-LM does, and over the
whole time, as GPipe does; the page has to say which.
"""

from __future__ import annotations

from py_core.quantities.tensor_parallel import activation_bytes_each
from py_core.quantity import At, quantity
from py_core.terms import Term, smaller


@quantity("pipeline.bubble_over_ideal", "%", "GPipe 与 1F1B 的气泡：空等占理想时间的比例")
def _(at: At) -> Term:
    return (at.pipeline_stages - 1) / at.micro_batches


@quantity("pipeline.bubble_of_total", "%", "GPipe 与 1F1B 的气泡：空等占总时间的比例")
def _(at: At) -> Term:
    p, m = at.pipeline_stages, at.micro_batches
    return (p - 1) / (m + p - 1)


@quantity("interleaved.bubble_over_ideal", "%", "交错流水线的气泡：空等占理想时间的比例")
def _(at: At) -> Term:
    return (at.pipeline_stages - 1) / (at.interleave * at.micro_batches)


@quantity("interleaved.bubble_of_total", "%", "交错流水线的气泡：空等占总时间的比例")
def _(at: At) -> Term:
    p, m, v = at.pipeline_stages, at.micro_batches, at.interleave
    return (p - 1) / (v * m + p - 1)


@quantity("interleaved.communication_factor", "count", "交错流水线：级间通信是 1F1B 的几倍")
def _(at: At) -> Term:
    return at.interleave


@quantity("gpipe.in_flight", "count", "GPipe：第一级同时留着激活的微批数", "n_gpipe")
def _(at: At) -> Term:
    return at.micro_batches


@quantity("1f1b.in_flight", "count", "1F1B：第一级同时留着激活的微批数", "n_1f1b")
def _(at: At) -> Term:
    return smaller(at.pipeline_stages, at.micro_batches)


@quantity("interleaved.in_flight", "count", "交错流水线：第一级留着的激活，折合成微批数")
def _(at: At) -> Term:
    p, v = at.pipeline_stages, at.interleave
    return at("1f1b.in_flight") if at.scenario.interleave == 1 else p * (1 + (p - 1) / (p * v))


@quantity("pipeline.boundary_bytes", "MB", "相邻两级之间，一个微批单程传的激活字节", "G_p")
def _(at: At) -> Term:
    return activation_bytes_each(at) * at.sequence * at.micro_batch * at("model.hidden")


@quantity("pipeline.sent_per_step", "GB", "相邻两级之间，一步里来回传的字节")
def _(at: At) -> Term:
    return 2 * at.micro_batches * at("pipeline.boundary_bytes")


@quantity("pipeline.layers_per_stage", "count", "平均每级的层数")
def _(at: At) -> Term:
    return at("model.layers") / at.pipeline_stages
