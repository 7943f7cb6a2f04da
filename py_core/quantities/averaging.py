"""Unequal sample lengths: a mean of means is not the mean over all tokens."""

from __future__ import annotations

from py_core.quantity import At, quantity
from py_core.terms import Named, Term


def _valid_tokens(at: At) -> tuple[Named, Named]:
    return (
        at.given("n₀", 30_000, "tokens", "例子：0 号卡的 8 条序列里有效的 token 数"),
        at.given("n₁", 20_000, "tokens", "例子：1 号卡的有效 token 数，其余是填充"),
    )


@quantity(
    "averaging.overweight", "×", "先各自平均、再平均：1 号卡每个 token 的权重是 0 号卡的几倍", "w"
)
def _(at: At) -> Term:
    n0, n1 = _valid_tokens(at)
    return n0 / n1


@quantity("averaging.share_of_card0", "%", "按 token 数平均：0 号卡该占的权重")
def _(at: At) -> Term:
    n0, n1 = _valid_tokens(at)
    return n0 / (n0 + n1)
