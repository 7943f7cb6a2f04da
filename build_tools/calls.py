"""Calls in Markdown: ``name("literal", option=1)``, read and never run."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import Any

from py_core.errors import LessonError, whole

EXAMPLE = 'a call such as q("ring.sent_per_card", cards=8)'


@dataclass(frozen=True, slots=True)
class Call:
    """``name(*args, **options)`` with literal arguments only."""

    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def one_name(self, what: str) -> str:
        """Its only argument, a name. Raises LessonError for anything else."""
        if len(self.args) != 1 or not isinstance(self.args[0], str):
            raise LessonError(self.name, self.args, f"the name of one {what}, then options")
        return self.args[0]

    def text_option(self, name: str) -> str | None:
        """Option ``name``, a text; None if it is not given."""
        value = self.options.get(name)
        if value is not None and not isinstance(value, str):
            raise LessonError(f"{self.name}: {name}", value, 'a text: "…"')
        return value

    def whole_option(self, name: str, low: int, high: int) -> int | None:
        """Option ``name``, a whole number from ``low`` to ``high``; None if it is not given."""
        value = self.options.get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise LessonError(f"{self.name}: {name}", value, whole(low, high))
        return value

    def nothing_but(self, *known: str) -> None:
        """Raise LessonError for an option that is not among ``known``."""
        for name in self.options:
            if name not in known:
                accepted = "options " + ", ".join(known) if known else "no options"
                raise LessonError(f"{self.name}: option", name, accepted)


def parse_call(text: str) -> Call:
    """Read one call. Raises :class:`LessonError` for anything else."""
    try:
        node = ast.parse(text, mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise LessonError("expression", text, EXAMPLE)
        if any(k.arg is None for k in node.keywords):  # ``**more``
            raise LessonError("expression", text, EXAMPLE)
        args = tuple(ast.literal_eval(a) for a in node.args)
        options = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
        if len(options) != len(node.keywords):
            raise LessonError("expression", text, "each option once")
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        # Such as {[]: 1}, which no dict can hold, or more brackets than Python can nest.
        if isinstance(error, LessonError):
            raise
        curly = " (with straight quotes)" if re.search("[“”‘’＂]", text) else ""
        raise LessonError("expression", text, EXAMPLE + curly) from error
    return Call(node.func.id, args, options)
