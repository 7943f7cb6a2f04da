"""Your model: the Scenario that the whole page follows, and what the chosen model is made of.

Its fields are those of the Scenario, bare in the page's address (``cards=64``).
"""

from __future__ import annotations

import csv
import io
import json
from fractions import Fraction
from typing import Any
from urllib.parse import urlencode

from py_core.buckets import plan
from py_core.errors import LessonError
from py_core.quantity import At, Quantity, at
from py_core.scenario import DEFAULT, GRADIENT_BYTES, SPECS, Scenario, decimal
from py_core.setting import setting_of
from py_core.units import display, unit
from widgets.models import model_field
from widgets.state import Choice, Real, State, Values, Whole
from widgets.yours.parts import blocks, largest, parts

LABEL = "你的模型和集群"
MINUTES = 0  # a setting, no experiment


def _whole(name: str, high: int, low: int = 1) -> Whole:
    return Whole(name, SPECS[name].says, getattr(DEFAULT, name), low, high)


def _real(name: str) -> Real:
    spec = SPECS[name]
    default = decimal(getattr(DEFAULT, name))
    return Real(name, spec.says, default, decimal(spec.low), decimal(spec.high), spec.unit)


FIELDS = (
    model_field(),
    _whole("cards", 1_048_576, 2),
    _whole("cards_per_node", 1024),
    _real("card_memory"),
    _real("bandwidth"),
    _real("node_bandwidth"),
    _real("flops"),
    _whole("tokens", 999_999_999),
    Choice("gradient", "梯度的数据类型", "bf16", {name: name for name in GRADIENT_BYTES}),
)
NAMES = tuple(f.name for f in FIELDS)

# How a cluster is wired, several fields at a press.
NETS = {
    "每台 1 张，走 IB": {"cards": 8, "cards_per_node": 1},
    "一台 8 张，走 NVLink": {"cards": 8, "cards_per_node": 8},
    "每台 8 张，NVLink 加 IB": {"cards": 64, "cards_per_node": 8},
}

# What the panel says of the choice at once.
TILES = (
    ("参数", "model.parameters"),
    ("模型状态", "state.bytes"),
    ("是一张卡的", "state.cards_of_memory"),
    ("装下它至少要", "state.cards_needed"),
    ("一份梯度", "gradient.bytes"),
    ("环形每张卡发出", "ring.sent_per_card"),
    ("同步一次", "communication.seconds"),
    ("反向", "backward.seconds"),
    ("最大张量的梯度", "gradient.largest_bytes"),
    ("桶", "timeline.buckets"),
    ("藏在反向下面", "timeline.hidden_share"),
)
SAID = 6  # as many of them are read aloud


def scenario_of(values: Values) -> Scenario:
    """The Scenario that the fields describe."""
    return DEFAULT.with_fields({name: values[name] for name in NAMES})


def walk() -> list[str]:
    """The lesson's own setting."""
    return [urlencode({f.name: f.default for f in FIELDS})]


def still(_state: State) -> list[tuple[str, str]]:
    """Without JavaScript the page has one setting, and says so itself."""
    return []


def view(state: State) -> dict[str, Any]:
    scenario = scenario_of(state.values)
    here = at(scenario)
    tiles = [(words, *_told(here, name)) for words, name in TILES]
    return {
        "model": scenario.model.name,
        "nets": [
            (words, urlencode(fields), all(state[k] == v for k, v in fields.items()))
            for words, fields in NETS.items()
        ],
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "units": {f.name: f.unit for f in FIELDS if isinstance(f, Real)},
        "tiles": tiles,
        "reasons": sorted({why for _, _, why in tiles if why}),
        "card": None if scenario.model.stated else _card(scenario),
        "said": [f"{words} {q.display()}" for words, q, _ in tiles[:SAID] if q],
        "error": {n.field: n for n in state.notices},
    }


def _card(scenario: Scenario) -> dict[str, Any]:
    """The model as pictures: its parts, and the buckets DDP sends their gradients in."""
    inventory = scenario.model.inventory
    made = plan(setting_of(scenario).cut)
    biggest = max(made.runs, key=lambda run: run.bytes)
    return {
        "parts": parts(inventory),
        "largest": largest(inventory),
        "blocks": blocks(made.runs, made.bytes),
        "biggest": display(Fraction(biggest.bytes), unit("MiB")),
        "holds": max(biggest.pieces, key=lambda piece: piece.numel).first,
    }


def _as_csv(state: State) -> dict[str, str]:
    """The inventory, a tensor a line; alike experts are one line with their count. Raises
    ConfigError where there is none, and then no button asks for it."""
    inventory = scenario_of(state.values).model.inventory
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(("name", "shape", "role", "part", "layer", "dtype", "count", "parameters"))
    for t in inventory.tensors:
        shape = "x".join(map(str, t.shape))
        layer = "" if t.layer is None else t.layer
        lines.writerow((t.name, shape, t.role, t.part, layer, t.dtype, t.count, t.parameters))
    return {"name": f"{state['model']}.csv", "type": "text/csv", "text": out.getvalue()}


def _as_json(state: State) -> dict[str, str]:
    """The model card: the Scenario, the counts, the parts and the largest tensors where they are
    known, and each tile's figure with its formula."""
    scenario = scenario_of(state.values)
    model, here = scenario.model, at(scenario)
    told = {name: _told(here, name)[0] for _, name in TILES}
    card: dict[str, Any] = {
        "model": model.name,
        "scenario": {name: state[name] for name in NAMES},
        "total": model.counts.total,
        "trained": model.counts.trained,
    }
    if not model.stated:
        card |= {
            "parts": dict(model.inventory.parts),
            "largest": [
                {"name": t.name, "shape": t.shape, "parameters_each": t.numel}
                for t in largest(model.inventory)
            ],
        }
    card["figures"] = {
        name: {"display": q.display(), "formula": q.formula, "says": q.says}
        for name, q in told.items()
        if q
    }
    text = json.dumps(card, ensure_ascii=False, indent=2) + "\n"
    return {"name": f"{state['model']}.json", "type": "application/json", "text": text}


EXPORTS = {"csv": _as_csv, "json": _as_json}


def _told(here: At, name: str) -> tuple[Quantity | None, str]:
    """The quantity, or None and why there is none."""
    try:
        return here.quantity(name), ""
    except LessonError as error:
        return None, error.chinese
