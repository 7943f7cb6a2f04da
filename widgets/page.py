"""A page's figures and claims for another Scenario than the one it was built with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl

from py_core.claims import judge
from py_core.errors import LessonError
from py_core.quantity import At, at
from widgets.figures import Panels
from widgets.state import parse
from widgets.yours.widget import FIELDS, scenario_of


@dataclass(frozen=True, slots=True)
class Recomputed:
    """``told`` is for a reader at once; ``panels``, half of the work, may come behind."""

    told: dict[str, Any]
    panels: Panels


@lru_cache(maxsize=1)
def recomputed(page: str, query: str) -> Recomputed:
    """What the page shows for the Scenario of ``query``. The last answer is kept.

    ``page`` is JSON that lists the page's ``figures`` as ``[name, pins, unit, digits]`` and its
    ``claims`` as ``[name, pins]``, pins as a query string; ``base`` leads from the page to the
    site's root. Told are the ``model``'s name and as many of each: a figure's ``text`` and the id
    of its ``panel``, and ``why`` it has no value if it has none; whether a claim ``holds``, None
    where nobody can say, and the ``note`` that goes with it if it does not.
    """
    asked = json.loads(page)
    scenario = scenario_of(parse(FIELDS, query).values)
    panels = Panels(base=str(asked.get("base", "")))
    elsewhere: dict[str, At] = {}

    def here(pins: str) -> At:
        if pins not in elsewhere:
            elsewhere[pins] = at(scenario.with_fields(dict(parse_qsl(pins))))
        return elsewhere[pins]

    def figure(name: str, pins: str, unit: str, digits: str) -> dict[str, str]:
        try:
            q = here(pins).quantity(name)
            text = q.display(unit or None, int(digits) if digits else None)
        except LessonError as error:
            return {
                "text": "—",
                "panel": panels.add_reason(name, error.chinese),
                "why": error.chinese,
            }
        return {"text": text, "panel": panels.add(q, dict(parse_qsl(pins)))}

    def claim(name: str, pins: str) -> dict[str, Any]:
        try:
            verdict = judge(name, here(pins).scenario)
        except LessonError as error:
            note = f"换成你的设定，说不上这句还成不成立：{error.chinese}"
            return {"holds": None, "note": note}
        note = "" if verdict.holds else f"换成你的设定，这句不成立：{verdict.instead}"
        return {"holds": verdict.holds, "note": note}

    told = {
        "model": scenario.model.name,
        "figures": [figure(*f) for f in asked["figures"]],
        "claims": [claim(*c) for c in asked["claims"]],
    }
    return Recomputed(told, panels)
