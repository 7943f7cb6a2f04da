"""The buckets against real DistributedDataParallel (recorded by ``make conformance``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from py_core.buckets import DEFAULT_CAP, MIB, Cut, Plan, plan
from py_core.inventory import Inventory
from py_core.model import ANCHOR, load_model
from py_core.models import inventory

FIXTURES = Path(__file__).resolve().parents[1] / "conformance" / "fixtures"
FIXTURE = json.loads((FIXTURES / "ddp.json").read_text())
CONFIGURATIONS = {found["name"]: found for found in FIXTURE["configurations"]}
FULL_SIZE = {found["model"]: found for found in FIXTURE["full_size"]}
WALKS = {
    "text by arrival": {"unused": "absent", "order": "arrival"},
    "text by registration": {"unused": "absent", "order": "registration"},
    "all by arrival": {"unused": "static", "order": "arrival"},
    "find unused": {"unused": "find-unused", "order": "arrival"},
    "first iteration": {"unused": "static", "first_iteration": True},
}


def as_built(model: Inventory, fp32: Sequence[int] | None = None) -> Inventory:
    """As transformers builds it: without MTP; some of its tensors perhaps in fp32."""
    tensors = [tensor for tensor in model.tensors if tensor.part != "mtp"]
    if fp32 is not None:
        kinds = dict.fromkeys(fp32, "float32")
        tensors = [replace(t, dtype=kinds.get(i, "bfloat16")) for i, t in enumerate(tensors)]
    return replace(model, tensors=tuple(tensors))


@cache
def small(name: str) -> Inventory:
    found = CONFIGURATIONS[name]
    return as_built(inventory(found["config"]), found["fp32"])


def names(model: Inventory) -> list[str]:
    return [tensor.name for tensor in model.expand()]


def digest(model: Inventory) -> str:
    return hashlib.sha256("\n".join(names(model)).encode()).hexdigest()


def cut(name: str, **changes: Any) -> Cut:
    """What the arguments of DDP amount to."""
    model, options = small(name), CONFIGURATIONS[name]["options"]
    cap = int(options["bucket_cap_mb"] * MIB) if "bucket_cap_mb" in options else DEFAULT_CAP
    unused = "error" if model.unused else "absent"
    if "static_graph" in options:
        unused = "static"
    if "find_unused_parameters" in options:
        unused = "find-unused"
    return Cut(model, None, cap, unused=unused, order="arrival", **changes)


def buckets(found: Plan) -> list[list[str]]:
    """Names of the tensors of every bucket, in order of launch."""
    return [
        [name for piece in run.pieces_of(j) for name in piece.names()]
        for run in found.runs
        for j in range(run.count)
    ]


def assert_as_ddp(model: Inventory, found: Plan, iteration: dict[str, Any]) -> None:
    """Members, bytes and moment of launch of every bucket."""
    listed = names(model)
    launches = iteration["launches"]
    assert buckets(found) == [[listed[i] for i in la["parameters"]] for la in launches]
    runs = [run for run in found.runs for _ in range(run.count)]
    assert [run.bytes for run in runs] == [launch["bytes"] for launch in launches]
    # Work done after so many arrivals; a shared head's products come before all of them.
    shared = [t for t in model.tensors if t.tied_with]
    work = {t.name: int(t.numel * t.active * found.unit) for t in model.tensors}
    head = sum(work.pop(t.name) for t in shared)
    done = list(accumulate((work.get(listed[i], 0) for i in iteration["arrived"]), initial=head))
    assert [run.launch for run in runs] == [done[launch["after"]] for launch in launches]


def test_at_least_eight_ways_to_use_ddp_were_recorded() -> None:
    assert len(CONFIGURATIONS) >= 15
    assert FIXTURE["recorded"]["torch"].startswith("2.13")


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_parameters_are_registered_as_in_the_real_model(name: str) -> None:
    assert digest(small(name)) == CONFIGURATIONS[name]["names_sha256"]


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_first_iteration(name: str) -> None:
    found = CONFIGURATIONS[name]
    planned = plan(cut(name, first_iteration=True))
    if found["raised"]:  # DDP waits for ever for gradients that never come
        assert "finished reduction in the prior iteration" in found["raised"]
        assert found["first"]["launches"] == []
        assert planned.missing == len(small(name).unused)
        assert planned.count == 1
        return
    assert planned.missing == 0
    assert_as_ddp(small(name), planned, found["first"])


@pytest.mark.parametrize("name", [n for n, found in CONFIGURATIONS.items() if not found["raised"]])
def test_steady_state(name: str) -> None:
    wanted = cut(name, flipped=name == "flipped")
    assert CONFIGURATIONS[name]["rebuilt"] == wanted.rebuilt
    assert_as_ddp(small(name), plan(wanted), CONFIGURATIONS[name]["steady"])


def test_turned_layers_leave_in_one_burst() -> None:
    """All but the first and last bucket wait for the one that is now complete last."""
    launches = CONFIGURATIONS["flipped"]["steady"]["launches"]
    assert len({launch["after"] for launch in launches[3:-1]}) == 1


@pytest.mark.parametrize(
    ("slug", "walk"), [(slug, walk) for slug, found in FULL_SIZE.items() for walk in found["cuts"]]
)
def test_full_size(slug: str, walk: str) -> None:
    found = FULL_SIZE[slug]
    model = as_built(load_model(ANCHOR if slug == "anchor" else slug).inventory)
    assert digest(model) == found["names_sha256"]
    listed = names(model)
    used = [t.name for t in model.expand_backward() if t.forward is not None]
    assert used == [listed[i] for i in found["arrival"]]
    wanted = [[listed[i] for i in bucket] for bucket in found["cuts"][walk]]
    assert buckets(plan(Cut(model, **WALKS[walk]))) == wanted


@pytest.mark.parametrize(
    ("slug", "walk", "count"),
    [
        ("anchor", "text by arrival", 370),
        ("anchor", "text by registration", 370),
        ("anchor", "all by arrival", 400),
        ("qwen3-8b", "text by arrival", 182),
    ],
)
def test_number_of_buckets_at_full_size(slug: str, walk: str, count: int) -> None:
    assert len(FULL_SIZE[slug]["cuts"][walk]) == count
