"""Gradient buckets as PyTorch's DistributedDataParallel makes them (torch 2.13).

DDP walks the gradients and adds each to the open bucket of its dtype; a bucket closes
once it holds at least the cap, 25 MiB, the first one 1 MiB. No tensor is ever split, so
a bucket may be far larger than the cap. What differs is which order is walked:

- in steady state the order in which gradients arrived in an earlier iteration, the
  unused ones behind (as a static graph has them);
- in the first iteration registration order, with no cap at all: one bucket per dtype;
- with ``find_unused_parameters`` registration order for ever, and the buckets leave last
  first, so that the 1 MiB one is the last to leave.

Bucket i leaves only when buckets 0 … i are all complete. When that is, is told in work, as
:mod:`py_core.backward` counts it.

Source: Li et al. 2020 (arXiv 2006.15704) §3.2.3, §4.2; ``torch/nn/parallel/distributed.py``,
``torch/csrc/distributed/c10d/reducer.cpp``. Compared with torch by ``make conformance``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from py_core.backward import Segment, Stretch, as_rebuilt, backward, registered, with_tying
from py_core.inventory import Inventory

MIB: Final = 1 << 20
FIRST_CAP: Final = MIB  # of the first bucket, where the cap is DDP's own default
DEFAULT_CAP: Final = 25 * MIB

# What DDP is told of parameters without a gradient: a static graph, find_unused_parameters,
# nothing (an error), or that there are none.
UNUSED: Final = ("static", "find-unused", "error", "absent")


@dataclass(frozen=True, slots=True)
class Cut:
    """All that decides which gradient is in which bucket. ``cap`` in bytes.

    ``gradient_bytes``: of one element; None as many as the tensor's own dtype has.
    ``tied``: whether embedding and head share a tensor; None as the model has it.
    ``order``: one of :data:`py_core.backward.ORDERS`; they differ only inside a layer, by a
    matrix or two.
    ``flipped``: after the buckets were made, the layers began to run in the opposite order.
    """

    inventory: Inventory
    gradient_bytes: int | None = 2
    cap: int = DEFAULT_CAP
    first_iteration: bool = False
    unused: str = "static"
    tied: bool | None = None
    order: str = "registration"
    flipped: bool = False

    @property
    def rebuilt(self) -> bool:
        """Whether the buckets are those made anew after the first iteration."""
        return not self.first_iteration and self.unused in ("static", "absent")

    @property
    def limits(self) -> tuple[int | None, ...]:
        """Caps of the first bucket, the second, …; the last one repeats; None is no cap."""
        if not self.rebuilt and self.unused != "find-unused":
            return (None,)
        # Any cap that is given, and not DDP's default, holds for the first bucket too.
        return (FIRST_CAP, self.cap) if self.cap == DEFAULT_CAP else (self.cap,)


@dataclass(frozen=True, slots=True)
class Piece:
    """Tensors ``start`` … ``start + count − 1`` of a segment, in one bucket."""

    segment: Segment
    start: int
    count: int

    @property
    def first(self) -> str:
        return self.segment.name(self.start)

    @property
    def last(self) -> str:
        return self.segment.name(self.start + self.count - 1)

    @property
    def numel(self) -> int:
        """Elements of all of them."""
        return self.segment.numel * self.count

    @property
    def ready(self) -> int:
        """The work done when the last gradient of the piece is there."""
        last = self.start + (self.count - 1 if self.segment.step > 0 else 0)
        return self.segment.ready + last * self.segment.step

    def names(self) -> Iterator[str]:
        return map(self.segment.name, range(self.start, self.start + self.count))


@dataclass(frozen=True, slots=True)
class BucketRun:
    """``count`` buckets in a row, alike; 1 unless a layer's experts fill many.

    ``pieces`` are the first bucket's; the next ones move on by ``stride`` tensors. Bucket
    j is complete at work ``ready + j · ready_step`` and leaves at ``launch + j ·
    launch_step``. ``bytes`` are those of each bucket.
    """

    first: int
    count: int
    bytes: int
    pieces: tuple[Piece, ...]
    stride: int
    ready: int
    ready_step: int
    launch: int
    launch_step: int

    def pieces_of(self, j: int) -> tuple[Piece, ...]:
        """What bucket ``first + j`` holds."""
        if not j:
            return self.pieces
        return tuple(replace(p, start=p.start + j * self.stride) for p in self.pieces)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Buckets in the order in which they leave, and the backward they leave in.

    ``work`` is the whole backward; a parameter that works on every token counts ``unit``.
    ``tensors``: single tensors DDP knows of. ``missing``: those among them that get no
    gradient and whose buckets, for that reason, never leave (``unused="error"``).
    """

    runs: tuple[BucketRun, ...]
    stretches: tuple[Stretch, ...]
    work: int
    unit: int
    tensors: int
    bytes: int
    missing: int = 0

    @property
    def count(self) -> int:
        """Number of buckets."""
        return sum(run.count for run in self.runs)


# ── the assignment ──────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Open:
    """The open bucket of one dtype, and how many that dtype has closed."""

    pieces: list[Piece]
    bytes: int = 0
    closed: int = 0


@dataclass(frozen=True, slots=True)
class _Closed:
    """``count`` alike buckets; ``order`` is the place of the first tensor in the walk."""

    order: int
    count: int
    bytes: int
    pieces: tuple[Piece, ...]
    stride: int


def assign(
    segments: Iterable[Segment], gradient_bytes: int | None, limits: Sequence[int | None]
) -> list[_Closed]:
    """DDP's rule: walk, add, close at ``limit`` or more. One open bucket per dtype.

    ``limits`` as :attr:`Cut.limits`. What is still open at the end closes as it is, the
    dtype that was met last first, as torch's hash map gives them back.
    """
    closed: list[_Closed] = []
    accounts: dict[str, tuple[_Open, list[int]]] = {}
    position = 0
    for segment in segments:
        account = accounts.setdefault(segment.entries[0].dtype, (_Open([]), []))
        _walk(segment, position, account, gradient_bytes, limits, closed)
        position += segment.count
    for still, began in reversed(accounts.values()):
        if still.pieces:
            closed.append(_Closed(began[0], 1, still.bytes, tuple(still.pieces), 0))
    return closed


def _walk(
    segment: Segment,
    position: int,
    account: tuple[_Open, list[int]],
    gradient_bytes: int | None,
    limits: Sequence[int | None],
    closed: list[_Closed],
) -> None:
    """Adds one segment; many buckets that come out alike are closed at once."""
    bucket, began = account
    each, start = segment.bytes_each(gradient_bytes), 0
    while start < segment.count:
        if not bucket.pieces:
            began[:] = [position + start]
        left = segment.count - start
        limit = limits[min(bucket.closed, len(limits) - 1)]
        need = left + 1 if limit is None else max(1, -((bucket.bytes - limit) // each))
        taken = min(need, left)
        bucket.pieces.append(Piece(segment, start, taken))
        bucket.bytes += taken * each
        start += taken
        if need > left:
            return
        alone = len(bucket.pieces) == 1 and bucket.closed >= len(limits) - 1
        alike = left // need if alone else 1
        closed.append(_Closed(began[0], alike, bucket.bytes, tuple(bucket.pieces), need))
        start += (alike - 1) * need
        bucket.closed += alike
        bucket.pieces, bucket.bytes = [], 0


def _reversed(run: _Closed) -> _Closed:
    """The same buckets, last first."""
    behind = (run.count - 1) * run.stride
    pieces = tuple(replace(p, start=p.start + behind) for p in run.pieces) if behind else run.pieces
    return replace(run, pieces=pieces, stride=-run.stride)


def _leaving(closed: Iterable[_Closed]) -> Iterator[BucketRun]:
    """Numbers the buckets and says when each may leave: the running maximum of ``ready``."""
    number, latest = 0, 0
    for run in closed:
        ready = max(piece.ready for piece in run.pieces)
        step = run.stride * run.pieces[0].segment.step if run.count > 1 else 0
        start = 0
        while start < run.count:
            here, left = ready + start * step, run.count - start
            if step > 0 and here < latest:  # held up by an earlier bucket, perhaps not all
                many, launch, launch_step = min(left, -((here - latest) // step)), latest, 0
            else:
                many, launch, launch_step = left, max(here, latest), max(step, 0)
            first = run.pieces
            if start:
                first = tuple(replace(p, start=p.start + start * run.stride) for p in first)
            yield BucketRun(
                number, many, run.bytes, first, run.stride, here, step, launch, launch_step
            )
            latest = launch + (many - 1) * launch_step
            number += many
            start += many


# ── plans ───────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def plan(cut: Cut) -> Plan:
    """The buckets of ``cut``, in the order in which they leave. Cached."""
    model = with_tying(cut.inventory, cut.tied)
    found = backward(model, cut.order, cut.flipped)
    present = cut.unused != "absent"
    if cut.rebuilt:
        walked = as_rebuilt(model, cut.order, cut.flipped) + (found.unused if present else ())
        closed = assign(walked, cut.gradient_bytes, cut.limits)
    else:
        walked = registered(model, cut.order, cut.flipped, present)
        closed = assign(walked, cut.gradient_bytes, cut.limits)
        # Placed by its first tensor, whenever it closed; and then the last one leaves first.
        closed = [_reversed(c) for c in sorted(closed, key=lambda c: c.order, reverse=True)]
    runs = tuple(_leaving(closed))
    missing = sum(s.count for s in found.unused) if cut.unused == "error" else 0
    return Plan(
        runs,
        found.stretches,
        found.work,
        found.unit,
        sum(segment.count for segment in walked),
        sum(run.bytes * run.count for run in runs),
        missing,
    )
