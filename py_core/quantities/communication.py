"""Communication against computation: does the backward pass hide the all-reduce?

Per step the ring's bytes are fixed by the parameters while the backward grows with the
tokens. Fixed costs per message are left out here, as in the chapter's first comparison;
:mod:`py_core.quantities.schemes` counts them.
"""

from __future__ import annotations

from py_core.quantities.compute import flops_each
from py_core.quantity import At, quantity
from py_core.terms import Term, whole_part


@quantity("communication.seconds", "s", "同步一次梯度的时间：环形的字节 ÷ 带宽", "t_comm")
def _(at: At) -> Term:
    return at("ring.sent_per_card") / at("link.bandwidth")


@quantity(
    "communication.seconds_in_node", "s", "同样的卡放进一台机器：同步一次梯度的时间", "t_node"
)
def _(at: At) -> Term:
    return at("ring.sent_per_card") / at.node_bandwidth


@quantity(
    "communication.over_backward", "ratio", "通信时间 ÷ 反向时间（大于 1 就藏不住）", "t_comm/t_bwd"
)
def _(at: At) -> Term:
    return at("communication.seconds") / at("backward.seconds")


@quantity(
    "communication.break_even_tokens",
    "tokens",
    "每个训练步，每张卡从多少 token 起，通信比反向短",
    "T*",
)
def _(at: At) -> Term:
    per_token = flops_each(at, 4) * at("model.compute_parameters") / at.flops
    one = at.given("1", 1, "tokens", "再多一个 token，就严格地短了")
    return whole_part(at("communication.seconds") / per_token) + one


@quantity("communication.text_bytes", "GB", "只同步文本模型的梯度：每张卡发出的字节", "A_text")
def _(at: At) -> Term:
    each = at("gradient.bytes_each")
    return at("ring.coefficient") * each * at("model.text_parameters")


@quantity("communication.text_seconds", "s", "只同步文本模型的梯度：通信时间", "t_text")
def _(at: At) -> Term:
    return at("communication.text_bytes") / at("link.bandwidth")


@quantity(
    "communication.embedding_seconds", "s", "输入嵌入的梯度单独同步要多久：它最后才算好", "t_emb"
)
def _(at: At) -> Term:
    size = at("gradient.bytes_each") * at("model.embedding_parameters")
    return at("ring.coefficient") * size / at("link.bandwidth")


@quantity(
    "communication.unused_seconds",
    "s",
    "视觉塔和 MTP 没用到、梯度全是零，照样同步要多久",
    "t_unused",
)
def _(at: At) -> Term:
    size = at("gradient.bytes_each") * at("model.unused_parameters")
    return at("ring.coefficient") * size / at("link.bandwidth")


@quantity(
    "step.seconds_sync_after_backward",
    "s",
    "反向算完再同步：一个训练步的时间（前向、反向、通信相加）",
)
def _(at: At) -> Term:
    return at("forward.seconds") + at("backward.seconds") + at("communication.seconds")
