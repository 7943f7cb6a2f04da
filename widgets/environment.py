"""The Jinja environment that the build and the browser share."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

_INDEX = re.compile(r"_(\w+)")


def math(formula: str) -> Markup:
    """A formula as HTML: what stands behind an underscore is set as an index."""
    return Markup(_INDEX.sub(r"<sub>\1</sub>", str(escape(formula))))


@cache
def environment() -> Environment:
    """Escaping on, undefined names are errors, templates beside the code."""
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent, encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["math"] = math
    return made
