"""What the timeline's fields are, and the step that they describe."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from py_core.buckets import MIB
from py_core.scenario import DEFAULT, GRADIENT_BYTES, Scenario, decimal
from py_core.setting import MAX_ACCUMULATION, Setting
from widgets.models import model_field
from widgets.state import Choice, Pinned, Place, Real, Values, Whole

MODES = {
    "sync": "反向算完再同步",
    "buckets": "分桶，边算边传",
    "first-iteration": "第一个训练步：一个桶",
}
GUESSES = {
    "ask": "还没猜",
    "skip": "不猜，直接看",
    "none": "一点不剩，全藏住",
    "half": "大约剩一半",
    "most": "还剩九成以上",
}
NETS = {
    "ib": "每台一张卡，走 IB",
    "nvlink": "都在一台机器里，走 NVLink",
    "hierarchical": "每台 8 张，分层",
}
ORDERS = {
    "registration": "注册顺序倒过来",
    "arrival": "重建后：按梯度真正到达的先后",
    "flipped": "重建以后，各层又倒过来执行",
}
UNUSED = {
    "static": "有，DDP 知道没用到（静态图）",
    "find-unused": "有，find_unused_parameters=True",
    "error": "有，DDP 不知道（报错）",
    "absent": "真的没有这些参数",
}
TIED = {"auto": "按模型的配置", "on": "共用一个张量", "off": "各是各的"}
NO_SYNC = {
    "off": "不用：每个微批都同步",
    "on": "用：只同步最后一个微批",
    "trap": "用错：最后一次前向也包进去了",
}
UNLIMITED = ("inf", "不限")

# The lesson's own, as a query says them.
BANDWIDTH, NODE_BANDWIDTH = decimal(DEFAULT.bandwidth), decimal(DEFAULT.node_bandwidth)

NODE = 8  # cards of a node where nodes and their cards are told apart
PLACES = 1 << 16  # places along the time axis
MOST_ZOOM = 13

CONFIGURATION = (
    Choice("mode", "做法", "buckets", MODES),
    Whole("tokens", "每张卡的 token 数", DEFAULT.tokens, 0, 10_000_000),
    Whole("cards", "卡数", DEFAULT.cards, 1, 1_048_576),
    Choice("net", "机器怎么连", "ib", NETS),
    Real("bandwidth", "带宽", BANDWIDTH, "0.001", "100000", "GB/s", UNLIMITED),
    Real("flops", "有效算力", decimal(DEFAULT.flops), "0.001", "1000000", "TFLOPS"),
    Whole("cap", "桶的上限", int(DEFAULT.bucket_cap), 1, 1_048_576),
    Real("latency", "每条消息的固定开销", "0", "0", "1000000", "µs"),
    model_field(counted=True),
    Choice("gradient", "梯度", DEFAULT.gradient, {"bf16": "bf16", "fp32": "fp32"}),
    Choice("unused", "没用到的参数", "static", UNUSED),
    Choice("order", "桶的顺序", "registration", ORDERS),
    Choice("tied", "嵌入与输出头", "auto", TIED),
    Whole("accumulation", "一步几个微批", 1, 1, MAX_ACCUMULATION),
    Choice("no_sync", "no_sync", "on", NO_SYNC),
)

FIELDS = (
    Choice("guess", "猜测", "ask", GUESSES),
    *CONFIGURATION,
    Pinned("pin", "对照", CONFIGURATION),
    Place("bucket", "选中的桶"),
    Whole("zoom", "放大", 0, 0, MOST_ZOOM, cursor=True),
    Whole("from", "从哪里看起", 0, 0, PLACES - 1, cursor=True),
    Whole("time", "时刻", 0, 0, PLACES, cursor=True),
    Choice("table", "表格", "off", {"off": "收起", "on": "展开"}, cursor=True),
)


@dataclass(frozen=True, slots=True)
class Step:
    """The step that a configuration describes. ``scenario``: the nearest of the lesson's, for
    the names of its inputs; ``instead``: why it is not quite what was asked for."""

    setting: Setting
    scenario: Scenario
    instead: str


def step_of(values: Values) -> Step:
    """Never fails: what cannot be is replaced, and said."""
    cards, net = int(values["cards"]), str(values["net"])
    instead = ""
    if net == "hierarchical" and cards % min(NODE, cards):
        net = "ib"
        instead = f"{cards:,} 张卡分不成每台 {NODE} 张，分层走不了：下面按一个大环算。"
    limit = None if values["bandwidth"] in UNLIMITED else Fraction(str(values["bandwidth"]))
    rate = None if limit is None else limit * 10**9
    in_node = DEFAULT.node_bandwidth * 10**9
    nodes = {"ib": 1, "nvlink": cards, "hierarchical": NODE}[net]
    latency = Fraction(str(values["latency"])) / 10**6
    order = str(values["order"])
    scenario = _scenario(values, net, limit)
    setting = Setting(
        scenario.model.inventory,
        cards=cards,
        cards_per_node=nodes,
        bandwidth=rate,
        node_bandwidth=rate if net == "nvlink" else in_node,
        latency=latency,
        node_latency=latency,
        hierarchical=net == "hierarchical",
        flops=Fraction(str(values["flops"])) * 10**12,
        tokens=int(values["tokens"]),
        gradient_bytes=GRADIENT_BYTES[str(values["gradient"])],
        bucket_cap=int(values["cap"]) * MIB,
        sending=str(values["mode"]),
        unused=str(values["unused"]),
        tied={"auto": None, "on": True, "off": False}[str(values["tied"])],
        order="registration" if order == "flipped" else order,
        flipped=order == "flipped",
        accumulation=int(values["accumulation"]),
        no_sync=str(values["no_sync"]),
    )
    return Step(setting, scenario, instead)


def _scenario(values: Values, net: str, bandwidth: Fraction | None) -> Scenario:
    """The lesson's Scenario with what it can take of ``values``."""
    changes: dict[str, object] = {
        "model": values["model"],
        "gradient": values["gradient"],
        "bucket_cap": values["cap"],
        "flops": values["flops"],
    }
    if int(values["tokens"]):
        changes["tokens"] = values["tokens"]
    if int(values["cards"]) > 1:
        changes["cards"] = values["cards"]
    if bandwidth is not None:
        changes["node_bandwidth" if net == "nvlink" else "bandwidth"] = bandwidth
    if net == "nvlink":
        changes["cards_per_node"] = min(1024, int(values["cards"]))
    return DEFAULT.with_fields(changes)
