"""Model: a name, a config and the inventory counted from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from py_core import data, models
from py_core.configs import Fields, parse_config
from py_core.errors import Accepted, ConfigError, UnknownName
from py_core.inventory import Inventory

ANCHOR = "qwen3.8-27b"
STATED = "parameters_only"  # the key of a config that states counts and nothing else
UNNAMED = "你的模型"  # that of a reader, who has not said what it is called
_ANCHOR_FILE = "anchor-model.json"
_MOST = 10**15  # parameters; models of today have a few times 10**12


@dataclass(frozen=True, slots=True)
class Counts:
    """Parameters: all of them, those that are trained, and those of the largest single tensor,
    None where nobody said."""

    total: int
    trained: int
    largest: int | None


class NoInventory(ConfigError):
    """Asked for the tensors of a model of which only the counts are known."""

    def __init__(self, name: str) -> None:
        super().__init__("model", name, Accepted("a model with a config.json", "有配置的模型"))

    @property
    def chinese(self) -> str:
        return "只填了参数个数，没有一个个张量，这个数算不出来"


@dataclass(frozen=True)
class Model:
    """``slug`` names it in links; two models with one slug are the same model."""

    slug: str
    name: str = field(compare=False)
    config: dict[str, Any] = field(compare=False, repr=False)
    file: str = field(compare=False, default="")  # data file it came from, for provenance

    @cached_property
    def inventory(self) -> Inventory:
        """Its tensors, counted. Raises ConfigError where the config cannot be counted, and
        :class:`NoInventory` where it does not say what there is to count."""
        if self.stated:
            raise NoInventory(self.name)
        return models.inventory(self.config, self.name)

    @property
    def stated(self) -> bool:
        """Whether its counts are all that is known of it."""
        return STATED in self.config

    @cached_property
    def counts(self) -> Counts:
        """What is known of every model. Raises ConfigError."""
        if self.stated:
            return _stated(Fields(self.config).section(STATED))
        counted = self.inventory
        return Counts(counted.total, counted.total, counted.largest.numel)


def _stated(fields: Fields) -> Counts:
    total = fields.integer("total", high=_MOST)
    return Counts(
        total,
        fields.integer("trained", default=total, high=total),
        fields.integer("largest_tensor", default=None, high=total),
    )


class _Published(Model):
    """One that comes with the project. Its file is read when something in it is asked for, so
    that a broken file is the error of whoever needs it, and not of every import.

    Its errors name the file.
    """

    def __init__(self, slug: str) -> None:
        object.__setattr__(self, "slug", slug)
        file = _ANCHOR_FILE if slug == ANCHOR else f"models/{slug}.json"
        object.__setattr__(self, "file", file)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return data.parsed(self.file)

    @cached_property
    def name(self) -> str:
        content = self._content
        with self._in_its_file():
            return Fields(content).text("name")

    @cached_property
    def config(self) -> dict[str, Any]:
        content = self._content
        with self._in_its_file():
            Fields(content).section("config")  # or it raises
        found: dict[str, Any] = content["config"]
        return found

    @cached_property
    def inventory(self) -> Inventory:
        name, config = self.name, self.config
        with self._in_its_file("/config"):
            return models.inventory(config, name)

    @contextmanager
    def _in_its_file(self, section: str = "") -> Iterator[None]:
        try:
            yield
        except ConfigError as error:
            raise data.within(data.published(self.file), error, section) from None


@cache
def published_model(slug: str) -> Model:
    """A model that comes with the project, its file still unread.

    Raises :class:`UnknownName` with the nearest slugs.
    """
    if slug != ANCHOR and slug not in data.model_slugs():
        raise UnknownName("model", slug, (ANCHOR, *data.model_slugs()))
    return _Published(slug)


_held: dict[str, Model] = {}


def hold(model: Model) -> None:
    """From now on ``load_model`` knows a reader's own model by its slug."""
    _held[model.slug] = model


def load_model(slug: str) -> Model:
    """A model that comes with the project, or one that is held. Raises :class:`UnknownName`
    with the nearest slugs, and :class:`ConfigError` where its file cannot be read."""
    if slug in _held:
        return _held[slug]
    model = published_model(slug)
    _ = model.name, model.config
    return model


def own_model(content: bytes, file: str = "") -> Model:
    """A reader's own model: a ``config.json``, or one inside ``{"name", "config"}``; or
    ``{"parameters_only": {"total", "trained", "largest_tensor"}}``, of which the last two may
    be left out, for one that cannot be counted here.

    Counted at once, so that a bad config is found here; raises ConfigError.
    """
    config, base, name = parse_config(content), "", None
    if "model_type" not in config and isinstance(config.get("config"), dict):
        name = Fields(config).text("name", default=None)
        config, base = config["config"], "/config"
    try:
        if STATED in config:
            name = name or UNNAMED
            _stated(Fields(config).section(STATED))
        else:
            name = models.inventory(config, name).name
    except ConfigError as error:
        raise ConfigError(base + error.field, error.value, error.accepted) from None
    # Two models with one slug are one model, so different contents need different slugs.
    from hashlib import sha256

    return Model(f"own-{sha256(content).hexdigest()[:12]}", name, config, file)
