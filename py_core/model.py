"""Model: a name, a config and the inventory counted from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from typing import Any

from py_core import data, models
from py_core.configs import Fields, parse_config
from py_core.errors import ConfigError, UnknownName
from py_core.inventory import Inventory

ANCHOR = "qwen3.8-27b"
_ANCHOR_FILE = "anchor-model.json"


@dataclass(frozen=True)
class Model:
    """``slug`` names it in links; two models with one slug are the same model."""

    slug: str
    name: str = field(compare=False)
    config: dict[str, Any] = field(compare=False, repr=False)
    file: str = field(compare=False, default="")  # data file it came from, for provenance

    @cached_property
    def inventory(self) -> Inventory:
        """Its tensors, counted. Raises ConfigError where the config cannot be counted."""
        return models.inventory(self.config, self.name)


@cache
def load_model(slug: str) -> Model:
    """A model that comes with the project. Raises :class:`UnknownName` with the nearest slugs."""
    file = _ANCHOR_FILE if slug == ANCHOR else f"models/{slug}.json"
    if slug != ANCHOR and slug not in data.model_slugs():
        raise UnknownName("model", slug, (ANCHOR, *data.model_slugs()))
    published = parse_config(data.read(file))
    return Model(slug, str(published["name"]), published["config"], file)


def own_model(content: bytes, file: str = "") -> Model:
    """A reader's own model: a ``config.json``, or one inside ``{"name", "config"}``.

    Counted at once, so that a bad config is found here; raises ConfigError.
    """
    config, base, name = parse_config(content), "", None
    if "model_type" not in config and isinstance(config.get("config"), dict):
        name = Fields(config).text("name", default=None)
        config, base = config["config"], "/config"
    try:
        name = models.inventory(config, name).name
    except ConfigError as error:
        raise ConfigError(base + error.field, error.value, error.accepted) from None
    # Two models with one slug are one model, so different contents need different slugs.
    return Model(f"own-{sha256(content).hexdigest()[:12]}", name, config, file)
