"""What a model is made of, as areas in proportion."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

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


@dataclass(frozen=True, slots=True)
class Part:
    """``at`` and ``width`` in thousandths of the whole; ``share`` as readers see it."""

    words: str
    kind: int
    count: str
    share: str
    at: int
    width: int


def parts(inventory: Inventory) -> list[Part]:
    """The parts that the model has, none smaller than what it is."""
    counts = dict.fromkeys(KINDS, 0)
    for tensor in inventory.tensors:
        role = tensor.part if tensor.part in ("vision", "mtp") else tensor.role
        counts[next(words for words, roles in KINDS.items() if role in roles)] += tensor.parameters
    found, before = [], 0
    for kind, (words, count) in enumerate(counts.items()):
        if count:
            start, end = (round(1000 * n / inventory.total) for n in (before, before + count))
            share = display(Fraction(count, inventory.total), unit("%"))
            found.append(Part(words, kind, f"{count:,}", share, start, end - start))
        before += count
    return found


def largest(inventory: Inventory, few: int = 3) -> list[Tensor]:
    """The entries with the largest single tensors, largest first; alike ones are one entry."""
    order = sorted(inventory.tensors, key=lambda t: -t.numel)
    seen: dict[tuple[int, ...], Tensor] = {}
    for tensor in order:
        seen.setdefault(tensor.shape, tensor)
    return list(seen.values())[:few]
