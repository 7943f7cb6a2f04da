"""In place of Jinja's syntax trees, of which a compiled template wants one thing."""

from __future__ import annotations

from typing import Any


class EvalContext:
    """Whether the template escapes what it prints; ``environment`` may leave that to its name."""

    volatile = False

    def __init__(self, environment: Any, template_name: str | None = None) -> None:
        escapes = environment.autoescape
        self.environment = environment
        self.autoescape = escapes(template_name) if callable(escapes) else escapes


class Template:
    pass
