"""Your model: the Scenario that the whole page follows, and what the chosen model is made of.

Its fields are those of the Scenario, bare in the page's address (``cards=64``).
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any
from urllib.parse import urlencode

from py_core.errors import LessonError
from py_core.quantity import At, Quantity, at
from py_core.scenario import DEFAULT, GRADIENT_BYTES, SPECS, Scenario, decimal
from widgets.models import model_field
from widgets.state import Choice, Real, State, Values, Whole
from widgets.yours.parts import largest, parts

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
    ("一份梯度", "gradient.bytes"),
    ("环形每张卡发出", "ring.sent_per_card"),
    ("同步一次", "communication.seconds"),
    ("反向", "backward.seconds"),
    ("桶", "timeline.buckets"),
    ("藏在反向下面", "timeline.hidden_share"),
)


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
    inventory = scenario.model.inventory
    return {
        "model": scenario.model.name,
        "nets": [
            (words, urlencode(fields), all(state[k] == v for k, v in fields.items()))
            for words, fields in NETS.items()
        ],
        "options": {f.name: f.options for f in FIELDS if isinstance(f, Choice)},
        "units": {f.name: f.unit for f in FIELDS if isinstance(f, Real)},
        "tiles": [(words, *_told(here, name)) for words, name in TILES],
        "parts": parts(inventory),
        "largest": largest(inventory),
        "error": {n.field: n for n in state.notices},
    }


def _as_csv(state: State) -> dict[str, str]:
    """The inventory, a tensor a line; alike experts are one line with their count."""
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
    """The model card: the Scenario, the parts, the largest tensors, and each tile's figure with
    its formula."""
    scenario = scenario_of(state.values)
    inventory, here = scenario.model.inventory, at(scenario)
    told = {name: _told(here, name)[0] for _, name in TILES}
    card = {
        "model": inventory.name,
        "scenario": {name: state[name] for name in NAMES},
        "total": inventory.total,
        "parts": dict(inventory.parts),
        "largest": [
            {"name": t.name, "shape": t.shape, "parameters_each": t.numel}
            for t in largest(inventory)
        ],
        "figures": {
            name: {"display": q.display(), "formula": q.formula, "says": q.says}
            for name, q in told.items()
            if q
        },
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
