"""The overlap timeline's readouts: what of the communication the backward hides.

Simulated by :mod:`py_core.timeline`, with fixed costs per message left out, as in
:mod:`py_core.quantities.communication`. ``timeline.<readout>`` is DDP in steady state, unused
parameters sent as zeros behind the rest; ``timeline.<mode>.<readout>`` is one of its other
modes. What was measured on real DDP is ``ddp.<name>``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from statistics import median

from py_core import measured_ddp
from py_core.buckets import plan
from py_core.inventory import Inventory
from py_core.quantity import At, quantity
from py_core.scenario import Scenario
from py_core.setting import setting_of
from py_core.terms import Applied, Named, Term
from py_core.timeline import Timeline, simulate
from py_core.units import unit

STEADY = "buckets"

# Modes of py_core.timeline that have figures of their own, and what they are called.
_MODES = {
    STEADY: "边算边传",
    "first-iteration": "第一个训练步（只有一个桶）",
    "rebuilt": "梯度按真实到达的先后",
    "find-unused": "find_unused_parameters",
    "absent": "没有视觉塔和 MTP",
    "tied": "嵌入与输出头共用一个张量",
    "flipped": "重建之后各层倒过来执行",
}


@lru_cache(maxsize=32)
def _simulated(scenario: Scenario, mode: str) -> Timeline:
    return simulate(setting_of(scenario).in_mode(mode))


def _mode(mode: str, says: str) -> None:
    at_all = "timeline" if mode == STEADY else f"timeline.{mode}"
    mark = "" if mode == STEADY else f",{mode}"

    @quantity(f"{at_all}.sent_bytes", "GB", f"{says}：一个训练步里参加同步的字节", f"G_tl{mark}")
    def _(at: At) -> Term:
        found = _simulated(at.scenario, mode)
        size = found.communication_bytes
        told = "各桶的字节合计" + ("，加上一张“谁被用到”的表" if found.used_map else "")
        return at.counted(f"G_tl{mark}", Fraction(size, 10**9), told, "GB")

    @quantity(f"{at_all}.communication", "s", f"{says}：各桶的通信时间合计", f"t_comm{mark}")
    def _(at: At) -> Term:
        return at("ring.coefficient") * at(f"{at_all}.sent_bytes") / at("link.bandwidth")

    @quantity(f"{at_all}.end", "s", f"{says}：从反向开始，到最后一个桶同步完", f"t_end{mark}")
    def _(at: At) -> Term:
        end = _simulated(at.scenario, mode).end
        arguments = at("timeline.backward"), at(f"{at_all}.communication")
        return Applied("模拟({}, {})", end, *arguments)

    @quantity(f"{at_all}.exposed", "s", f"{says}：反向算完以后还要等的通信", f"t_exp{mark}")
    def _(at: At) -> Term:
        return at(f"{at_all}.end") - at("timeline.backward")

    @quantity(f"{at_all}.hidden_share", "%", f"{says}：通信里藏在反向下面的比例", f"ρ{mark}")
    def _(at: At) -> Term:
        communication = at(f"{at_all}.communication")
        return (communication - at(f"{at_all}.exposed")) / communication

    @quantity(f"{at_all}.buckets", "count", f"{says}：梯度分成几个桶", f"n_bkt{mark}")
    def _(at: At) -> Term:
        count = _simulated(at.scenario, mode).bucket_count
        return at.counted(f"n_bkt{mark}", count, "按 DDP 的规则分桶", "count")


@quantity("timeline.backward", "s", "反向：从输出头算到嵌入", "t_bwd")
def _(at: At) -> Term:
    return at("backward.seconds")


for _name, _says in _MODES.items():
    _mode(_name, _says)


@quantity("timeline.first_launch", "s", "第一个桶发出的时刻：输出头的梯度算好", "t_first")
def _(at: At) -> Term:
    launch = _simulated(at.scenario, STEADY).buckets[0].launch
    return Applied("模拟首桶({})", launch, at("timeline.backward"))


@quantity(
    "timeline.rest",
    "s",
    "反向算完以后还要等的通信里，除去输入嵌入与没用到的参数，剩下的",
    "t_rest",
)
def _(at: At) -> Term:
    tail = at("communication.embedding_seconds") + at("communication.unused_seconds")
    return at("timeline.exposed") - tail


@quantity("timeline.step", "s", "边算边传：一个训练步的时间", "t_step")
def _(at: At) -> Term:
    return at("forward.seconds") + at("timeline.backward") + at("timeline.exposed")


@quantity("timeline.step_speedup", "×", "反向算完再同步的一个训练步，是边算边传的几倍", "r_step")
def _(at: At) -> Term:
    return at("step.seconds_sync_after_backward", "t_sync") / at("timeline.step")


@quantity("timeline.break_even_tokens", "tokens", "每张卡从多少 token 起，通信比反向短", "T_even")
def _(at: At) -> Term:
    return at("communication.break_even_tokens")


# ── what is in the buckets: the text model by itself ────────────────────────────────────


def _sizes(at: At) -> list[int]:
    """Bytes of each bucket of the text model."""
    runs = _simulated(at.scenario, "absent").plan.runs
    return [run.bytes for run in runs for _ in range(run.count)]


def _size(name: str, symbol: str, says: str, pick: Callable[[list[int]], float]) -> None:
    @quantity(f"timeline.{name}", "MiB", says, symbol)
    def _(at: At) -> Term:
        return at.counted(symbol, Fraction(pick(_sizes(at))) / unit("MiB").scale, says, "MiB")


_size("smallest_bucket", "b_min", "只算文本模型：最小的桶", min)
_size("median_bucket", "b_med", "只算文本模型：中等大小的桶（中位数）", median)
_size("largest_bucket", "b_max", "只算文本模型：最大的桶", max)


@quantity("timeline.single_tensor_buckets", "count", "只算文本模型：只装了一个张量的桶", "n_one")
def _(at: At) -> Term:
    runs = _simulated(at.scenario, "absent").plan.runs
    alone = sum(run.count for run in runs if sum(piece.count for piece in run.pieces) == 1)
    return at.counted("n_one", alone, "只装了一个张量的桶", "count")


@quantity(
    "timeline.reference_buckets",
    "count",
    "参考实现（有视觉塔、没有 MTP）的梯度分成几个桶",
    "n_ref",
)
def _(at: At) -> Term:
    built = replace(setting_of(at.scenario), inventory=_without_mtp(at.inventory))
    return at.counted("n_ref", plan(built.cut).count, "按 DDP 的规则分桶", "count")


@lru_cache(maxsize=8)
def _without_mtp(model: Inventory) -> Inventory:
    return replace(model, tensors=tuple(t for t in model.tensors if t.part != "mtp"))


# ── measured on real DDP ────────────────────────────────────────────────────────────────


def _measured(at: At, symbol: str, value: Fraction | int, unit_name: str = "count") -> Named:
    about = measured_ddp.recorded()
    says = f"{about.date} 用 torch {about.torch}、{about.backend} 实测"
    return at.measured(symbol, Fraction(value) / unit(unit_name).scale, unit_name, says)


@quantity("ddp.runs", "count", "实测：比较过参数的训练次数（fp32、bf16，2 和 4 个进程）", "n_runs")
def _(at: At) -> Term:
    return _measured(at, "n_runs", len(measured_ddp.identities()))


@quantity("ddp.identical_runs", "count", "实测：其中所有进程的参数每一位都相同的", "n_same")
def _(at: At) -> Term:
    same = sum(entry.ranks_identical for entry in measured_ddp.identities())
    return _measured(at, "n_same", same)


@quantity("ddp.steps", "count", "实测：比较之前走了几个 AdamW 训练步", "n_steps")
def _(at: At) -> Term:
    return _measured(at, "n_steps", measured_ddp.identities()[0].steps)


def _difference(dtype: str, shown_in: str) -> None:
    @quantity(
        f"ddp.difference_{dtype}",
        shown_in,
        f"实测：{dtype} 训练后，两个进程与一个进程算整个批量，参数最大差多少",
        f"δ_{dtype}",
    )
    def _(at: At) -> Term:
        found = measured_ddp.identity(dtype, 2).largest_difference
        return _measured(at, f"δ_{dtype}", found, shown_in)


_difference("fp32", "10⁻⁷")
_difference("bf16", "10⁻³")


def _all_reduces(way: str, says: str) -> None:
    @quantity(f"ddp.all_reduces_{way}", "count", f"实测：{says}，all-reduce 的次数", f"n_{way}")
    def _(at: At) -> Term:
        return _measured(at, f"n_{way}", measured_ddp.accumulation(way).all_reduces)


_all_reduces("off", "累积梯度，每个微批都同步")
_all_reduces("on", "累积梯度，除了最后一个微批都在 no_sync 里")
_all_reduces("trap", "累积梯度，连最后一个微批的前向也在 no_sync 里")


@quantity("ddp.accumulated_steps", "count", "实测：累积梯度时走了几个训练步", "n_acc")
def _(at: At) -> Term:
    return _measured(at, "n_acc", measured_ddp.accumulation("off").steps)


@quantity("ddp.accumulated_backwards", "count", "实测：累积梯度时一共做了几次反向", "n_bwd")
def _(at: At) -> Term:
    micro_batches = measured_ddp.accumulation("off").micro_batches
    return at("ddp.accumulated_steps") * _measured(at, "k", micro_batches)
