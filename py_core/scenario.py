"""Scenario: the model, the cluster and the run that every figure is a function of.

One frozen value. Its field names are the keys of the page's URL, of ``lesson value
--set`` and of ``q(...)`` in Markdown. Numbers are exact: ``bandwidth="12.5"`` is
25/2 GB/s, never a binary float.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any
from urllib.parse import parse_qsl, urlencode

from py_core.errors import Accepted, ScenarioError, UnknownName, number, one_of, whole
from py_core.least_squares import LEAST, MOST
from py_core.model import ANCHOR, Model, load_model, published_model
from py_core.units import number as written

_WHOLE = re.compile(r"[0-9]{1,15}")
_DECIMAL = re.compile(r"[0-9]{1,15}(\.[0-9]{1,9})?")

GRADIENT_BYTES = {"bf16": 2, "fp16": 2, "fp32": 4}


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """What one Scenario field takes, and how formulas and readers call it."""

    name: str
    symbol: str
    says: str  # Chinese, for provenance panels
    unit: str  # a name of py_core.units.UNITS, or "" for a choice
    low: Fraction
    high: Fraction
    integer: bool
    choices: tuple[str, ...] = ()

    @property
    def accepted(self) -> Accepted:
        if self.choices:
            return one_of(self.choices)
        if self.integer:
            return whole(int(self.low), int(self.high))
        return number(decimal(self.low), decimal(self.high), self.unit)

    def parse(self, value: object) -> Any:
        """``value`` (text, int or Fraction) as this field holds it. Raises ScenarioError."""
        if self.choices:
            if value not in self.choices:
                raise ScenarioError(self.name, value, self.accepted)
            return value
        pattern = _WHOLE if self.integer else _DECIMAL
        if isinstance(value, str) and pattern.fullmatch(value):
            value = Fraction(value)
        if isinstance(value, bool) or not isinstance(value, int | Fraction):
            raise ScenarioError(self.name, value, self.accepted)
        exact = Fraction(value)
        fits = exact.denominator == 1 if self.integer else Fraction(decimal(exact)) == exact
        if not self.low <= exact <= self.high or not fits:
            raise ScenarioError(self.name, decimal(exact), self.accepted)
        return int(exact) if self.integer else exact


def decimal(value: Fraction | int) -> str:
    """A number as it stands in a query string: no grouping, no trailing zeros, nine decimals."""
    value = Fraction(value)
    digits = 0
    while digits < 9 and (value * 10**digits).denominator != 1:
        digits += 1
    return written(value, digits).replace(",", "").replace("−", "-")


SPECS: dict[str, FieldSpec] = {}


def _count(
    name: str,
    symbol: str,
    says: str,
    default: int,
    high: int,
    unit: str = "count",
    low: int = 1,
) -> Any:
    SPECS[name] = FieldSpec(name, symbol, says, unit, Fraction(low), Fraction(high), True)
    return field(default=default)


def _real(name: str, symbol: str, says: str, unit: str, default: str, low: str, high: str) -> Any:
    SPECS[name] = FieldSpec(name, symbol, says, unit, Fraction(low), Fraction(high), False)
    return field(default=Fraction(default))


def _choice(name: str, symbol: str, says: str, default: str, choices: tuple[str, ...]) -> Any:
    zero = Fraction(0)
    SPECS[name] = FieldSpec(name, symbol, says, "", zero, zero, False, choices)
    return field(default=default)


@dataclass(frozen=True)
class Scenario:
    """Model, cluster and run. Units are those of ``SPECS[name].unit``.

    The defaults are the lesson's: the anchor model on 8 cards, one card per node,
    50 GB/s between nodes, 400 effective TFLOPS, 4,096 tokens per card and step.
    """

    model: Model = field(default_factory=lambda: published_model(ANCHOR))

    # cluster
    cards: int = _count("cards", "N", "数据并行的卡数", 8, 1_048_576, low=2)
    cards_per_node: int = _count("cards_per_node", "g", "每台机器里参与数据并行的卡数", 1, 1024)
    card_memory: Fraction = _real(
        "card_memory", "M", "每张卡的显存（约定值，GB 按十进制）", "GB", "80", "1", "10000"
    )
    bandwidth: Fraction = _real(
        "bandwidth", "Wₓ", "机器之间，每张卡的单向带宽", "GB/s", "50", "0.001", "100000"
    )
    node_bandwidth: Fraction = _real(
        "node_bandwidth", "Wₙ", "机器之内，每张卡的单向带宽", "GB/s", "160", "0.001", "100000"
    )
    flops: Fraction = _real(
        "flops", "F", "每张卡的有效算力（约定值，不是峰值）", "TFLOPS", "400", "0.001", "1000000"
    )
    latency: Fraction = _real(
        "latency", "αₓ", "机器之间，每条消息的固定开销", "µs", "14", "0", "1000000"
    )
    node_latency: Fraction = _real(
        "node_latency", "αₙ", "机器之内，每条消息的固定开销", "µs", "3.4", "0", "1000000"
    )

    # run
    tokens: int = _count(
        "tokens", "T", "每张卡每个训练步处理的 token 数", 4096, 1_000_000_000, unit="tokens"
    )
    gradient: str = _choice("gradient", "dtype", "梯度的数据类型", "bf16", tuple(GRADIENT_BYTES))
    bucket_cap: Fraction = _real(
        "bucket_cap", "C", "DDP 的分桶上限", "MiB", "25", "0.001", "1048576"
    )
    sequence: int = _count("sequence", "s", "序列长度", 4096, 100_000_000, unit="tokens")
    micro_batch: int = _count("micro_batch", "b", "一个微批里的序列数", 1, 1_000_000)
    tensor_parallel: int = _count("tensor_parallel", "t", "张量并行的卡数", 8, 1024)
    pipeline_stages: int = _count("pipeline_stages", "p", "流水线的级数", 8, 1024)
    micro_batches: int = _count("micro_batches", "m", "每个训练步的微批数", 32, 1_000_000)
    interleave: int = _count("interleave", "v", "交错流水线里每张卡的段数", 4, 1024)
    context_parallel: int = _count("context_parallel", "c", "上下文并行的卡数", 8, 1024)
    expert_parallel: int = _count("expert_parallel", "e", "专家并行的卡数", 64, 4096)
    tokens_card0: int = _count(
        "tokens_card0", "n_0", "变长的例子：0 号卡的有效 token 数", 30_000, MOST, "tokens", LEAST
    )
    tokens_card1: int = _count(
        "tokens_card1", "n_1", "变长的例子：1 号卡的有效 token 数", 20_000, MOST, "tokens", LEAST
    )

    def __post_init__(self) -> None:
        for name in FIELD_NAMES:
            self._set(name, getattr(self, name))

    def _set(self, name: str, value: object) -> None:
        if name != "model":
            value = SPECS[name].parse(value)
        elif not isinstance(value, Model):
            raise ScenarioError("model", value, Accepted("a model", "一个模型"))
        object.__setattr__(self, name, value)

    def with_fields(self, changes: Mapping[str, object]) -> Scenario:
        """This Scenario with some fields changed; values may be text, as in a query string.

        Raises :class:`UnknownName` for a field that does not exist and
        :class:`ScenarioError` for a value out of range.
        """
        for name in changes:
            if name not in FIELD_NAMES:
                raise UnknownName("scenario field", name, FIELD_NAMES)
        changed = copy(self)  # its other fields are valid, so only new values are parsed
        for name, value in changes.items():
            named = name == "model" and isinstance(value, str)
            changed._set(name, load_model(str(value)) if named else value)
        return changed

    def changes(self) -> dict[str, str]:
        """The fields that differ from the lesson's defaults, as text, in declared order."""
        changed = {} if self.model == DEFAULT.model else {"model": self.model.slug}
        for name, spec in SPECS.items():
            value = getattr(self, name)
            if value != getattr(DEFAULT, name):
                changed[name] = value if spec.choices else decimal(value)
        return changed

    def query(self) -> str:
        """The query string that :func:`parse_scenario` reads back; empty for the defaults.

        A model that does not come with the project has to be handed to it by ``models``.
        """
        return urlencode(self.changes())


FIELD_NAMES = tuple(f.name for f in fields(Scenario))
DEFAULT = Scenario()


def parse_scenario(query: str, models: Mapping[str, Model] | None = None) -> Scenario:
    """The Scenario of a query string such as ``cards=64&tokens=16384``.

    ``models`` are those that the caller holds, by slug. A query names a reader's own model
    by its slug alone, never by its contents, so only who holds the model can read it back.
    Raises :class:`UnknownName` for an unknown key and :class:`ScenarioError` for a bad
    or repeated value.
    """
    pairs = parse_qsl(query, keep_blank_values=True)
    changes: dict[str, object] = {}
    for name, value in pairs:
        if name in changes:
            raise ScenarioError(name, value, Accepted("given once", "只写一次"))
        own = (models or {}).get(value) if name == "model" else None
        changes[name] = own or value
    return DEFAULT.with_fields(changes)
