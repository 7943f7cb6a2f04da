"""The field that chooses a model, for every widget that has one."""

from __future__ import annotations

from py_core.data import model_slugs
from py_core.errors import Accepted, some_of
from py_core.model import ANCHOR, load_model
from widgets.state import Choice, Values

FIRST_MODELS = (ANCHOR, "qwen3-8b", "deepseek-v3", "llama-3.1-405b")


class Model(Choice):
    """A model by its slug: too many to list them all in a notice."""

    __slots__ = ()

    def accepted(self, _values: Values) -> Accepted:
        return some_of(self.options)


def model_field() -> Model:
    """The lesson's model first, then three that it speaks of, then all others."""
    first = {slug: load_model(slug).name for slug in FIRST_MODELS}
    first[ANCHOR] += "（这一课的例子）"
    others = {slug: slug for slug in model_slugs() if slug not in first}
    return Model("model", "模型", ANCHOR, first | others)
