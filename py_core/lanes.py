"""What a simulated step is made of: the two lanes' pieces, and why a step may send nothing.

Runs, passes and intervals are in ticks, as :mod:`py_core.timeline` counts them; a
:class:`Bucket` is one of them for words, in seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from py_core.buckets import BucketRun, Piece


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


@dataclass(frozen=True, slots=True)
class Problem:
    """Why nothing is sent, in both languages of the project."""

    name: str
    english: str
    chinese: str


def unused_raises(missing: int) -> Problem:
    return Problem(
        "unused",
        f"{missing:,} parameters get no gradient, so the only bucket is never complete and "
        "nothing is sent; DDP raises an error at the next forward: expected to have finished "
        "reduction in the prior iteration",
        f"有 {missing:,} 个参数张量没有梯度，唯一的桶永远凑不齐，一个字节也没有发出；"
        "下一次前向时 DDP 报错：上一轮的归约没有完成",
    )


NEVER_SYNCED: Final = Problem(
    "never-synced",
    "the last forward ran inside no_sync too, so its backward sends nothing: the cards "
    "update with gradients of their own and drift apart, without an error",
    "最后一个微批的前向也在 no_sync 里，所以它的反向什么也不发：各卡用各自的梯度更新，"
    "参数从此不同，而且不报错",
)
