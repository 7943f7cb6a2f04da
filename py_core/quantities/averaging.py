"""Unequal sample lengths: a mean of means is not the mean over all tokens.

Shown on :mod:`py_core.least_squares`, whose gradients are real. They are given as the
direction of descent at w = 0, which is the gradient with its sign turned.
"""

from __future__ import annotations

from fractions import Fraction

from py_core import least_squares
from py_core.quantity import At, quantity
from py_core.terms import Named, Term


def _sum(at: At, card: int, what: str) -> Named:
    found = least_squares.sums(card, getattr(at.scenario, f"tokens_card{card}"))
    value = found.products if what == "xy" else found.squares
    says = f"{card} 号卡的有效 token 逐个加起来的 Σ{what}（数据由种子 {least_squares.SEED} 生成）"
    return at.given(f"Σ{what}_{card}", Fraction(value), "tokens", says)


@quantity(
    "averaging.overweight", "×", "先各自平均、再平均：1 号卡每个 token 的权重是 0 号卡的几倍", "w"
)
def _(at: At) -> Term:
    return at.tokens_card0 / at.tokens_card1


@quantity("averaging.share_of_card0", "%", "按 token 数平均：0 号卡该占的权重", "q_0")
def _(at: At) -> Term:
    return at.tokens_card0 / (at.tokens_card0 + at.tokens_card1)


@quantity("averaging.share_of_card1", "%", "按 token 数平均：1 号卡该占的权重", "q_1")
def _(at: At) -> Term:
    return at.tokens_card1 / (at.tokens_card0 + at.tokens_card1)


@quantity(
    "averaging.gradient_card0", "ratio", "0 号卡：自己那些 token 的平均梯度（取相反数）", "g_0"
)
def _(at: At) -> Term:
    return _sum(at, 0, "xy") / at.tokens_card0


@quantity(
    "averaging.gradient_card1", "ratio", "1 号卡：自己那些 token 的平均梯度（取相反数）", "g_1"
)
def _(at: At) -> Term:
    return _sum(at, 1, "xy") / at.tokens_card1


@quantity("averaging.mean_of_means", "ratio", "先各自平均、再平均：得到的梯度（取相反数）", "g_mm")
def _(at: At) -> Term:
    return (at("averaging.gradient_card0") + at("averaging.gradient_card1")) / 2


@quantity(
    "averaging.weighted",
    "ratio",
    "按 token 数加权：得到的梯度（取相反数），和整批直接算的一样",
    "g_tok",
)
def _(at: At) -> Term:
    every = at.tokens_card0 + at.tokens_card1
    return (_sum(at, 0, "xy") + _sum(at, 1, "xy")) / every


@quantity("averaging.error", "%", "先各自平均、再平均：梯度偏了多少（正的是偏大）")
def _(at: At) -> Term:
    weighted = at("averaging.weighted")
    return (at("averaging.mean_of_means") - weighted) / weighted


@quantity("averaging.best_weighted", "ratio", "按 token 数加权：训练到最后的 w", "w_tok")
def _(at: At) -> Term:
    products = _sum(at, 0, "xy") + _sum(at, 1, "xy")
    return products / (_sum(at, 0, "x²") + _sum(at, 1, "x²"))


@quantity("averaging.best_mean_of_means", "ratio", "先各自平均、再平均：训练到最后的 w", "w_mm")
def _(at: At) -> Term:
    n0, n1 = at.tokens_card0, at.tokens_card1
    products = _sum(at, 0, "xy") / n0 + _sum(at, 1, "xy") / n1
    return products / (_sum(at, 0, "x²") / n0 + _sum(at, 1, "x²") / n1)
