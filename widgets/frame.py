"""From a query to HTML: state, view, template."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from widgets.state import State, parse

_HERE = Path(__file__).parent


@cache
def environment() -> Environment:
    """One Jinja environment for build and browser: escaping on, undefined names are errors."""
    return Environment(
        loader=FileSystemLoader(_HERE, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def _folder(module: ModuleType) -> str:
    return module.__name__.split(".")[1]


def frame(module: ModuleType, query: str, element_id: str) -> str:
    state = parse(module.FIELDS, query)
    template = environment().get_template(f"{_folder(module)}/template.html")
    return template.render(id=element_id, state=state, **module.view(state))


def key(module: ModuleType, query: str) -> str:
    """The key under which the frame of ``query`` is kept."""
    return parse(module.FIELDS, query).full_query()


def element(
    module: ModuleType,
    query: str,
    element_id: str,
    runtime: str,
    frames_src: str,
) -> str:
    """The custom element as it stands in a page: first frame, tools, and the last frame for
    readers without JavaScript. ``runtime`` is the path of the boot manifest, ``frames_src``
    that of the prerendered frames, both relative to the page."""
    state: State = parse(module.FIELDS, query)
    template = environment().get_template("element.html")
    return template.render(
        name=_folder(module),
        id=element_id,
        label=module.LABEL,
        runtime=runtime,
        frames_src=frames_src,
        first=frame(module, query, element_id),
        last=frame(module, module.last(state), f"{element_id}-last"),
    )
