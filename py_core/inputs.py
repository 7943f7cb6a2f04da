"""What a quantity is made from where it is not another quantity: the leaves of its provenance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py_core import facts
from py_core.scenario import FieldSpec


@dataclass(frozen=True, slots=True)
class ScenarioInput:
    """A Scenario field, which the reader can change."""

    spec: FieldSpec

    @property
    def says(self) -> str:
        return self.spec.says

    def record(self) -> dict[str, Any]:
        return {"kind": "scenario", "field": self.spec.name}


@dataclass(frozen=True, slots=True)
class ConfigInput:
    """A field of the model's config, by JSON pointer, in a committed file or a pasted one."""

    pointer: str
    model: str
    file: str
    says: str

    def record(self) -> dict[str, Any]:
        return {"kind": "config", "pointer": self.pointer, "model": self.model, "file": self.file}


@dataclass(frozen=True, slots=True)
class CountedInput:
    """A sum over tensors of the inventory, which come from the whole config."""

    model: str
    file: str
    says: str

    def record(self) -> dict[str, Any]:
        return {"kind": "inventory", "model": self.model, "file": self.file}


@dataclass(frozen=True, slots=True)
class FactInput:
    """A figure from a paper, by its id in ``docs/data/facts.json``."""

    fact: facts.Fact

    @property
    def says(self) -> str:
        return self.fact.says

    def record(self) -> dict[str, Any]:
        return {"kind": "fact", "id": self.fact.id}


@dataclass(frozen=True, slots=True)
class Convention:
    """A constant with its reason: 2 bytes per bf16 number."""

    says: str

    def record(self) -> dict[str, Any]:
        return {"kind": "convention"}


@dataclass(frozen=True, slots=True)
class Measurement:
    """What came out when somebody ran it; ``says`` when and with what."""

    says: str

    def record(self) -> dict[str, Any]:
        return {"kind": "measured"}
