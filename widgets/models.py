"""The field that chooses a model, for every widget that has one."""

from __future__ import annotations

import json
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import cache
from typing import Any

from py_core.data import model_slugs
from py_core.errors import Accepted, ConfigError, some_of
from py_core.model import ANCHOR, hold, load_model, own_model
from widgets.state import Choice, Values

MOST_PACKED = 6_000  # characters of a config in a link; chat programs cut longer ones
MOST_BYTES = 200_000  # of a config that comes out of a link
FIRST_MODELS = (ANCHOR, "qwen3-8b", "deepseek-v3", "llama-3.1-405b")


class Model(Choice):
    """A model by its slug: too many to list them all in a notice."""

    __slots__ = ()

    def accepted(self, _values: Values) -> Accepted:
        return some_of(self.options)


@cache
def _options() -> dict[str, str]:
    """The lesson's model first, then three that it speaks of, then all others."""
    first = {slug: load_model(slug).name for slug in FIRST_MODELS}
    first[ANCHOR] += "（这一课的例子）"
    others = {slug: slug for slug in model_slugs() if slug not in first}
    return first | others


def model_field() -> Model:
    """One field for all widgets: a model that a reader brings can be chosen in each."""
    return Model("model", "模型", ANCHOR, _options())


def bring(text: str) -> dict[str, Any]:
    """Take a reader's config.json: its ``slug``, ``name`` and ``total``, and the config
    ``packed`` for a link, empty where it would be too long. Raises ConfigError."""
    read = own_model(text.encode())
    both = {"name": read.name, "config": read.config}
    whole = json.dumps(both, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    model = own_model(whole.encode())  # one slug however it was spelled
    hold(model)
    _options()[model.slug] = f"{model.name}（你的）"
    packed = urlsafe_b64encode(zlib.compress(whole.encode(), 9)).decode().rstrip("=")
    return {
        "slug": model.slug,
        "name": model.name,
        "total": f"{model.inventory.total:,}",
        "packed": packed if len(packed) <= MOST_PACKED else "",
    }


def said(error: ConfigError, text: str) -> str:
    """What is wrong with a pasted config, and in which of its lines."""
    if syntax := re.match(r"line (\d+) column (\d+)", str(error.value)):
        return f"第 {syntax[1]} 行第 {syntax[2]} 列：从这里起不是合法的 JSON"
    key = re.escape(error.field.rsplit("/", 1)[-1])
    at = re.search(rf'"{key}"\s*:', text) if key else None
    where = "第 {} 行：".format(text.count("\n", 0, at.start()) + 1) if at else ""
    return where + error.chinese


def unpacked(packed: str) -> str:
    """The config that a link carries. Raises ConfigError for anything else."""
    try:
        if len(packed) > MOST_PACKED:
            raise ValueError
        ripe = zlib.decompressobj()
        raw = ripe.decompress(urlsafe_b64decode(packed + "=" * (-len(packed) % 4)), MOST_BYTES)
        if not ripe.eof:
            raise ValueError
        return raw.decode()
    except (ValueError, zlib.error):
        accepted = Accepted("a config as our own links carry it", "这个网站自己的链接里带的配置")
        raise ConfigError("config", packed, accepted) from None
