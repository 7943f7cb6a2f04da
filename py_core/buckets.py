"""Gradient buckets as PyTorch's DistributedDataParallel makes them (torch 2.13).

DDP walks the gradients and adds each to the open bucket of its dtype; a bucket closes
once it holds at least the cap, 25 MiB, the first one 1 MiB. No tensor is ever split, so
a bucket may be far larger than the cap. What differs is which order is walked:

- in steady state the order in which gradients arrived in an earlier iteration, the
  unused ones behind (as a static graph has them);
- in the first iteration registration order, with no cap at all: one bucket per dtype;
- with ``find_unused_parameters`` registration order for ever, and the buckets leave last
  first, so that the 1 MiB one is the last to leave.

Bucket i leaves only when buckets 0 … i are all complete. How far the backward pass is by
then does not depend on tokens or hardware, so it is kept here, as *work*: whole numbers
that add up to the whole backward. :mod:`py_core.timeline` turns work into seconds.

Source: Li et al. 2020 (arXiv 2006.15704) §3.2.3, §4.2; ``torch/nn/parallel/distributed.py``,
``torch/csrc/distributed/c10d/reducer.cpp``. Compared with torch by ``make conformance``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from math import lcm
from typing import Final

from py_core.inventory import ALL, DTYPE_BYTES, NONE, Inventory, Tensor

MIB: Final = 1 << 20
FIRST_CAP: Final = MIB  # of the first bucket, where the cap is DDP's own default
DEFAULT_CAP: Final = 25 * MIB

# In which order gradients arrive: as autograd really hands them out (conformance fixtures),
# or in reverse registration order, which DDP itself assumes until it has seen a backward.
ORDERS: Final = ("registration", "arrival")

# What DDP is told of parameters without a gradient: a static graph, find_unused_parameters,
# nothing (an error), or that there are none.
UNUSED: Final = ("static", "find-unused", "error", "absent")


@dataclass(frozen=True, slots=True)
class Cut:
    """All that decides which gradient is in which bucket. ``cap`` in bytes.

    ``gradient_bytes``: of one element; None as many as the tensor's own dtype has.
    ``tied``: whether embedding and head share a tensor; None as the model has it.
    ``order``: one of :data:`ORDERS`; the two differ only inside a layer, by a matrix or two.
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
class Segment:
    """``count`` single tensors in a row, alike in size and work: one, or a layer's experts.

    ``entries`` take turns: down, up, gate of one expert, then of the next, which is
    ``expert`` + ``turn``. ``ready`` is the work done when the first tensor's gradient is
    there, ``step`` what each next one adds.
    """

    entries: tuple[Tensor, ...]
    count: int
    numel: int
    ready: int = 0
    step: int = 0
    expert: int = 0
    turn: int = 1

    def bytes_each(self, gradient_bytes: int | None) -> int:
        """Bytes of one tensor's gradient; see :class:`Cut`."""
        return self.numel * (gradient_bytes or DTYPE_BYTES[self.entries[0].dtype])

    def name(self, ordinal: int) -> str:
        """Name of a single tensor, as the checkpoint spells it."""
        which, entry = divmod(ordinal, len(self.entries))
        return self.entries[entry].name.replace("{}", str(self.expert + self.turn * which))


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


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the backward: a layer, the head, the embedding; from and to in work."""

    part: str
    layer: int | None
    start: int
    end: int


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


# ── the backward: when is which gradient there ──────────────────────────────────────────


@dataclass(frozen=True, slots=True, eq=False)
class _Backward:
    used: tuple[Segment, ...]  # in order of arrival
    unused: tuple[Segment, ...]  # in registration order, ready at the first arrival
    stretches: tuple[Stretch, ...]
    work: int
    unit: int


def with_tying(inventory: Inventory, tied: bool | None) -> Inventory:
    """``inventory`` with its head tied to the embedding, or not; None leaves it as it is."""
    return inventory if tied in (None, inventory.tied) else _retied(inventory)


@lru_cache(maxsize=8)
def _retied(model: Inventory) -> Inventory:
    tensors = list(model.tensors)
    at = next(i for i, t in enumerate(tensors) if t.role == "embedding")
    table = tensors[at]
    if model.tied:
        tensors[at] = replace(table, active=NONE, tied_with=None)
        last = max(t.forward or 0 for t in tensors)
        name = table.tied_with or "lm_head.weight"
        head = replace(
            table,
            name=name,
            role="lm_head",
            part="lm_head",
            active=ALL,
            tied_with=None,
            forward=last + 1,
        )
        end = 1 + max(i for i, t in enumerate(tensors) if t.forward is not None)
        tensors.insert(end, head)
    else:
        heads = [t for t in tensors if t.role == "lm_head"]
        tensors[at] = replace(table, active=ALL, tied_with=heads[0].name)
        tensors = [t for t in tensors if t.role != "lm_head"]
    return replace(model, tensors=tuple(tensors), tied=not model.tied)


def _segments(entries: Iterable[Tensor], *, backwards: bool = False) -> Iterator[Segment]:
    """:func:`py_core.inventory.expand`, with experts that are alike left in one piece."""
    for (count, _), group in groupby(entries, key=lambda t: (t.count, t.layer)):
        together = tuple(group)
        if count == 1:
            yield from (Segment((entry,), 1, entry.numel) for entry in together)
            continue
        first, turn = (count - 1, -1) if backwards else (0, 1)
        if len({(entry.numel, entry.active) for entry in together}) == 1:
            total = count * len(together)
            yield Segment(together, total, together[0].numel, expert=first, turn=turn)
            continue
        for which in range(first, first + turn * count, turn):
            yield from (Segment((e,), 1, e.numel, expert=which) for e in together)


def _arrival(model: Inventory, order: str, flipped: bool) -> list[Tensor]:
    """Used entries in the order in which their gradients arrive. Flipped: layer 0 first."""
    walked = model.backward_order() if order == "arrival" else reversed(model.tensors)
    used = [tensor for tensor in walked if tensor.forward is not None]
    if not flipped:
        return used
    layers = [tensor for tensor in used if tensor.layer is not None]
    layers.sort(key=lambda tensor: tensor.layer or 0)  # stable: inside a layer nothing changes
    return [next(turned) if t.layer is not None else t for turned in [iter(layers)] for t in used]


@lru_cache(maxsize=16)
def _backward(model: Inventory, order: str, flipped: bool) -> _Backward:
    unit = lcm(*(tensor.active.denominator for tensor in model.tensors))
    done, parts, used = 0, [], []
    for tensor in model.tensors:
        if tensor.tied_with:  # the head's products come first, the gradient is there last
            done = int(tensor.numel * tensor.active * unit)
            parts.append(Stretch("lm_head", None, 0, done))
    for segment in _segments(_arrival(model, order, flipped), backwards=True):
        entry = segment.entries[0]
        each = 0 if entry.tied_with else int(segment.numel * entry.active * unit)
        used.append(replace(segment, ready=done + each, step=each))
        start, done = done, done + each * segment.count
        part, layer = entry.part, entry.layer
        if parts and (parts[-1].part, parts[-1].layer) == (part, layer):
            start = parts.pop().start
        parts.append(Stretch(part, layer, start, done))
    # DDP marks what is unused when the first gradient of the pass arrives.
    first = used[0].ready
    unused = tuple(replace(s, ready=first) for s in _segments(model.unused))
    return _Backward(tuple(used), unused, tuple(parts), done, unit)


@lru_cache(maxsize=16)
def _registered(model: Inventory, order: str, flipped: bool, present: bool) -> tuple[Segment, ...]:
    """Segments in registration order; with ``present``, the unused ones among them."""
    backward = _backward(model, order, flipped)
    arrived: dict[str, Segment] = {
        (entry.name.replace("{}", str(s.expert)) if s.count == 1 else entry.name): s
        for s in (*backward.used, *backward.unused)
        for entry in s.entries
    }
    entries = [t for t in model.tensors if present or t.forward is not None]
    return tuple(placed for segment in _segments(entries) for placed in _placed(segment, arrived))


def _placed(segment: Segment, arrived: dict[str, Segment]) -> Iterator[Segment]:
    """``segment`` with the work at which its gradients arrive."""
    there = arrived[segment.name(0) if segment.count == 1 else segment.entries[0].name]
    if there.turn == segment.turn or segment.count == 1:  # unused, or a single tensor
        yield replace(segment, ready=there.ready, step=there.step)
    elif there.entries == segment.entries[::-1]:
        last = there.ready + (there.count - 1) * there.step
        yield replace(segment, ready=last, step=-there.step)
    else:
        for i in range(segment.count):
            which, entry = divmod(i, len(segment.entries))
            back = there.entries.index(segment.entries[entry])
            ordinal = (there.expert - which) * len(there.entries) + back
            ready = there.ready + ordinal * there.step
            yield Segment((segment.entries[entry],), 1, segment.numel, ready, 0, which)


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
    backward = _backward(model, cut.order, cut.flipped)
    present = cut.unused != "absent"
    if cut.rebuilt:
        walked = _as_made(model, cut.order, cut.flipped) + (backward.unused if present else ())
        closed = assign(walked, cut.gradient_bytes, cut.limits)
    else:
        walked = _registered(model, cut.order, cut.flipped, present)
        closed = assign(walked, cut.gradient_bytes, cut.limits)
        # Placed by its first tensor, whenever it closed; and then the last one leaves first.
        closed = [_reversed(c) for c in sorted(closed, key=lambda c: c.order, reverse=True)]
    runs = tuple(_leaving(closed))
    missing = sum(s.count for s in backward.unused) if cut.unused == "error" else 0
    return Plan(
        runs,
        backward.stretches,
        backward.work,
        backward.unit,
        sum(segment.count for segment in walked),
        sum(run.bytes * run.count for run in runs),
        missing,
    )


def _as_made(model: Inventory, order: str, flipped: bool) -> tuple[Segment, ...]:
    """Used segments in the order that the rebuild saw, with the readiness of today."""
    then = _backward(model, order, False).used
    if not flipped:
        return then
    today = {segment.name(0): segment for segment in _backward(model, order, True).used}
    return tuple(today[segment.name(0)] for segment in then)
