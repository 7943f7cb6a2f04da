"""When is which gradient there: one backward, counted in work.

A backward runs from the head down to the embedding. How far it is when a gradient is
complete does not depend on tokens or hardware, so it is counted in *work*: whole numbers
that add up to the whole backward. :mod:`py_core.buckets` packs the gradients, and
:mod:`py_core.timeline` turns work into seconds.

A layer's experts are alike and stay in one piece: DeepSeek-V3 is a few hundred segments and
not 44,544 tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from math import lcm
from typing import Final

from py_core.inventory import ALL, DTYPE_BYTES, NONE, Inventory, Tensor

# In which order gradients arrive: as autograd really hands them out (conformance fixtures),
# or in reverse registration order, which DDP itself assumes until it has seen a backward.
ORDERS: Final = ("registration", "arrival")


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
class Stretch:
    """A part of the backward: a layer, the head, the embedding; from and to in work."""

    part: str
    layer: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Backward:
    """The gradients of one backward and the parts it runs through; see :class:`Segment`."""

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
def backward(model: Inventory, order: str, flipped: bool) -> Backward:
    """One backward of ``model``, the layers as they run today. Cached."""
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
    return Backward(tuple(used), unused, tuple(parts), done, unit)


@lru_cache(maxsize=16)
def registered(model: Inventory, order: str, flipped: bool, present: bool) -> tuple[Segment, ...]:
    """Segments in registration order; with ``present``, the unused ones among them."""
    found = backward(model, order, flipped)
    arrived: dict[str, Segment] = {
        (entry.name.replace("{}", str(s.expert)) if s.count == 1 else entry.name): s
        for s in (*found.used, *found.unused)
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


def as_rebuilt(model: Inventory, order: str, flipped: bool) -> tuple[Segment, ...]:
    """Used segments in the order that the rebuild saw, with the readiness of today."""
    then = backward(model, order, False).used
    if not flipped:
        return then
    today = {segment.name(0): segment for segment in backward(model, order, True).used}
    return tuple(today[segment.name(0)] for segment in then)
