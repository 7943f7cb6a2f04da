"""Expert parallelism: routed experts spread over cards, tokens sent to them.

DeepSeek-V3 (§2.1.2, §3.2): 64-way inside each of 16 pipeline stages, over 8 nodes, at
most 4 nodes per token; fp8 on the way out, bf16 on the way back.
"""

from __future__ import annotations

from py_core.errors import Accepted, ConfigError, ScenarioError
from py_core.quantity import At, quantity
from py_core.terms import Named, Term, choose, smaller


def _experts(at: At) -> Named:
    experts = at("model.experts")
    if not experts.value:
        accepted = Accepted("a mixture-of-experts model", "混合专家（MoE）模型")
        raise ConfigError(_pointer(at), 0, accepted)
    return experts


def _pointer(at: At) -> str:
    return at.inventory.dims.pointers.get("experts", "/num_experts")


def _nodes(at: At) -> Named:
    return at.fact("dsv3.expert_parallel_nodes", "D", "count")


@quantity(
    "expert_parallel.routed_per_card",
    "B params",
    "每张卡上的路由专家参数：流水线分级，级内再分专家",
)
def _(at: At) -> Term:
    return at("model.routed_expert_parameters") / (at.pipeline_stages * at.expert_parallel)


@quantity(
    "expert_parallel.routed_per_card_unstaged",
    "B params",
    "假如不分流水线级：每张卡上的路由专家参数",
)
def _(at: At) -> Term:
    return at("model.routed_expert_parameters") / at.expert_parallel


@quantity("expert_parallel.experts_per_card", "count", "每张卡、每个 MoE 层的专家数")
def _(at: At) -> Term:
    experts = _experts(at) / at.expert_parallel
    if experts.value.denominator != 1:
        raise ScenarioError(
            "expert_parallel",
            at.scenario.expert_parallel,
            Accepted(
                f"a divisor of {at.inventory.dims.experts} experts",
                f"专家数 {at.inventory.dims.experts} 的约数",
            ),
        )
    return experts


@quantity(
    "expert_parallel.nodes_free",
    "count",
    "不设限、均匀路由：一个 token 平均落到几台机器上",
    "D_free",
)
def _(at: At) -> Term:
    experts, nodes, k = _experts(at), _nodes(at), at("model.top_k")
    others = experts - experts / nodes
    if others.value.denominator != 1:
        accepted = Accepted(f"a multiple of {nodes.shown} nodes", f"机器数 {nodes.shown} 的倍数")
        raise ConfigError(_pointer(at), at.inventory.dims.experts, accepted)
    return nodes * (1 - choose(others, k) / choose(experts, k))


@quantity(
    "expert_parallel.nodes_limited", "count", "限制之后：一个 token 最多落到几台机器上", "D_max"
)
def _(at: At) -> Term:
    _experts(at)
    return smaller(at.fact("dsv3.max_nodes_per_token", "D_lim", "count"), at("model.top_k"))


def _bytes_there_and_back(at: At) -> Term:
    there = at.given("1", 1, "B", "派发用 fp8，每个元素 1 字节")
    return there + at.given("2", 2, "B", "合并用 bf16，每个元素 2 字节")


@quantity(
    "expert_parallel.bytes_per_token",
    "kB",
    "每个 token、每个 MoE 层最多跨机传的字节：派发加合并",
    "A_tok",
)
def _(at: At) -> Term:
    return at("expert_parallel.nodes_limited") * at("model.hidden") * _bytes_there_and_back(at)


@quantity(
    "expert_parallel.remote_bytes_per_token",
    "kB",
    "扣掉落在本机的份额：每个 token、每个 MoE 层跨机传的字节",
)
def _(at: At) -> Term:
    nodes = _nodes(at)
    return (nodes - 1) / nodes * at("expert_parallel.bytes_per_token")


@quantity("expert_parallel.seconds_per_token", "µs", "每个 token、每个 MoE 层跨机传要多久")
def _(at: At) -> Term:
    return at("expert_parallel.remote_bytes_per_token", "A_rem") / at.bandwidth


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
