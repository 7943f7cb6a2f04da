"""From an architecture's declaration to an inventory: its tensors in order."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from py_core.fields import Fields
from py_core.inventory import ALL, NONE, Dims, Inventory, Tensor
from py_core.models.blocks import Block, linear, rms_norm
from py_core.models.dims import read_dtype


class Builder:
    """Collects tensors in registration order and numbers the text ones in forward order."""

    def __init__(self, dims: Dims, dtype: str) -> None:
        self.dims = dims
        self.dtype = dtype
        self.tensors: list[Tensor] = []
        self._clock = 0

    def add(self, part: str, block: Block, prefix: str = "", layer: int | None = None) -> None:
        """Text tensors; the next block runs after this one."""
        dtype, clock, append = self.dtype, self._clock, self.tensors.append
        for name, shape, role, step, count, active in block:
            append(
                Tensor(prefix + name, shape, role, part, layer, dtype, count, active, clock + step)
            )
        self._clock = clock + len(block)

    def look_up(self, name: str, rows: int, part: str, tied_with: str | None = None) -> None:
        """An embedding table: no matrix product, unless it is the head as well."""
        shape, active = (rows, self.dims.hidden), ALL if tied_with else NONE
        self.tensors.append(
            Tensor(name, shape, part, part, None, self.dtype, 1, active, self._clock, tied_with)
        )
        self._clock += 1

    def apart(self, part: str, block: Block, prefix: str = "") -> None:
        """What a text step does not use: the vision tower, the MTP module."""
        for name, shape, _, _, count, _ in block:
            self.tensors.append(
                Tensor(prefix + name, shape, part, part, None, self.dtype, count, NONE)
            )


def decoder(
    fields: Fields,
    name: str,
    model_type: str,
    dims: Dims,
    layers: Sequence[Block],
    *,
    tied: bool,
    root: str = "model.",
    stack: str = "layers",
    embedding: str = "embed_tokens",
    after_embedding: Block = (),
    positions: tuple[str, int] | None = None,
    norm: Block | None = None,
    head: str = "lm_head",
    dtype: str | None = None,
    vision: Sequence[tuple[str, Block]] = (),
    mtp: Sequence[tuple[str, Block]] = (),
) -> Inventory:
    """Vision, embedding, layers, final norm, head, MTP: the order of registration.

    ``root`` prefixes all but the head; ``positions`` is a learned table and its rows;
    ``vision`` and ``mtp`` are blocks with their prefixes.
    """
    builder = Builder(dims, dtype or read_dtype(fields))
    for prefix, block in vision:
        builder.apart("vision", block, prefix)
    weight = f"{head}.weight"
    builder.look_up(f"{root}{embedding}.weight", dims.vocab, "embedding", weight if tied else None)
    if positions:
        builder.look_up(f"{root}{positions[0]}.weight", positions[1], "position")
    builder.add("norm", after_embedding, root)
    for index, block in enumerate(layers):
        builder.add("layers", block, f"{root}{stack}.{index}.", index)
    builder.add("norm", norm or rms_norm("norm", dims.hidden), root)
    if not tied:
        builder.add("lm_head", linear(head, dims.vocab, dims.hidden, "lm_head", 0))
    for prefix, block in mtp:
        builder.apart("mtp", block, prefix)
    sources = MappingProxyType(dict(fields.used))
    return Inventory(name, model_type, tuple(builder.tensors), tied, dims, sources)


def tied(fields: Fields, default: bool) -> bool:
    """Whether embedding and head are one tensor."""
    return fields.flag("tie_word_embeddings", default=default)
