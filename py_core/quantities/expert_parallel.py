"""Expert parallelism: routed experts spread over cards, tokens sent to them.

DeepSeek-V3 (§2.1.2, §3.2): 64-way inside each of 16 pipeline stages, over 8 nodes, at
most 4 nodes per token; fp8 on the way out, bf16 on the way back. For other sizes and models
the nodes are still DeepSeek's, of 8 cards, and so is the limit; the texts say so.
"""

from __future__ import annotations

from py_core.errors import Accepted, ScenarioError
from py_core.quantities.splits import refuse, stages
from py_core.quantity import At, quantity
from py_core.terms import Named, Term, choose, rounded_up, smaller

_MOE = "deepseek-v3"  # the lesson's own mixture of experts


def _experts(at: At) -> Named:
    experts = at("model.experts")
    if not experts.value:
        accepted = Accepted(
            f"a mixture-of-experts model, such as model={_MOE} (this one is dense: no experts)",
            f"混合专家（MoE）模型，例如 {_MOE}（这个模型是稠密的，没有专家）",
        )
        raise ScenarioError("model", at.scenario.model.name, accepted)
    return experts


def _cards(at: At) -> Named:
    """The expert-parallel cards e. Raises ScenarioError where experts do not divide over them."""
    experts = int(_experts(at).value)
    if experts % at.scenario.expert_parallel:
        refuse(at, "expert_parallel", f"a divisor of {experts} experts", f"专家数 {experts} 的约数")
    return at.expert_parallel


@quantity(
    "expert_parallel.routed_per_card",
    "B params",
    "平均每张卡上的路由专家参数：先按流水线分级，级内再分专家",
)
def _(at: At) -> Term:
    return at("model.routed_expert_parameters") / (stages(at) * _cards(at))


@quantity(
    "expert_parallel.routed_per_card_unstaged",
    "B params",
    "假如不分流水线级：每张卡上的路由专家参数",
)
def _(at: At) -> Term:
    return at("model.routed_expert_parameters") / _cards(at)


@quantity("expert_parallel.experts_per_card", "count", "每张卡、每个 MoE 层的专家数")
def _(at: At) -> Term:
    return _experts(at) / _cards(at)


@quantity("expert_parallel.nodes", "count", "专家并行跨几台机器（每台的卡数照 DeepSeek-V3）", "D")
def _(at: At) -> Term:
    cards, per_node = _cards(at), at.fact("dsv3.gpus_per_node", "g_DS", "count")
    size = int(per_node.value)
    if at.scenario.expert_parallel > size and at.scenario.expert_parallel % size:
        refuse(
            at,
            "expert_parallel",
            f"a multiple of {size} (whole nodes), or less than {size}",
            f"{size} 的倍数（整台机器），或者小于 {size}",
        )
    return rounded_up(cards / per_node)


@quantity(
    "expert_parallel.nodes_free",
    "count",
    "不设限、均匀路由：一个 token 平均落到几台机器上（每台的卡数照 DeepSeek-V3）",
    "D_free",
)
def _(at: At) -> Term:
    experts, nodes, k = _experts(at), at("expert_parallel.nodes"), at("model.top_k")
    return nodes * (1 - choose(experts - experts / nodes, k) / choose(experts, k))


def _limit(at: At) -> Named:
    return at.fact("dsv3.max_nodes_per_token", "D_lim", "count")


@quantity(
    "expert_parallel.nodes_limited",
    "count",
    "照 DeepSeek-V3 的上限：一个 token 最多落到几台机器上",
    "D_max",
)
def _(at: At) -> Term:
    return smaller(_limit(at), at("model.top_k"), at("expert_parallel.nodes"))


@quantity(
    "expert_parallel.remote_nodes_limited",
    "count",
    "照 DeepSeek-V3 的上限：一个 token 最多落到几台别的机器上",
    "D_rem",
)
def _(at: At) -> Term:
    return smaller(_limit(at), at("model.top_k"), at("expert_parallel.nodes") - 1)


def _bytes_there_and_back(at: At) -> Term:
    there = at.given("1", 1, "B", "派发用 fp8，每个元素 1 字节")
    return there + at.given("2", 2, "B", "合并用 bf16，每个元素 2 字节")


@quantity(
    "expert_parallel.bytes_per_token",
    "kB",
    "照 DeepSeek-V3 的上限：每个 token、每个 MoE 层最多跨机传的字节，派发加合并",
    "A_tok",
)
def _(at: At) -> Term:
    remote = at("expert_parallel.remote_nodes_limited")
    return remote * at("model.hidden") * _bytes_there_and_back(at)


@quantity(
    "expert_parallel.remote_bytes_per_token",
    "kB",
    "用满上限、均匀落到各台机器：每个 token、每个 MoE 层平均跨机传的字节",
    "A_rem",
)
def _(at: At) -> Term:
    # Of the nodes a token goes to, its own is one in D on average.
    nodes, used = at("expert_parallel.nodes"), at("expert_parallel.nodes_limited")
    return (nodes - 1) / nodes * used * at("model.hidden") * _bytes_there_and_back(at)


@quantity(
    "expert_parallel.seconds_per_token",
    "µs",
    "用满上限、均匀路由：每个 token、每个 MoE 层跨机传平均要多久",
)
def _(at: At) -> Term:
    return at("expert_parallel.remote_bytes_per_token") / at.bandwidth


@quantity(
    "expert_parallel.active_parameters_per_layer",
    "params",
    "一个 MoE 层里，对每个 token 做乘法的参数（路由专家按选中的比例计）",
    "P_layer",
)
def _(at: At) -> Term:
    _experts(at)
    tensors = at.inventory.tensors
    layer = max(t.layer or 0 for t in tensors if t.role == "expert" and t.part == "layers")
    active = sum(t.parameters * t.active for t in tensors if t.layer == layer)
    return at.counted("P_layer", active, f"第 {layer} 层里对每个 token 做乘法的参数")


@quantity("expert_parallel.bandwidth_ratio", "ratio", "机器之间的带宽是机器之内的几分之几")
def _(at: At) -> Term:
    return at.bandwidth / at.node_bandwidth
