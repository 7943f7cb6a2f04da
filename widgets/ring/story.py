"""The words of the stepper: what a step is part of, what happens in it, what it achieves."""

from __future__ import annotations

from py_core.executor import block_bounds
from py_core.schedules import Schedule, Step, Transfer

MODES = {
    "naive": "朴素",
    "limits": "它在哪失败",
    "ring": "环形",
    "reduce-scatter": "只做 reduce-scatter",
    "all-gather": "只做 all-gather",
    "tree": "二项树",
    "halving-doubling": "递归减半加倍",
    "direct": "直接互发",
    "hierarchical": "分层",
}
STORY = ("naive", "limits", "ring")  # the three tabs; the others stand in a second row

_PHASES = {
    ("naive", "gather"): "收集：一张一张发给 0 号卡",
    ("naive", "send back"): "发回：0 号卡一张一张发回去",
    ("ring", "reduce-scatter"): "第一段 reduce-scatter：边传边加",
    ("ring", "all-gather"): "第二段 all-gather：只传不加",
    ("reduce-scatter", "reduce-scatter"): "reduce-scatter：边传边加",
    ("all-gather", "all-gather"): "all-gather：只传不加",
    ("tree", "gather"): "沿树往上：两两相加",
    ("tree", "send back"): "沿树往下：把和传回去",
    ("halving-doubling", "fold"): "先折叠：多出来的卡把数并给邻居",
    ("halving-doubling", "reduce-scatter"): "减半：每次换出一半，边传边加",
    ("halving-doubling", "all-gather"): "加倍：把加好的成倍传开",
    ("halving-doubling", "unfold"): "再展开：把结果还给多出来的卡",
    ("direct", "reduce-scatter"): "第一步：每一块直接发给管它的卡",
    ("direct", "all-gather"): "第二步：管它的卡把和直接发给所有卡",
}


def phase(plan: Schedule, step: Step | None) -> str:
    """What the step is part of."""
    if step is None:
        return "还没开始"
    if plan.cards_per_node is None:
        return _PHASES[plan.scheme, step.phase]
    node = plan.cards_per_node
    across = any(t.source // node != t.target // node for t in step.transfers)
    doing = "边传边加" if step.phase == "reduce-scatter" else "只传不加"
    return f"机器{'之间' if across else '之内'} {step.phase}：{doing}"


def sentence(plan: Schedule, step: Step | None, elements: int = 0) -> str:
    """What happens in the step, with one transfer as the example.

    ``elements``: how many numbers each card has; 0 where every block is one number.
    """
    n = plan.cards
    if step is None:
        if plan.starts_reduced:
            return f"{n} 张卡各有一块已经集齐的和，别的块还空着。{_cut(n, elements)}"
        return f"{n} 张卡各有 {n} 块自己的数，只含自己的贡献。{_cut(n, elements)}"
    example = min(step.transfers, key=lambda t: (t.blocks, t.source))
    return _all(plan, step) + _transfer(example, n, elements)


def _cut(n: int, elements: int) -> str:
    """How the numbers of a card are cut into blocks."""
    if not elements:
        return ""
    size, longer = divmod(elements, n)
    if not longer:
        return f"{elements} 个数切成 {n} 块，每块 {size} 个。"
    first = f"前 {longer} 块" if longer > 1 else "块 0"
    rest = f"后 {n - longer} 块" if n - longer > 1 else f"块 {n - 1}"
    each = "各" if longer > 1 else " 有"
    other = "各" if n - longer > 1 else " 有"
    return f"{elements} 个数切成 {n} 块：{first}{each} {size + 1} 个，{rest}{other} {size} 个。"


def _all(plan: Schedule, step: Step) -> str:
    """What the transfers of the step have in common; empty where there is just one."""
    n, count = plan.cards, len(step.transfers)
    if count == 1:
        return ""
    if count == n * (n - 1):
        return "每张卡给别的每张卡各发一块。比如 "
    sizes = {len(t.blocks) for t in step.transfers}
    if count == n and sizes == {1}:
        return "每张卡发出一块，也收到一块。比如 "
    if count == n:
        return "每张卡同时发，也同时收。比如 "
    return f"{count} 张卡同时在发。比如 "


def _transfer(t: Transfer, cards: int, elements: int) -> str:
    count = ""
    if elements:
        bounds = block_bounds(elements, cards)
        count = f"（{sum(bounds[b][1] - bounds[b][0] for b in t.blocks)} 个数）"
    gap = "" if count else " "  # a bracket needs none
    if len(t.blocks) == 1:
        what, same = f"块 {t.blocks[0]}{count}{gap}", "同一块"
    elif len(t.blocks) == cards:
        what, same = f"全部 {cards} 块{count}", "数"
    else:
        what, same = f"块 {'、'.join(map(str, t.blocks))}{count}{gap}", "同样几块"
    takes = f"把它加到自己的{same}上" if t.op == "add" else "照抄下来"
    return f"{t.source} 号卡把{what}发给 {t.target} 号卡，{t.target} 号卡{takes}。"


def milestone(plan: Schedule, done: int) -> str:
    """What has been achieved with step ``done``; empty where nothing is complete yet."""
    total, steps = len(plan.steps), plan.steps
    if not done:
        return ""
    if done == total and plan.scheme != "reduce-scatter":
        return "到此，每张卡都有了完整的和。"
    if plan.scheme in ("naive", "tree"):
        if steps[done - 1].phase == "gather" and steps[done].phase == "send back":
            return "0 号卡加完了，接下来把和传回去。"
    elif plan.scheme in ("ring", "reduce-scatter") and done == plan.cards - 1:
        return f"到此，每张卡恰好有一块集齐了 {plan.cards} 张卡的贡献。"
    return ""
