"""What is true on the site: models counted, collectives executed, figures derived.

The public surface. Standard library only; the same code runs at build time and in the
reader's browser.
"""

from py_core.claims import Verdict, judge
from py_core.errors import (
    ConfigError,
    LessonError,
    ScenarioError,
    ScheduleError,
    UnitError,
    UnknownName,
)
from py_core.executor import Ledger, Run, run
from py_core.model import Model, load_model, own_model
from py_core.quantity import Quantity, evaluate, names
from py_core.scenario import Scenario, parse_scenario
from py_core.schedules import SCHEMES, Schedule, Step, Transfer, schedule

__all__ = [
    "SCHEMES",
    "ConfigError",
    "Ledger",
    "LessonError",
    "Model",
    "Quantity",
    "Run",
    "Scenario",
    "ScenarioError",
    "Schedule",
    "ScheduleError",
    "Step",
    "Transfer",
    "UnitError",
    "UnknownName",
    "Verdict",
    "evaluate",
    "judge",
    "load_model",
    "names",
    "own_model",
    "parse_scenario",
    "run",
    "schedule",
]
