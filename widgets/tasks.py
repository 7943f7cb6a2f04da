"""Things to try with a widget: where each begins, and in which state it has been seen.

Their words are an author's, in Markdown (``{{ task("ring.naive") }}``); what counts as seen is
decided here, so that the tick is as true as the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType

from widgets.state import State


@dataclass(frozen=True, slots=True)
class Task:
    """``start``: the query at which it begins; ``seen``: whether a state shows its point;
    ``at``: the control to begin with, its id without the element's."""

    start: str
    seen: Callable[[State], bool]
    at: str = ""


def tasks_of(module: ModuleType) -> Mapping[str, Task]:
    """The widget's tasks by name, in the order in which they are meant; a widget may have none."""
    tasks: Mapping[str, Task] = getattr(module, "TASKS", {})
    return tasks


def reached(module: ModuleType, state: State) -> str:
    """The names of the tasks that ``state`` fulfils, for the frame's ``data-reached``."""
    return " ".join(name for name, task in tasks_of(module).items() if task.seen(state))
