"""The ordered list of a model's tensors, and what follows from it.

Parameter counts, layer sizes, gradient buckets and FLOPs are all read from this one
list, so that they cannot disagree. It counts what is trained, each tensor once: no
buffers, no quantization scales, a shared tensor under the first name it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import prod
from types import MappingProxyType
from typing import Final

ROLES: Final = (
    "embedding",  # token look-up table
    "position",  # learned position table
    "attention",  # softmax attention: projections, q/k norms, sinks
    "linear_attention",  # Gated DeltaNet: projections, convolution, decay, norm
    "mlp",  # dense feed-forward
    "expert",  # routed experts, of which a token sees top_k
    "shared_expert",  # experts that every token sees, and their gate
    "router",
    "norm",  # norms of the residual stream
    "lm_head",
    "vision",  # everything in the vision tower and its projector
    "mtp",  # everything in the multi-token-prediction module
)
PARTS: Final = ("embedding", "position", "layers", "norm", "lm_head", "vision", "mtp")

DTYPE_BYTES: Final[Mapping[str, int]] = MappingProxyType(
    {"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1}
)

ALL: Final = Fraction(1)
NONE: Final = Fraction(0)


@dataclass(frozen=True, slots=True)
class Tensor:
    """One trained tensor, or ``count`` alike ones (the same matrix of every routed expert).

    - ``name``: as the checkpoint spells it; ``{}`` stands for the expert where count > 1
    - ``shape``: of one of them
    - ``role``, ``part``: from :data:`ROLES` and :data:`PARTS`; the parts add up to the total
    - ``layer``: index of its decoder layer, None outside the text layers
    - ``active``: the share of it in a token's matrix products in a text step. 1 as a rule,
      top_k / experts for routed experts, 0 for look-ups, vision and MTP
    - ``forward``: position in a text step's forward, so numbered that gradients arrive in
      falling order; None for what a text step does not use
    - ``tied_with``: the other name of a shared tensor
    """

    name: str
    shape: tuple[int, ...]
    role: str
    part: str
    layer: int | None
    dtype: str
    count: int = 1
    active: Fraction = ALL
    forward: int | None = None
    tied_with: str | None = None

    @property
    def numel(self) -> int:
        """Elements of one of the ``count`` tensors."""
        return prod(self.shape)

    @property
    def parameters(self) -> int:
        """Elements of all of them."""
        return prod(self.shape) * self.count

    @property
    def bytes(self) -> int:
        """Bytes of all of them in ``dtype``."""
        return self.parameters * DTYPE_BYTES[self.dtype]


@dataclass(frozen=True, slots=True)
class Dims:
    """What formulas need besides the tensors.

    ``pointers`` gives for each of these names the JSON pointer of the field that set it
    (or would have); ``defaults`` are the names whose field the config left out, so that
    the reference implementation's default, or a rule over other fields, stands.
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int  # of a query; MLA: with the rotary part
    v_head_dim: int
    vocab: int
    intermediate: int  # width of the dense feed-forward
    full_attention_layers: int  # softmax attention, sliding windows included; not linear
    experts: int  # routed ones per MoE layer, 0 for a dense model
    top_k: int
    pointers: Mapping[str, str]
    defaults: frozenset[str]


def expand(entries: Iterable[Tensor], *, backwards: bool = False) -> Iterator[Tensor]:
    """Single tensors, lazily: expert 0 gate, up, down, expert 1 gate, …

    Neighbouring entries with the same count belong to the same experts and take turns.
    With ``backwards`` the last expert comes first, as its gradient does.
    """
    for (count, _), group in groupby(entries, key=lambda t: (t.count, t.layer)):
        together = list(group)
        if count == 1:
            yield from together
            continue
        for index in reversed(range(count)) if backwards else range(count):
            yield from (_expert(entry, index) for entry in together)


def _expert(entry: Tensor, index: int) -> Tensor:
    return Tensor(
        entry.name.replace("{}", str(index)),
        entry.shape,
        entry.role,
        entry.part,
        entry.layer,
        entry.dtype,
        active=entry.active,
        forward=entry.forward,
    )


@dataclass(frozen=True, eq=False)
class Inventory:
    """All trained tensors of a model, in registration order: as ``named_parameters()`` of
    the reference gives them, with the MTP module, which the reference drops, at the end.

    ``sources`` maps the JSON pointer of every config field that was read to its value.
    """

    name: str
    model_type: str
    tensors: tuple[Tensor, ...]
    tied: bool
    dims: Dims
    sources: Mapping[str, object] = field(repr=False)

    @cached_property
    def parts(self) -> Mapping[str, int]:
        """Parameters of each of :data:`PARTS`; they add up to :attr:`total`."""
        counts = dict.fromkeys(PARTS, 0)
        for tensor in self.tensors:
            counts[tensor.part] += prod(tensor.shape) * tensor.count
        return MappingProxyType(counts)

    @property
    def total(self) -> int:
        """Every trained tensor once: text, vision and MTP."""
        return sum(self.parts.values())

    @property
    def text(self) -> int:
        """Parameters of the language model alone, without vision and MTP."""
        return self.total - self.parts["vision"] - self.parts["mtp"]

    @cached_property
    def bytes(self) -> int:
        """Bytes of all parameters in the config's dtype, whatever a quantized checkpoint uses."""
        return sum(tensor.bytes for tensor in self.tensors)

    @cached_property
    def compute_parameters(self) -> Fraction:
        """Parameters that work on a text token: sum of parameters · active.

        Norms, biases and convolutions are in it, look-up tables and unused experts are
        not. This is the N of 6ND (forward 2ND, backward 4ND).
        """
        sums: dict[tuple[int, int], int] = {}
        for tensor in self.tensors:
            share = tensor.active.as_integer_ratio()
            sums[share] = sums.get(share, 0) + tensor.parameters
        return sum((Fraction(*share) * total for share, total in sums.items()), NONE)

    @cached_property
    def routed_expert_parameters(self) -> int:
        """Parameters of the routed experts in the text layers; MTP's are not among them."""
        return sum(tensor.parameters for tensor in self.tensors if tensor.role == "expert")

    @cached_property
    def largest(self) -> Tensor:
        """The entry whose single tensor has most elements; the first of several."""
        return max(self.tensors, key=lambda tensor: tensor.numel)

    def expand(self) -> Iterator[Tensor]:
        """Every single tensor in registration order, lazily."""
        return expand(self.tensors)

    @cached_property
    def _arrival(self) -> tuple[Tensor, ...]:
        used = [tensor for tensor in self.tensors if tensor.forward is not None]
        used.sort(key=lambda tensor: tensor.forward or 0, reverse=True)
        return tuple(used)

    def backward_order(self) -> tuple[Tensor, ...]:
        """Entries in the order in which a text step's gradients arrive, then the unused.

        Last forward first, the embedding (tied or not) last; a Linear's bias before its
        weight, a LayerNorm's weight before its bias. What a text step does not touch,
        vision and then MTP, stands behind that in registration order, as DDP's static
        graph appends it.
        """
        return self._arrival + self.unused

    @cached_property
    def unused(self) -> tuple[Tensor, ...]:
        """Entries that a text step does not use, in registration order."""
        return tuple(tensor for tensor in self.tensors if tensor.forward is None)

    def expand_backward(self) -> Iterator[Tensor]:
        """:meth:`backward_order`, every expert by itself, lazily."""
        yield from expand(self._arrival, backwards=True)
        yield from expand(self.unused)
