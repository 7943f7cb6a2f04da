"""What readers touch. A widget is a pure function from a query string to HTML.

The build calls :func:`render` for the frames it puts into pages; the browser's worker
calls :func:`answer`, which is the same function with JSON around it. Both run this
very code, so a frame is the same bytes wherever it was made.
"""

from __future__ import annotations

import importlib
import json
from types import ModuleType
from typing import Any

from py_core.errors import ConfigError, UnknownName

NAMES = ("ring", "scale", "formula", "overlap", "average", "yours")


def widget(name: str) -> ModuleType:
    """The widget's module: ``LABEL``, ``MINUTES``, ``FIELDS``, ``view(state)``, ``walk()``,
    ``still(state)`` and, if it has things to try, ``TASKS``. Raises UnknownName."""
    if name not in NAMES:
        raise UnknownName("widget", name, NAMES)
    return importlib.import_module(f"widgets.{name}.widget")


def render(name: str, query: str = "", element_id: str | None = None, base: str = "") -> str:
    """The frame of widget ``name`` in the state that ``query`` describes.

    Never fails on a bad query: a field that cannot be read keeps its former or default
    value, and the frame says so beside it. ``element_id`` keeps the ids of two copies
    on one page apart; ``base`` leads from the page to the site's root, for links.
    """
    from widgets.frame import frame

    return frame(widget(name), query, element_id or name, base)


def answer(request: str) -> str:
    """One message of the worker, JSON in and JSON out.

    ``{widget, query, id, base}`` asks for a frame and gets ``{html}``. ``{config}``, the text of
    a config.json, or ``{packed}``, one from a link, makes that model one to choose, and gets what
    :func:`widgets.models.bring` says or, for a bad one, ``{error: {field, says, unknown}}`` in the
    reader's language, ``unknown`` where the architecture is one that nobody here can count;
    ``{counts}`` does it for such a model, of which only the counts are known; ``{size}`` asks
    whether a file of so many bytes may be a config.
    ``{page, query}`` asks for a page's figures and claims under the Scenario
    of ``query``, see :func:`widgets.page.recomputed`; with ``panels`` for their panels, as
    ``{html}``. ``{widget, query, export}`` asks for a
    file that the state can be taken away as, and gets ``{name, type, text}``.
    """
    asked = json.loads(request)
    if asked.keys() & {"config", "counts", "packed", "size"}:
        return json.dumps(_brought(asked))
    if "page" in asked:
        return json.dumps(_page(asked))
    if "export" in asked:
        return json.dumps(exported(asked["widget"], asked["query"], asked["export"]))
    html = render(asked["widget"], asked["query"], asked["id"], asked.get("base", ""))
    return json.dumps({"html": html})


def exported(name: str, query: str, what: str) -> dict[str, str]:
    """The file ``what`` of the state that ``query`` describes. Raises UnknownName."""
    from widgets.state import parse

    module = widget(name)
    files: dict[str, Any] = getattr(module, "EXPORTS", {})
    if what not in files:
        raise UnknownName("file", what, files)
    made: dict[str, str] = files[what](parse(module.FIELDS, query))
    return made


def _brought(asked: dict[str, Any]) -> dict[str, Any]:
    from py_core.configs import check_size
    from widgets.models import bring, misstated, said, stated, unpacked

    try:
        if "size" in asked:
            check_size(asked["size"])
            return {}
        if "counts" in asked:
            return bring(stated(asked["counts"]))
        return bring(asked["config"] if "config" in asked else unpacked(asked["packed"]))
    except ConfigError as error:
        says = misstated(error) if "counts" in asked else said(error, asked.get("config", ""))
        unknown = error.field.endswith("/model_type")
        return {"error": {"field": error.field, "says": says, "unknown": unknown}}


def _page(asked: dict[str, Any]) -> dict[str, Any]:
    from widgets.page import recomputed

    found = recomputed(asked["page"], asked["query"])
    return {"html": str(found.panels.html())} if "panels" in asked else found.told
