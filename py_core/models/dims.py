"""From the fields of a config to the dimensions of a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from py_core.errors import Accepted, ConfigError
from py_core.fields import EXPERTS, HEADS, LAYERS, REQUIRED, VOCABULARY, WIDTH, Fields
from py_core.inventory import DTYPE_BYTES, Dims

# The config field behind each dimension, and the most it may be.
_FIELDS: Final[Mapping[str, tuple[tuple[str, ...], int]]] = {
    "layers": (("num_hidden_layers",), LAYERS),
    "hidden": (("hidden_size",), WIDTH),
    "heads": (("num_attention_heads",), HEADS),
    "kv_heads": (("num_key_value_heads",), HEADS),
    "head_dim": (("head_dim",), WIDTH),
    "v_head_dim": (("v_head_dim",), WIDTH),
    "vocab": (("vocab_size",), VOCABULARY),
    "intermediate": (("intermediate_size",), WIDTH),
    "experts": (("num_experts",), EXPERTS),
    "top_k": (("num_experts_per_tok",), EXPERTS),
}
_DTYPES: Final = (*DTYPE_BYTES, *(f"torch.{name}" for name in DTYPE_BYTES))


class DimsReader:
    """Reads dimensions one by one, remembering pointers and which ones were defaults.

    ``names`` replaces field names; ``defaults`` are the reference implementation's own.
    """

    def __init__(
        self,
        fields: Fields,
        names: Mapping[str, tuple[str, ...]] | None = None,
        defaults: Mapping[str, int] | None = None,
    ) -> None:
        self.fields = fields
        self._names = names or {}
        self._defaults = defaults or {}
        self.pointers: dict[str, str] = {}
        self.defaulted: set[str] = set()

    def read(self, dim: str, otherwise: int | None = None, *, high: int | None = None) -> int:
        """Dimension ``dim``; a null or absent field means the default, then ``otherwise``."""
        fields, (names, most) = self.fields, _FIELDS[dim]
        names = self._names.get(dim, names)
        default = self._defaults.get(dim, otherwise)
        if otherwise is not None and any(fields.null(name) for name in names):
            default = otherwise  # an explicit null asks for the rule, not for the default
        value = fields.integer(
            *names, default=REQUIRED if default is None else default, high=high or most
        )
        self.pointers[dim] = fields.pointer(*names)
        if not any(fields.has(name) for name in names):
            self.defaulted.add(dim)
        return value

    def per_head(self, hidden: int, heads: int) -> int:
        """Width of a head: its own field or default, else hidden / heads without remainder."""
        names = self._names.get("head_dim", _FIELDS["head_dim"][0])
        if any(self.fields.has(name) for name in names) or "head_dim" in self._defaults:
            return self.read("head_dim")
        if hidden % heads:
            self.refuse("heads", heads, f"a divisor of {hidden:,}", f"{hidden:,} 的约数")
        return self.read("head_dim", hidden // heads)

    def refuse(self, dim: str, value: int, english: str, chinese: str) -> None:
        raise ConfigError(self.pointers[dim], value, Accepted(english, chinese))


def read_dims(
    fields: Fields,
    *,
    names: Mapping[str, tuple[str, ...]] | None = None,
    defaults: Mapping[str, int] | None = None,
    moe: bool = False,
    mla: bool = False,
    intermediate: int | None = None,
    four_h: bool = False,
    full_attention_layers: int | None = None,
) -> Dims:
    """The dimensions of a decoder.

    Required are layers, hidden, heads, vocab and intermediate, unless the architecture
    gives a default for an absent field, ``intermediate``, or a rule: ``four_h`` makes the
    feed-forward four times as wide as the model.
    """
    reader = DimsReader(fields, names, defaults)
    layers, hidden = reader.read("layers"), reader.read("hidden")
    heads = reader.read("heads")
    if mla:  # every query head has its own key and value, made from the latent
        kv_heads = heads
        reader.pointers["kv_heads"] = reader.pointers["heads"]
        head_dim = _mla_head(fields, reader)
        v_head_dim = reader.read("v_head_dim", 128)
    else:
        kv_heads = reader.read("kv_heads", heads)
        v_head_dim = head_dim = reader.per_head(hidden, heads)
    if heads % kv_heads:
        reader.refuse("kv_heads", kv_heads, f"a divisor of {heads:,}", f"{heads:,} 的约数")
    experts = reader.read("experts") if moe else 0
    return Dims(
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        v_head_dim=v_head_dim,
        vocab=reader.read("vocab"),
        intermediate=reader.read("intermediate", 4 * hidden if four_h else intermediate),
        full_attention_layers=layers if full_attention_layers is None else full_attention_layers,
        experts=experts,
        top_k=reader.read("top_k", high=experts) if moe else 0,
        pointers=MappingProxyType(reader.pointers),
        defaults=frozenset(reader.defaulted),
    )


def _mla_head(fields: Fields, reader: DimsReader) -> int:
    """Query and key heads of MLA: a part without position and a rotary part."""
    reader.pointers["head_dim"] = fields.pointer("qk_nope_head_dim")
    if not fields.has("qk_nope_head_dim"):
        reader.defaulted.add("head_dim")
    return fields.integer("qk_nope_head_dim", default=128) + fields.integer(
        "qk_rope_head_dim", default=64
    )


def read_dtype(fields: Fields, outer: Fields | None = None) -> str:
    """The dtype of the parameters; float32, torch's own, where the config names none."""
    default = "float32" if outer is None else read_dtype(outer)
    found = fields.choice("dtype", "torch_dtype", known=_DTYPES, default=default)
    return found.removeprefix("torch.")


def hybrid_layers(fields: Fields, layers: int, *, interval: int = 4) -> tuple[str, ...]:
    """Kind of each layer: ``layer_types``, else every ``interval``-th is full attention."""
    kinds = ("linear_attention", "full_attention")
    given = fields.strings("layer_types", known=kinds)
    every = fields.integer("full_attention_interval", default=interval, high=LAYERS)
    if given is None:
        return tuple(kinds[(i + 1) % every == 0] for i in range(layers))
    if len(given) != layers:
        accepted = Accepted(f"a list of {layers:,} entries", f"{layers:,} 项的列表")
        raise ConfigError(fields.pointer("layer_types"), f"{len(given):,} entries", accepted)
    return given
