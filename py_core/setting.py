"""What a simulated training step depends on: model, cluster, run, and what DDP is told.

Unlike a Scenario, which a page stands for, a Setting may be a limit: no tokens, one card,
links without bounds. :mod:`py_core.timeline` simulates it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from py_core.backward import ORDERS
from py_core.buckets import DEFAULT_CAP, UNUSED, Cut
from py_core.errors import Accepted, ScenarioError, one_of, whole
from py_core.inventory import Inventory
from py_core.scenario import GRADIENT_BYTES, SPECS, Scenario
from py_core.units import unit

SENDING: Final = ("buckets", "sync", "first-iteration")
NO_SYNC: Final = ("off", "on", "trap")
MAX_ACCUMULATION: Final = 64

ZERO: Final = Fraction(0)

# What one word sets: the modes of `lesson timeline` and of the widget's presets.
MODES: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "buckets": {},
        "sync": {"sending": "sync"},
        "first-iteration": {"sending": "first-iteration"},
        "rebuilt": {"order": "arrival"},
        "find-unused": {"unused": "find-unused"},
        "absent": {"unused": "absent"},
        "error": {"unused": "error"},
        "tied": {"tied": True},
        "flipped": {"flipped": True},
        "no-sync-trap": {"accumulation": 2, "no_sync": "trap"},
    }
)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a timeline depends on. Bytes, bytes/s, seconds and FLOP/s, all exact.

    - ``bandwidth``, ``node_bandwidth``: of a card, one way, across and inside nodes; None
      is without limit. ``latency``, ``node_latency``: α of each message
    - ``hierarchical``: reduce inside each node, ring across, gather inside; else one ring
      over all cards, at ``bandwidth`` (at ``node_bandwidth`` where one node holds them all)
    - ``tokens``: per card and micro-batch, 0 or more
    - ``gradient_bytes``: of one element; None as many as each tensor's own dtype has
    - ``bucket_cap``: DDP's own 25 MiB makes the first bucket 1 MiB, any other cap does not
    - ``sending``: ``buckets`` as DDP does in steady state, ``sync`` the same buckets after
      the backward, or DDP's ``first-iteration``
    - ``unused``: how DDP knows of parameters that a text step does not use (vision, MTP):
      ``static`` graph, ``find-unused``, not at all (``error``), or ``absent`` ones
    - ``tied``: embedding and head one tensor; None as the model has it
    - ``order``: in which gradients arrive, and in which DDP rebuilds its buckets: reverse
      ``registration``, as DDP assumes at first, or the real ``arrival``. They differ
      inside a layer only
    - ``flipped``: the layers run in the opposite order since the buckets were made
    - ``accumulation``: micro-batches a step; ``no_sync``: all but the last inside it
      (``on``), none (``off``), or even the last one's forward (``trap``)

    Raises :class:`ScenarioError`.
    """

    inventory: Inventory
    cards: int = 8
    cards_per_node: int = 1
    bandwidth: Fraction | None = Fraction(50 * 10**9)
    node_bandwidth: Fraction | None = Fraction(160 * 10**9)
    latency: Fraction = ZERO
    node_latency: Fraction = ZERO
    hierarchical: bool = False
    flops: Fraction = Fraction(400 * 10**12)
    tokens: int = 4096
    gradient_bytes: int | None = 2
    bucket_cap: int = DEFAULT_CAP
    sending: str = "buckets"
    unused: str = "static"
    tied: bool | None = None
    order: str = "registration"
    flipped: bool = False
    accumulation: int = 1
    no_sync: str = "on"

    def __post_init__(self) -> None:
        for name, low, high in _WHOLE:
            value = getattr(self, name)
            if name == "gradient_bytes" and value is None:
                continue
            if type(value) is not int or not low <= value <= high:
                raise ScenarioError(name, value, whole(low, high))
        for name in ("bandwidth", "node_bandwidth", "flops"):
            value = getattr(self, name)
            if value is None and name != "flops":
                continue
            if not isinstance(value, int | Fraction) or value <= 0:
                raise ScenarioError(name, value, Accepted("more than 0", "大于 0 的数"))
        for name in ("latency", "node_latency"):
            value = getattr(self, name)
            if not isinstance(value, int | Fraction) or value < 0:
                raise ScenarioError(name, value, Accepted("0 or more", "不小于 0 的数"))
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                raise ScenarioError(name, getattr(self, name), one_of(known))
        if self.hierarchical and self.cards % min(self.cards_per_node, self.cards):
            n = self.cards
            fits = Accepted(f"a divisor of cards = {n}", f"卡数 {n} 的约数")
            raise ScenarioError("cards_per_node", self.cards_per_node, fits)

    @property
    def cut(self) -> Cut:
        """The part of it that decides what is in which bucket."""
        return Cut(
            self.inventory,
            self.gradient_bytes,
            self.bucket_cap,
            self.sending == "first-iteration",
            self.unused,
            self.tied,
            self.order,
            self.flipped,
        )

    def in_mode(self, mode: str) -> Setting:
        """This Setting with one of :data:`MODES` laid over it."""
        if mode not in MODES:
            raise ScenarioError("mode", mode, one_of(MODES))
        return replace(self, **MODES[mode])


_WHOLE: Final = (
    ("cards", 1, 1_048_576),
    ("cards_per_node", 1, 1_048_576),
    ("tokens", 0, 1_000_000_000),
    ("gradient_bytes", 1, 8),
    ("bucket_cap", 1, 1 << 50),
    ("accumulation", 1, MAX_ACCUMULATION),
)
_CHOICES: Final = (
    ("sending", SENDING),
    ("unused", UNUSED),
    ("order", ORDERS),
    ("no_sync", NO_SYNC),
)


def setting_of(scenario: Scenario, **changes: Any) -> Setting:
    """The Setting of ``scenario``: its model, cluster and run; ``changes`` are Setting fields.

    Fixed costs per message are left out, as in the chapter's comparison of communication
    with the backward, unless ``changes`` gives ``latency`` and ``node_latency``.
    """

    def exact(name: str) -> Fraction:
        return Fraction(getattr(scenario, name)) * unit(SPECS[name].unit).scale

    told: dict[str, Any] = {
        "cards": scenario.cards,
        "cards_per_node": scenario.cards_per_node,
        "bandwidth": exact("bandwidth"),
        "node_bandwidth": exact("node_bandwidth"),
        "flops": exact("flops"),
        "tokens": scenario.tokens,
        "gradient_bytes": GRADIENT_BYTES[scenario.gradient],
        "bucket_cap": max(1, int(exact("bucket_cap"))),  # torch takes whole bytes, too
    }
    return Setting(scenario.model.inventory, **(told | changes))


# ── costs of one all-reduce ─────────────────────────────────────────────────────────────


def all_reduce(setting: Setting) -> tuple[Fraction, Fraction]:
    """Seconds of one all-reduce: a fixed part, and what each byte adds (α–β model).

    Flat ring: 2(N−1)·α + 2(N−1)/N·bytes/W (Patarasuk & Yuan 2009). Hierarchical, g cards a
    node and M nodes: 2(g−1)·αₙ + 2(M−1)·α + (2(g−1)/g/Wₙ + 2(M−1)/(M·g)/W)·bytes.
    """
    n = setting.cards
    inside = min(setting.cards_per_node, n)
    if inside == n:
        return _ring(n, setting.node_latency, setting.node_bandwidth)
    if not setting.hierarchical:
        return _ring(n, setting.latency, setting.bandwidth)
    fixed_in, byte_in = _ring(inside, setting.node_latency, setting.node_bandwidth)
    fixed, byte = _ring(n // inside, setting.latency, setting.bandwidth)
    return fixed_in + fixed, byte_in + byte / inside


def _ring(n: int, latency: Fraction, bandwidth: Fraction | None) -> tuple[Fraction, Fraction]:
    if n == 1:
        return ZERO, ZERO
    byte = ZERO if bandwidth is None else Fraction(2 * (n - 1), n) / bandwidth
    return 2 * (n - 1) * Fraction(latency), byte
