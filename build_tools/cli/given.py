"""What commands are given: files, models, Scenarios, numbers. All bad input ends here."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from py_core.errors import Accepted, LessonError, ScenarioError, ScheduleError, whole

if TYPE_CHECKING:
    from py_core.model import Model
    from py_core.scenario import Scenario

Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a Scenario field, such as cards=64 or model=qwen3-8b; repeatable.",
    ),
]
OwnConfig = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="Take the model from this config.json."),
]


def called(place: str) -> str:
    return "standard input" if place == "-" else place


def bytes_of(place: str) -> bytes:
    """A file's bytes, or those of standard input for ``-``; never more than a config may have."""
    from py_core.configs import MAX_BYTES

    try:
        if place == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open(place, "rb") as file:
                data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LessonError(called(place), reason, "a file that can be read") from None
    if len(data) > MAX_BYTES:
        raise LessonError(called(place), "a longer file", f"at most {MAX_BYTES:,} bytes")
    return data


def model_of(place: str) -> Model:
    """The model of a published slug, of a config file, or of standard input (``-``).

    A file holds a ``config.json`` as published, or one inside ``{"name", "config"}`` as in
    ``docs/data/models``. Errors name the file, and within it the field.
    """
    from py_core import data
    from py_core.errors import ConfigError, UnknownName
    from py_core.model import ANCHOR, own_model

    slugs = (ANCHOR, *data.model_slugs())
    if place in slugs:
        return ours(place)
    if place != "-" and not os.path.exists(place) and not re.search(r"[/\\]|\.json$", place):
        raise UnknownName("model (and no file of that name)", place, slugs)
    content = bytes_of(place)
    try:
        return own_model(content, "" if place == "-" else place)
    except ConfigError as error:
        raise data.within(called(place), error) from None


def ours(slug: str) -> Model:
    """A model that comes with the project, counted: a mistake in its data file ends here, once,
    and not at every figure that rests on it."""
    from py_core.model import load_model

    model = load_model(slug)
    _ = model.inventory
    return model


def check_data() -> None:
    """What every figure rests on: the anchor model and the facts. Raises where one is broken,
    so that it is told once, and not at every figure."""
    from py_core import facts
    from py_core.model import ANCHOR

    ours(ANCHOR)
    facts.ids()


def scenario_of(changes: Sequence[str] | None, config: str | None) -> Scenario:
    """The lesson's Scenario with ``--set`` and ``--config`` applied, its model counted."""
    from py_core import data
    from py_core.scenario import DEFAULT

    check_data()
    new: dict[str, object] = {}
    for text in changes or ():
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise ScenarioError("--set", text, Accepted("field=value, such as cards=64", "字段=值"))
        if name in new:
            raise ScenarioError(name, value, Accepted("given once", "只写一次"))
        new[name] = value
    if config is not None:
        if "model" in new:
            once = Accepted("given once, here or by --config", "只写一次")
            raise ScenarioError("model", new["model"], once)
        new["model"] = model_of(config)
    elif new.get("model") in data.model_slugs():
        new["model"] = ours(str(new["model"]))
    return DEFAULT.with_fields(new)


def whole_number(field: str, text: str, low: int, high: int) -> int:
    """A whole number in ASCII digits, from ``low`` to ``high``."""
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise ScheduleError(field, text, whole(low, high))
    return int(text)
