"""The Jinja environment that the build and the browser share."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, ModuleLoader, StrictUndefined
from markupsafe import Markup, escape

_INDEX = re.compile(r"_(\w+)")


def math(formula: str) -> Markup:
    """A formula as HTML: what stands behind an underscore is set as an index."""
    return Markup(_INDEX.sub(r"<sub>\1</sub>", str(escape(formula))))


@cache
def environment() -> Environment:
    """Escaping on, undefined names are errors, templates beside the code; in the browser's wheel
    they have been compiled when it was built."""
    here = Path(__file__).parent
    compiled = here / "compiled"
    made = Environment(
        loader=ModuleLoader(compiled) if compiled.is_dir() else FileSystemLoader(here),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["math"] = math
    return made
