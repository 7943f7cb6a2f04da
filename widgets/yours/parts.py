"""What a model is made of, and the buckets its gradients leave in, as areas in proportion."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from py_core.buckets import BucketRun
from py_core.inventory import Inventory, Tensor
from py_core.units import display, unit

# Roles that are told apart, in the order of a token's way; the rest is too small to see.
KINDS = {
    "输入嵌入": ("embedding", "position"),
    "注意力": ("attention", "linear_attention"),
    "前馈层": ("mlp", "shared_expert", "router"),
    "路由专家": ("expert",),
    "归一化": ("norm",),
    "输出头": ("lm_head",),
    "视觉塔": ("vision",),
    "MTP": ("mtp",),
}


_KIND_OF = {
    role: (kind, words) for kind, (words, roles) in enumerate(KINDS.items()) for role in roles
}
WIDE = 4  # thousandths; a narrower bucket is not told from its neighbours of the same kind


def _kind(tensor: Tensor) -> tuple[int, str]:
    return _KIND_OF[tensor.part if tensor.part in ("vision", "mtp") else tensor.role]


@dataclass(frozen=True, slots=True)
class Block:
    """``at`` and ``width`` in thousandths of the whole."""

    kind: int
    at: int
    width: int


@dataclass(frozen=True, slots=True)
class Part(Block):
    """``share`` as readers see it."""

    words: str
    count: str
    share: str


def parts(inventory: Inventory) -> list[Part]:
    """The parts that the model has, none smaller than what it is."""
    counts = dict.fromkeys(KINDS, 0)
    for tensor in inventory.tensors:
        counts[_kind(tensor)[1]] += tensor.parameters
    found, before = [], 0
    for kind, (words, count) in enumerate(counts.items()):
        if count:
            start, end = (round(1000 * n / inventory.total) for n in (before, before + count))
            share = display(Fraction(count, inventory.total), unit("%"))
            found.append(Part(kind, start, end - start, words, f"{count:,}", share))
        before += count
    return found


def blocks(runs: Iterable[BucketRun], total: int) -> list[Block]:
    """Buckets in the order in which they leave, of ``total`` bytes, by what is largest in them;
    narrow ones of a kind in a row are one block, and those too narrow to be drawn go to it."""
    found: list[Block] = []
    before = 0
    for run in runs:
        kind, _ = _kind(max(run.pieces, key=lambda piece: piece.numel).segment.entries[0])
        wide = 1000 * run.bytes >= WIDE * total
        for size in [run.bytes] * run.count if wide else [run.bytes * run.count]:
            before += size
            start, end = (
                found[-1].at + found[-1].width if found else 0,
                round(1000 * before / total),
            )
            if not wide and found and found[-1].kind == kind:
                start = found.pop().at
            if end > start:
                found.append(Block(kind, start, end - start))
    return found


def largest(inventory: Inventory, few: int = 3) -> list[Tensor]:
    """The entries with the largest single tensors, largest first; alike ones are one entry."""
    order = sorted(inventory.tensors, key=lambda t: -t.numel)
    seen: dict[tuple[int, ...], Tensor] = {}
    for tensor in order:
        seen.setdefault(tensor.shape, tensor)
    return list(seen.values())[:few]
