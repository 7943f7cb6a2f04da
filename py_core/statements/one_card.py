"""One card: the state does not fit and the computing does not end."""

from __future__ import annotations

from py_core.claims import claim, multiplied
from py_core.quantity import At
from py_core.terms import Comparison


@claim(
    "every_parameter_has_state",
    "每个参数都要训练：模型状态是参数个数乘以每个参数的字节",
    "只训练 {model.trained_parameters} 个参数，其余的没有梯度，也没有优化器状态",
)
def _(at: At) -> list[Comparison]:
    return [at("state.bytes").equals(at("state.bytes_each") * at("model.parameters"))]


@claim(
    "every_parameter_has_a_gradient",
    "每个参数都有梯度：一份梯度是参数个数乘以每个参数的字节",
    "只有要训练的 {model.trained_parameters} 个参数有梯度",
)
def _(at: At) -> list[Comparison]:
    return [at("gradient.bytes").equals(at("gradient.bytes_each") * at("model.parameters"))]


@claim(
    "state_exceeds_card",
    "一张卡的显存装不下模型状态",
    "这个模型的状态是 {state.bytes}，一张 {card_memory} 的卡装得下",
)
def _(at: At) -> list[Comparison]:
    return [at("state.bytes") > at.card_memory]


@claim("copies_stay_whole", "卡数翻倍，数据并行每张卡的模型状态一点不少，所有卡合计也翻倍")
def _(at: At) -> list[Comparison]:
    few, many = multiplied(at, "cards", 2)
    return [
        many("state.bytes").equals(few("state.bytes")),
        many("state.bytes_of_all_cards").equals(2 * few("state.bytes_of_all_cards")),
    ]


@claim("dsv3_takes_centuries_on_one_card", "DeepSeek-V3 的预训练放到一张卡上，要几百年")
def _(at: At) -> list[Comparison]:
    centuries = at.given("200 年", 200, "years", "「几百年」至少是 200 年")
    return [at("dsv3.years_on_one_card") >= centuries]


@claim("dsv3_took_under_two_months", "DeepSeek-V3 的预训练用它自己的卡，不到两个月")
def _(at: At) -> list[Comparison]:
    return [at("dsv3.days_on_its_cards") < at.given("60 天", 60, "days", "两个月按 60 天算")]


@claim("dsv3_hours_add_up", "DeepSeek-V3 每万亿 token 的机时乘以 token 数，正好是报告的合计")
def _(at: At) -> list[Comparison]:
    return [at("dsv3.gpu_hours_from_rate").equals(at("dsv3.gpu_hours"))]
