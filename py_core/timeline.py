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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Final, overload

from py_core.buckets import Plan, plan
from py_core.lanes import NEVER_SYNCED, Bucket, Interval, Pass, Problem, Run, unused_raises
from py_core.setting import Setting, all_reduce

ZERO: Final = Fraction(0)


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
        return unused_raises(planned.missing)
    return NEVER_SYNCED if setting.no_sync == "trap" else None


def _passes(setting: Setting, over: int, last: int, problem: Problem | None) -> Iterator[Pass]:
    """Micro-batches one after another: a backward that sends is over when all has arrived."""
    start, count = 0, setting.accumulation
    for number in range(count):
        sends = problem is None and (setting.no_sync == "off" or number == count - 1)
        yield Pass(number, start - over // 2, start, start + over, sends)
        start += max(over, last if sends else 0) + over // 2


__all__ = ["Timeline", "simulate"]
