"""The readouts of a simulated step as quantities, whatever its setting.

Also of no tokens, one card or an accumulated step, which no Scenario describes. Each is a
formula over the setting's own fields where there is one, else what :mod:`py_core.timeline`
simulated; so that a frame of a widget carries few and short panels. Where a registered
quantity says the same, tests hold both to one value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from py_core.inputs import ScenarioInput
from py_core.quantity import At, Quantity, at
from py_core.scenario import SPECS, Scenario
from py_core.terms import Applied, Named, Term, whole_part
from py_core.timeline import Timeline
from py_core.units import unit

# Readout: unit, what it is, its symbol.
_READOUTS = {
    "backward": ("s", "一个训练步里的反向", "t_bwd"),
    "forward": ("s", "一个训练步里的前向：反向的一半", "t_fwd"),
    "communication": ("s", "各桶通信时间的合计", "t_comm"),
    "ratio": ("ratio", "通信 ÷ 反向（大于 1 就藏不住）", "t_comm/t_bwd"),
    "exposed": ("s", "反向算完以后还要等的通信", "t_exp"),
    "hidden_share": ("%", "通信里藏在反向下面的比例", "ρ"),
    "buckets": ("count", "一次反向的梯度分成几个桶", "n_bkt"),
    "step": ("s", "一个训练步：前向、反向，加上没藏住的通信", "t_step"),
    "step_without_overlap": ("s", "一点也不重叠的一步：前向、反向、通信相加", "t_sync"),
    "break_even": ("tokens", "每张卡从多少 token 起，通信比反向短", "T*"),
}


def readouts(found: Timeline, scenario: Scenario) -> dict[str, Quantity]:
    """Every readout that exists; without communication there is no hidden share.

    ``scenario`` gives the model's file to the panels; the figures are ``found``'s.
    """
    made: dict[str, Quantity] = {}
    for name, term in _terms(found, at(scenario), made):
        unit_name, says, symbol = _READOUTS[name]
        made[name] = Quantity(f"overlap.{name}", says, unit(unit_name), symbol, term)
    return made


def _terms(found: Timeline, here: At, made: dict[str, Quantity]) -> Iterator[tuple[str, Term]]:
    """Readout by readout, each from those before it."""

    def of(name: str) -> Named:
        q = made[name]
        return Named(q.symbol, q.value, q.term.dimension, q, q.display)

    def simulated(value: Fraction, *arguments: Term) -> Term:
        written = ", ".join(["{}"] * len(arguments))
        return Applied(f"模拟({written})", value, *arguments)

    setting = found.setting
    passes = _micro_batches(here, len(found.passes))
    work = here.counted(
        "P_c", Fraction(found.plan.work, found.plan.unit), "对每个文本 token 做乘法的参数"
    )
    tokens, flops = _field(here, "tokens", setting.tokens), _field(here, "flops", setting.flops)
    for name, factor, says in (
        ("backward", 4, "反向：每个参数、每个 token 4 FLOP"),
        ("forward", 2, "前向：每个参数、每个 token 2 FLOP"),
    ):
        each = here.given(str(factor), factor, "FLOP/param/token", says)
        yield name, passes(each * work * tokens / flops)
    communication = _ring(found, here)
    if communication is None or communication.value != found.communication:
        # Fixed costs, or a hierarchy: bucket by bucket.
        at_once = of("backward") if found.backward else here.given("t₀", 0, "s", "反向不花时间")
        communication = simulated(found.communication, at_once)
    yield "communication", communication
    if found.ratio is not None:
        yield "ratio", of("communication") / of("backward")
    yield "exposed", simulated(found.exposed, of("backward"), of("communication"))
    if found.hidden_share is not None:
        yield "hidden_share", (of("communication") - of("exposed")) / of("communication")
    yield "buckets", here.counted("n_bkt", found.bucket_count, "按 DDP 的规则分桶", "count")
    yield "step", of("forward") + of("backward") + of("exposed")
    yield "step_without_overlap", of("forward") + of("backward") + of("communication")
    if found.break_even_tokens is not None:
        one = here.given("1", 1, "tokens", "再多一个 token，就严格地短了")
        each = here.given("4", 4, "FLOP/param/token", "反向：每个参数、每个 token 4 FLOP")
        yield "break_even", whole_part(of("communication") / passes(each * work / flops)) + one


def _micro_batches(here: At, count: int) -> Callable[[Term], Term]:
    """Times the micro-batches of a step, where there is more than one."""
    if count == 1:
        return lambda term: term
    k = here.given("k", count, "count", "梯度累积：每个训练步的微批数")
    return lambda term: term * k


def _field(here: At, name: str, value: Fraction | int) -> Named:
    """A Scenario field with a value of the simulation's, which may be out of its range."""
    spec = SPECS[name]
    scale = unit(spec.unit).scale
    scaled = Fraction(value) / scale if name == "flops" else Fraction(value)
    term = here.given(spec.symbol, scaled, spec.unit, spec.says)
    return Named(term.symbol, term.value, term.dimension, ScenarioInput(spec), lambda: term.shown)


def _ring(found: Timeline, here: At) -> Term | None:
    """A flat ring without fixed costs; None where the step runs another way."""
    setting = found.setting
    in_node = setting.cards_per_node >= setting.cards
    rate = setting.node_bandwidth if in_node else setting.bandwidth
    if rate is None:
        return None
    cards = _field(here, "cards", setting.cards)
    sent = here.counted("G", Fraction(found.communication_bytes, 10**9), "各桶的字节合计", "GB")
    spec = SPECS["node_bandwidth" if in_node else "bandwidth"]
    width = here.given(spec.symbol, rate / 10**9, "GB/s", spec.says)
    return 2 * (cards - 1) / cards * sent / width


__all__ = ["readouts"]
