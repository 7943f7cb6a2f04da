"""One training step of data parallelism on a time axis: the backward, and the buckets sent.

Two lanes. The *backward* runs from the head down to the embedding, each tensor for as long
as its 4 FLOP per parameter and token take. The *communication* lane sends the buckets of
:mod:`py_core.buckets` one after another: bucket i is launched when buckets 0 … i are
complete, and starts when the stream is free. What of it lies behind the end of the
backward is *exposed*, the rest is *hidden*.

Time 0 is the start of the (first) backward. All times are exact. The simulation counts in
ticks, the largest unit in which every time of the step is a whole number; what is handed
out is in seconds, except where it says ticks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm
from types import MappingProxyType
from typing import Any, Final, overload

from py_core.buckets import DEFAULT_CAP, ORDERS, UNUSED, BucketRun, Cut, Piece, Plan, plan
from py_core.errors import Accepted, ScenarioError, one_of, whole
from py_core.inventory import Inventory
from py_core.scenario import GRADIENT_BYTES, SPECS, Scenario
from py_core.units import unit

SENDING: Final = ("buckets", "sync", "first-iteration")
NO_SYNC: Final = ("off", "on", "trap")
MAX_ACCUMULATION: Final = 64

ZERO: Final = Fraction(0)

# What one word sets: the modes of `lesson timeline` and of the widget's presets.
MODES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "buckets": {},
        "sync": {"sending": "sync"},
        "first-iteration": {"sending": "first-iteration"},
        "rebuilt": {"order": "arrival"},
        "find-unused": {"unused": "find-unused"},
        "absent": {"unused": "absent"},
        "error": {"unused": "error"},
        "tied": {"tied": True},
        "flipped": {"flipped": True},
        "no-sync-trap": {"accumulation": 2, "no_sync": "trap"},
    }
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a timeline depends on. Bytes, bytes/s, seconds and FLOP/s, all exact.

    - ``bandwidth``, ``node_bandwidth``: of a card, one way, across and inside nodes; None
      is without limit. ``latency``, ``node_latency``: α of each message
    - ``hierarchical``: reduce inside each node, ring across, gather inside; else one ring
      over all cards, at ``bandwidth`` (at ``node_bandwidth`` where one node holds them all)
    - ``tokens``: per card and micro-batch, 0 or more
    - ``gradient_bytes``: of one element; None as many as each tensor's own dtype has
    - ``bucket_cap``: DDP's own 25 MiB makes the first bucket 1 MiB, any other cap does not
    - ``sending``: ``buckets`` as DDP does in steady state, ``sync`` the same buckets after
      the backward, or DDP's ``first-iteration``
    - ``unused``: how DDP knows of parameters that a text step does not use (vision, MTP):
      ``static`` graph, ``find-unused``, not at all (``error``), or ``absent`` ones
    - ``tied``: embedding and head one tensor; None as the model has it
    - ``order``: in which gradients arrive, and in which DDP rebuilds its buckets: reverse
      ``registration``, as DDP assumes at first, or the real ``arrival``. They differ
      inside a layer only
    - ``flipped``: the layers run in the opposite order since the buckets were made
    - ``accumulation``: micro-batches a step; ``no_sync``: all but the last inside it
      (``on``), none (``off``), or even the last one's forward (``trap``)

    Raises :class:`ScenarioError`.
    """

    inventory: Inventory
    cards: int = 8
    cards_per_node: int = 1
    bandwidth: Fraction | None = Fraction(50 * 10**9)
    node_bandwidth: Fraction | None = Fraction(160 * 10**9)
    latency: Fraction = ZERO
    node_latency: Fraction = ZERO
    hierarchical: bool = False
    flops: Fraction = Fraction(400 * 10**12)
    tokens: int = 4096
    gradient_bytes: int | None = 2
    bucket_cap: int = DEFAULT_CAP
    sending: str = "buckets"
    unused: str = "static"
    tied: bool | None = None
    order: str = "registration"
    flipped: bool = False
    accumulation: int = 1
    no_sync: str = "on"

    def __post_init__(self) -> None:
        for name, low, high in _WHOLE:
            value = getattr(self, name)
            if name == "gradient_bytes" and value is None:
                continue
            if type(value) is not int or not low <= value <= high:
                raise ScenarioError(name, value, whole(low, high))
        for name in ("bandwidth", "node_bandwidth", "flops"):
            value = getattr(self, name)
            if value is None and name != "flops":
                continue
            if not isinstance(value, int | Fraction) or value <= 0:
                raise ScenarioError(name, value, Accepted("more than 0", "大于 0 的数"))
        for name in ("latency", "node_latency"):
            value = getattr(self, name)
            if not isinstance(value, int | Fraction) or value < 0:
                raise ScenarioError(name, value, Accepted("0 or more", "不小于 0 的数"))
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                raise ScenarioError(name, getattr(self, name), one_of(known))
        if self.hierarchical and self.cards % min(self.cards_per_node, self.cards):
            n = self.cards
            fits = Accepted(f"a divisor of cards = {n}", f"卡数 {n} 的约数")
            raise ScenarioError("cards_per_node", self.cards_per_node, fits)

    @property
    def cut(self) -> Cut:
        """The part of it that decides what is in which bucket."""
        return Cut(
            self.inventory,
            self.gradient_bytes,
            self.bucket_cap,
            self.sending == "first-iteration",
            self.unused,
            self.tied,
            self.order,
            self.flipped,
        )

    def in_mode(self, mode: str) -> Setting:
        """This Setting with one of :data:`MODES` laid over it."""
        if mode not in MODES:
            raise ScenarioError("mode", mode, one_of(MODES))
        return replace(self, **MODES[mode])


_WHOLE: Final = (
    ("cards", 1, 1_048_576),
    ("cards_per_node", 1, 1_048_576),
    ("tokens", 0, 1_000_000_000),
    ("gradient_bytes", 1, 8),
    ("bucket_cap", 1, 1 << 50),
    ("accumulation", 1, MAX_ACCUMULATION),
)
_CHOICES: Final = (
    ("sending", SENDING),
    ("unused", UNUSED),
    ("order", ORDERS),
    ("no_sync", NO_SYNC),
)


def setting_of(scenario: Scenario, **changes: Any) -> Setting:
    """The Setting of ``scenario``: its model, cluster and run; ``changes`` are Setting fields.

    Fixed costs per message are left out, as in the chapter's comparison of communication
    with the backward, unless ``changes`` gives ``latency`` and ``node_latency``.
    """

    def exact(name: str) -> Fraction:
        return Fraction(getattr(scenario, name)) * unit(SPECS[name].unit).scale

    told: dict[str, Any] = {
        "cards": scenario.cards,
        "cards_per_node": scenario.cards_per_node,
        "bandwidth": exact("bandwidth"),
        "node_bandwidth": exact("node_bandwidth"),
        "flops": exact("flops"),
        "tokens": scenario.tokens,
        "gradient_bytes": GRADIENT_BYTES[scenario.gradient],
        "bucket_cap": max(1, int(exact("bucket_cap"))),  # torch takes whole bytes, too
    }
    return Setting(scenario.model.inventory, **(told | changes))


# ── costs of one all-reduce ─────────────────────────────────────────────────────────────


def all_reduce(setting: Setting) -> tuple[Fraction, Fraction]:
    """Seconds of one all-reduce: a fixed part, and what each byte adds (α–β model).

    Flat ring: 2(N−1)·α + 2(N−1)/N·bytes/W (Patarasuk & Yuan 2009). Hierarchical, g cards a
    node and M nodes: 2(g−1)·αₙ + 2(M−1)·α + (2(g−1)/g/Wₙ + 2(M−1)/(M·g)/W)·bytes.
    """
    n = setting.cards
    inside = min(setting.cards_per_node, n)
    if inside == n:
        return _ring(n, setting.node_latency, setting.node_bandwidth)
    if not setting.hierarchical:
        return _ring(n, setting.latency, setting.bandwidth)
    fixed_in, byte_in = _ring(inside, setting.node_latency, setting.node_bandwidth)
    fixed, byte = _ring(n // inside, setting.latency, setting.bandwidth)
    return fixed_in + fixed, byte_in + byte / inside


def _ring(n: int, latency: Fraction, bandwidth: Fraction | None) -> tuple[Fraction, Fraction]:
    if n == 1:
        return ZERO, ZERO
    byte = ZERO if bandwidth is None else Fraction(2 * (n - 1), n) / bandwidth
    return 2 * (n - 1) * Fraction(latency), byte


# ── what a simulation gives ─────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Interval:
    """A piece of a pass's compute lane, in ticks from the pass's start.

    ``part`` as in :data:`py_core.inventory.PARTS`; ``layer`` where it is one.
    """

    part: str
    layer: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Run:
    """Buckets of one pass that are alike (one, as a rule), in ticks from the pass's start.

    The stream is free for them at ``free``; each takes ``cost``. Bucket j of the run is
    ready at ``ready + j · ready_step`` and launched at ``launch + j · launch_step``.
    """

    planned: BucketRun
    cost: int
    ready: int
    ready_step: int
    launch: int
    launch_step: int
    free: int

    @property
    def first(self) -> int:
        """Number of its first bucket."""
        return self.planned.first

    @property
    def count(self) -> int:
        return self.planned.count

    @property
    def bytes(self) -> int:
        """Of each bucket."""
        return self.planned.bytes

    def start_of(self, j: int) -> int:
        # Either the stream is busy without a pause, or launches set the pace.
        return max(self.free + j * self.cost, self.launch + j * max(self.cost, self.launch_step))

    @property
    def start(self) -> int:
        """Start of the first bucket."""
        return self.start_of(0)

    @property
    def end(self) -> int:
        """End of the last bucket."""
        return self.start_of(self.count - 1) + self.cost


@dataclass(frozen=True, slots=True)
class Pass:
    """The backward of one micro-batch. ``start`` in ticks; ``forward`` is where the forward
    before it began (before time 0 for the first). ``sends``: whether buckets leave in it."""

    number: int
    forward: int
    start: int
    end: int  # of the backward
    sends: bool


@dataclass(frozen=True, slots=True)
class Bucket:
    """One bucket of one pass. Times in seconds, exact; ``exposed + hidden = end − start``.

    ``pieces`` hold its tensors, those of like experts in a row together.
    """

    index: int
    micro_batch: int
    bytes: int
    ready: Fraction
    launch: Fraction
    start: Fraction
    end: Fraction
    hidden: Fraction
    exposed: Fraction
    pieces: tuple[Piece, ...]
    gradient_bytes: int | None

    @property
    def tensor_count(self) -> int:
        return sum(piece.count for piece in self.pieces)

    def tensors(self) -> Iterator[tuple[str, int]]:
        """Each single tensor: name and bytes of its gradient."""
        for piece in self.pieces:
            each = piece.segment.bytes_each(self.gradient_bytes)
            yield from ((name, each) for name in piece.names())


class Buckets(Sequence[Bucket]):
    """The buckets of all passes that send, made when they are looked at."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._sending = [p for p in timeline.passes if p.sends]
        self._each = timeline.plan.count if self._sending else 0
        self._firsts = [run.first for run in timeline.runs]

    def __len__(self) -> int:
        return len(self._sending) * self._each

    @overload
    def __getitem__(self, index: int) -> Bucket: ...
    @overload
    def __getitem__(self, index: slice) -> list[Bucket]: ...
    def __getitem__(self, index: int | slice) -> Bucket | list[Bucket]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        which, number = divmod(index % len(self), self._each)
        run = self._timeline.runs[bisect_right(self._firsts, number) - 1]
        return self._made(self._sending[which], run, number - run.first)

    def _made(self, p: Pass, run: Run, j: int) -> Bucket:
        seconds, start = self._timeline.seconds, run.start_of(j)
        end, over = start + run.cost, p.end - p.start
        hidden = max(0, min(end, over) - start)
        return Bucket(
            run.first + j,
            p.number,
            run.bytes,
            seconds(p.start + run.ready + j * run.ready_step),
            seconds(p.start + run.launch + j * run.launch_step),
            seconds(p.start + start),
            seconds(p.start + end),
            seconds(hidden),
            seconds(run.cost - hidden),
            run.planned.pieces_of(j),
            self._timeline.setting.gradient_bytes,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """Why nothing is sent, in both languages of the project."""

    name: str
    english: str
    chinese: str


def _unused_raises(missing: int) -> Problem:
    return Problem(
        "unused",
        f"{missing:,} parameters get no gradient, so the only bucket is never complete and "
        "nothing is sent; DDP raises an error at the next forward: expected to have finished "
        "reduction in the prior iteration",
        f"有 {missing:,} 个参数张量没有梯度，唯一的桶永远凑不齐，一个字节也没有发出；"
        "下一次前向时 DDP 报错：上一轮的归约没有完成",
    )


_NEVER_SYNCED: Final = Problem(
    "never-synced",
    "the last forward ran inside no_sync too, so its backward sends nothing: the cards "
    "update with gradients of their own and drift apart, without an error",
    "最后一个微批的前向也在 no_sync 里，所以它的反向什么也不发：各卡用各自的梯度更新，"
    "参数从此不同，而且不报错",
)


@dataclass(frozen=True, eq=False)
class Timeline:
    """A simulated step. Seconds unless it says ticks; see :class:`Setting` for the input.

    ``runs`` and ``intervals`` are those of one pass, in ticks from its start; every pass
    in ``passes`` repeats them. ``used_map``: start and end, in ticks, of the message that
    ``find-unused`` sends behind its buckets: which parameters were used by anybody.
    """

    setting: Setting
    plan: Plan = field(repr=False)
    ticks_per_second: int
    intervals: tuple[Interval, ...] = field(repr=False)
    runs: tuple[Run, ...] = field(repr=False)
    used_map: tuple[int, int] | None
    passes: tuple[Pass, ...]
    problem: Problem | None

    def seconds(self, ticks: int) -> Fraction:
        return Fraction(ticks, self.ticks_per_second)

    @cached_property
    def buckets(self) -> Buckets:
        """Every bucket that leaves, pass by pass."""
        return Buckets(self)

    @property
    def _sends(self) -> int:
        return sum(p.sends for p in self.passes)

    @property
    def _pass(self) -> int:
        """Ticks of one backward."""
        return self.passes[0].end - self.passes[0].start

    @property
    def _last(self) -> int:
        """Ticks from the start of a pass that sends until its last message is there."""
        return self.used_map[1] if self.used_map else self.runs[-1].end if self.runs else 0

    @cached_property
    def backward(self) -> Fraction:
        """All backwards of the step."""
        return self.seconds(len(self.passes) * self._pass)

    @cached_property
    def forward(self) -> Fraction:
        """All forwards of the step: half as long."""
        return self.backward / 2

    @cached_property
    def communication(self) -> Fraction:
        """All messages of the step, one after another."""
        each = sum(run.cost * run.count for run in self.runs)
        if self.used_map:
            each += self.used_map[1] - self.used_map[0]
        return self.seconds(each * self._sends)

    @cached_property
    def exposed(self) -> Fraction:
        """Communication behind the end of its backward: nothing computes meanwhile."""
        return self.seconds(max(0, self._last - self._pass) * self._sends)

    @property
    def hidden(self) -> Fraction:
        return self.communication - self.exposed

    @property
    def hidden_share(self) -> Fraction | None:
        """Of the communication, from 0 to 1; None where there is none."""
        return self.hidden / self.communication if self.communication else None

    def hidden_share_at(self, tokens: int) -> Fraction | None:
        """:attr:`hidden_share` if it were ``tokens`` per card, without another simulation.

        The last message is over when the busiest tail is: launched at some bucket, and from
        there on without a pause. Launches grow with the tokens, tails do not.
        """
        if not self.communication or self.setting.sending == "sync":
            return ZERO if self.communication else None
        per_work = Fraction(4 * tokens, self.plan.unit) / self.setting.flops
        step, ticks = per_work.numerator, self.ticks_per_second * per_work.denominator
        slow, work = self.ticks_per_second * step, self.plan.work
        last = max((at - work) * slow + tail * per_work.denominator for at, tail in self._tails)
        return 1 - Fraction(max(0, last) * self._sends, ticks) / self.communication

    @cached_property
    def _tails(self) -> list[tuple[int, int]]:
        """Work done when a bucket is launched, and ticks of it and all messages behind it.

        Only those that are the busiest for some number of tokens: the upper hull.
        """
        tail = self.used_map[1] - self.used_map[0] if self.used_map else 0
        hull: list[tuple[int, int]] = []
        for run in reversed(self.runs):  # launches fall, tails grow
            before = run.count - 1
            last = run.planned.launch + before * run.planned.launch_step, tail + run.cost
            tail = last[1] + before * run.cost
            for point in (last, (run.planned.launch, tail)) if before else (last,):
                while hull and _covered(hull, point):
                    hull.pop()
                hull.append(point)
        return hull

    @property
    def ratio(self) -> Fraction | None:
        """Communication ÷ backward; None where the backward takes no time."""
        return self.communication / self.backward if self.backward else None

    @property
    def sent_bytes(self) -> int:
        """Gradients handed to all-reduce in the step, by each card; zeros count as well."""
        return self.plan.bytes * self._sends if self.runs else 0

    @property
    def communication_bytes(self) -> int:
        """The same, and the map of used parameters."""
        return self.sent_bytes + (_INT32 * self.plan.tensors * self._sends if self.used_map else 0)

    @property
    def bucket_count(self) -> int:
        """Buckets of one backward; in all, ``len(buckets)``."""
        return self.plan.count

    @property
    def step(self) -> Fraction:
        """Forwards, backwards, and the communication that was not hidden."""
        return self.forward + self.backward + self.exposed

    @property
    def step_without_overlap(self) -> Fraction:
        return self.forward + self.backward + self.communication

    @property
    def end(self) -> Fraction:
        """When the last of both lanes is over, from the start of the first backward."""
        last = self.passes[-1]
        return self.seconds(last.start + max(self._pass, self._last if last.sends else 0))

    @property
    def break_even_tokens(self) -> int | None:
        """The least whole tokens at which the communication is shorter than the backward.

        None where there is none, or where no bandwidth limits it.
        """
        setting = self.setting
        if not self.communication:
            return None
        per_token = Fraction(4 * self.plan.work, self.plan.unit) / setting.flops
        return int(self.communication / (len(self.passes) * per_token)) + 1


def _covered(hull: list[tuple[int, int]], new: tuple[int, int]) -> bool:
    """Whether the hull's last point rises nowhere above its two neighbours."""
    (x, y), (right, top) = hull[-1], new
    if right == x or len(hull) == 1:
        return right == x
    left, low = hull[-2]
    return (left - x) * (top - y) >= (y - low) * (x - right)


# ── the simulation ──────────────────────────────────────────────────────────────────────


def simulate(setting: Setting) -> Timeline:
    """One step of ``setting``. The plan is cached; what sliders change costs one walk."""
    planned = plan(setting.cut)
    fixed, byte = all_reduce(setting)
    # Half a backward's work: a forward takes 2 FLOP per parameter and token, a backward 4.
    half = Fraction(2 * setting.tokens, planned.unit) / setting.flops
    tick = lcm(fixed.denominator, byte.denominator, half.denominator)
    work, alpha, beta = 2 * int(half * tick), int(fixed * tick), int(byte * tick)
    over = planned.work * work

    problem = _problem(setting, planned)
    runs: list[Run] = []
    free = 0
    for run in planned.runs if problem is None else ():
        cost = alpha + beta * run.bytes
        if setting.sending == "sync":
            launch, launch_step = over, 0
        else:
            launch, launch_step = run.launch * work, run.launch_step * work
        ready, ready_step = run.ready * work, run.ready_step * work
        runs.append(Run(run, cost, ready, ready_step, launch, launch_step, free))
        free = runs[-1].end

    used_map = None
    if setting.unused == "find-unused" and runs:
        used_map = (free, free + alpha + beta * _INT32 * planned.tensors)
    last = used_map[1] if used_map else free
    return Timeline(
        setting,
        planned,
        tick,
        tuple(Interval(s.part, s.layer, s.start * work, s.end * work) for s in planned.stretches),
        tuple(runs),
        used_map,
        tuple(_passes(setting, over, last, problem)),
        problem,
    )


_INT32: Final = 4  # bytes of an entry of the map


def _problem(setting: Setting, planned: Plan) -> Problem | None:
    if planned.missing:
        return _unused_raises(planned.missing)
    return _NEVER_SYNCED if setting.no_sync == "trap" else None


def _passes(setting: Setting, over: int, last: int, problem: Problem | None) -> Iterator[Pass]:
    """Micro-batches one after another: a backward that sends is over when all has arrived."""
    start, count = 0, setting.accumulation
    for number in range(count):
        sends = problem is None and (setting.no_sync == "off" or number == count - 1)
        yield Pass(number, start - over // 2, start, start + over, sends)
        start += max(over, last if sends else 0) + over // 2


__all__ = ["MODES", "Bucket", "Setting", "Timeline", "setting_of", "simulate"]
