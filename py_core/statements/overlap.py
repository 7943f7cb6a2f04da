"""Communication against the backward pass, and unequal sample lengths."""

from __future__ import annotations

from py_core.claims import claim, line, multiplied
from py_core.quantity import At
from py_core.terms import Comparison


@claim(
    "comm_exceeds_backward",
    "通信比反向计算久",
    "每张卡 {tokens} 个 token 时，通信 {communication.seconds}，反向 {backward.seconds}："
    "通信并不更久",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.seconds") > at("backward.seconds")]


@claim(
    "backward_covers_comm",
    "反向计算比通信久，通信有可能藏得住",
    "反向 {backward.seconds}，通信 {communication.seconds}：通信藏不住，"
    "要每张卡 {communication.break_even_tokens} 个 token 起才有可能",
)
def _(at: At) -> list[Comparison]:
    return [at("backward.seconds") > at("communication.seconds")]


@claim("comm_ignores_tokens", "每张卡的 token 变成四倍，通信一点不变，反向也变成四倍")
def _(at: At) -> list[Comparison]:
    few, many = multiplied(at, "tokens", 4)
    return [
        many("communication.seconds").equals(few("communication.seconds")),
        many("backward.seconds").equals(4 * few("backward.seconds")),
    ]


@claim(
    "one_node_hides_comm",
    "同样的卡放进一台机器、走机内带宽，反向就盖得住通信",
    "就算走 {node_bandwidth} 的机内带宽，通信也要 {communication.seconds_in_node}，"
    "不短于 {backward.seconds} 的反向",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.seconds_in_node") < at("backward.seconds")]


@claim(
    "embedding_tail_outweighs_unused",
    "反向结束后还要传的，输入嵌入的梯度比没用到的视觉塔和 MTP 的零更费时",
    "同步没用到的视觉塔和 MTP 的零要 {communication.unused_seconds}，"
    "不短于输入嵌入的 {communication.embedding_seconds}",
)
def _(at: At) -> list[Comparison]:
    return [at("communication.embedding_seconds") > at("communication.unused_seconds")]


@claim(
    "means_of_means_are_skewed",
    "两张卡有效 token 数不同，先各自平均、再平均，token 少的卡每个 token 权重更大",
)
def _(at: At) -> list[Comparison]:
    return [at("averaging.overweight") > line(at, "1", "一样重")]


@claim(
    "weighting_by_tokens_is_exact",
    "各卡的平均梯度按有效 token 数加权，就是把所有 token 放在一起算的梯度",
)
def _(at: At) -> list[Comparison]:
    first = at("averaging.share_of_card0") * at("averaging.gradient_card0")
    second = at("averaging.share_of_card1") * at("averaging.gradient_card1")
    return [(first + second).equals(at("averaging.weighted"))]
