"""Activations of one micro-batch through all layers: Korthikanti et al. 2023, Table 2.

Their formulas are of a GPT layer (GELU, LayerNorm, dropout, ordinary attention), 2-byte
activations, and leave out the embedding and the head. For another architecture they are
an estimate, and readers are told so. s, b, h, a, t, L: sequence, micro-batch, hidden
width, heads, tensor-parallel cards, layers.
"""

from __future__ import annotations

from py_core.quantities.splits import stages, tensor_cards
from py_core.quantity import At, quantity
from py_core.terms import Named, Term

_NO_PARALLEL = "korthikanti.bytes_no_parallel"
_TENSOR = "korthikanti.bytes_tp"
_FORMULA = "按 Korthikanti 等的 GPT 公式"


def activation_bytes_each(at: At) -> Named:
    return at.given("2", 2, "B/token", "激活以 bf16 存放和传输，每个 token 的每个元素 2 字节")


def _linear(at: At) -> Term:
    return at.printed(_NO_PARALLEL, "34", 34, "B/token")


def _scores(at: At) -> Term:
    """Attention scores, per token and hidden element: 5as/h."""
    five = at.printed(_NO_PARALLEL, "5", 5, "B/token²")
    return five * at("model.heads") * at.sequence / at("model.hidden")


def _split(at: At) -> Term:
    """What tensor parallelism leaves whole (10) and what it cuts (24)."""
    whole = at.printed(_TENSOR, "10", 10, "B/token")
    return whole + at.printed(_TENSOR, "24", 24, "B/token") / tensor_cards(at)


def _elements(at: At) -> Term:
    """Hidden elements of one micro-batch, all layers: s·b·h·L."""
    return at.sequence * at.micro_batch * at("model.hidden") * at("model.layers")


@quantity(
    "activations.coefficient",
    "B/token",
    "激活公式的 34 从哪里来：注意力 11 + MLP 19 + 两个 LayerNorm 4",
)
def _(at: At) -> Term:
    parts = "korthikanti.coefficient_parts"
    attention, mlp, norms = (at.printed(parts, str(n), n, "B/token") for n in (11, 19, 4))
    return attention + mlp + norms


@quantity("activations.no_parallel", "GB", f"激活：不切也不重算（{_FORMULA}）", "Act")
def _(at: At) -> Term:
    return _elements(at) * (_linear(at) + _scores(at))


@quantity(
    "activations.selective", "GB", f"激活：选择性重算，不存注意力分数（{_FORMULA}）", "Act_sel"
)
def _(at: At) -> Term:
    return _linear(at) * _elements(at)


@quantity("activations.tensor", "GB", f"激活：张量并行（{_FORMULA}）", "Act_t")
def _(at: At) -> Term:
    return _elements(at) * (_split(at) + _scores(at) / tensor_cards(at))


@quantity("activations.tensor_sequence", "GB", f"激活：张量并行加序列并行（{_FORMULA}）", "Act_ts")
def _(at: At) -> Term:
    return _elements(at) / tensor_cards(at) * (_linear(at) + _scores(at))


@quantity("activations.tensor_selective", "GB", f"激活：张量并行加选择性重算（{_FORMULA}）")
def _(at: At) -> Term:
    return _elements(at) * _split(at)


@quantity(
    "activations.tensor_sequence_selective",
    "GB",
    f"激活：张量并行加序列并行加选择性重算（{_FORMULA}）",
    "Act_tss",
)
def _(at: At) -> Term:
    return _linear(at) * _elements(at) / tensor_cards(at)


@quantity("activations.full_recompute", "GB", f"激活：全部重算，每层只存输入（{_FORMULA}）")
def _(at: At) -> Term:
    two = at.printed("korthikanti.bytes_full_recompute", "2", 2, "B/token")
    return two * _elements(at)


@quantity(
    "activations.first_stage",
    "GB",
    f"激活：交错流水线的第一级，张量、序列并行加选择性重算（{_FORMULA}）",
)
def _(at: At) -> Term:
    # L/p layers, of as many micro-batches as are in flight.
    in_flight, p = at("interleaved.in_flight"), stages(at, at.scenario.interleave)
    return at("activations.tensor_sequence_selective") * in_flight / p


@quantity(
    "activations.message_bytes",
    "MB",
    "一个微批在一层出口的激活：张量并行每次同步它，流水线往下一级传它",
    "G_a",
)
def _(at: At) -> Term:
    return activation_bytes_each(at) * at.sequence * at.micro_batch * at("model.hidden")


@quantity(
    "activations.memory_left",
    "GB",
    "ZeRO-3 剩下的显存放进选择性重算的激活，还剩多少（负数：装不下）",
)
def _(at: At) -> Term:
    return at("zero3.memory_left") - at("activations.selective")
