"""The field that chooses a model, for every widget that has one."""

from __future__ import annotations

import json
import re
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from py_core.data import model_slugs
from py_core.errors import Accepted, ConfigError, some_of
from py_core.model import ANCHOR, STATED, UNNAMED, hold, load_model, own_model
from widgets.state import Choice, Values

MOST_PACKED = 6_000  # characters of a config in a link; chat programs cut longer ones
MOST_BYTES = 200_000  # of a config that comes out of a link
FIRST_MODELS = (ANCHOR, "qwen3-8b", "deepseek-v3", "llama-3.1-405b")


# What a reader may say of a model that cannot be counted here; and how large numbers are written.
COUNTS = {"total": "参数总数", "trained": "要训练的", "largest_tensor": "最大的一个张量"}
_SCALES = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12, "万": 4, "亿": 8, "万亿": 12}
_COUNT = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?) ?(万亿|[KMBT万亿]?)", re.IGNORECASE)
_A_COUNT = Accepted(
    "a count such as 7,241,732,096 or 7.2B", "个数，比如 7,241,732,096、7.2B、72 亿"
)


@dataclass(frozen=True, slots=True)
class Model(Choice):
    """A model by its slug: too many to list them all in a notice. ``counted``: whether its
    tensors have to be known."""

    counted: bool = False

    def accepted(self, _values: Values) -> Accepted:
        if self.counted and len(self.options) < len(_options()):
            return Accepted(
                "a model with a config.json", "有 config.json 的模型（只有参数个数，排不出分桶）"
            )
        return some_of(self.options)

    def shown(self, value: str | int) -> str:
        return _options().get(str(value), str(value))


@cache
def _published() -> dict[str, str]:
    """The lesson's model first, then three that it speaks of, then all others."""
    first = {slug: load_model(slug).name for slug in FIRST_MODELS}
    first[ANCHOR] += "（这一课的例子）"
    others = {slug: slug for slug in model_slugs() if slug not in first}
    return first | others


@cache
def _options() -> dict[str, str]:
    """Those to choose from, a reader's own among them."""
    return dict(_published())


@cache
def _counted() -> dict[str, str]:
    """Those of them whose tensors are known."""
    return dict(_published())


def model_field(*, counted: bool = False) -> Model:
    """One field for all widgets: a model that a reader brings can be chosen in each, except
    where it has to be ``counted`` and cannot be."""
    return Model("model", "模型", ANCHOR, _counted() if counted else _options(), counted=counted)


def bring(text: str) -> dict[str, Any]:
    """Take a reader's config.json: its ``slug``, ``name`` and ``total``, and the config
    ``packed`` for a link, empty where it would be too long. Raises ConfigError."""
    read = own_model(text.encode())
    both = {"name": read.name, "config": read.config}
    whole = json.dumps(both, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    model = own_model(whole.encode())  # one slug however it was spelled
    hold(model)
    for options in (_options(), *([] if model.stated else [_counted()])):
        options[model.slug] = model.name if model.name == UNNAMED else f"{model.name}（你的）"
    packed = urlsafe_b64encode(zlib.compress(whole.encode(), 9)).decode().rstrip("=")
    return {
        "slug": model.slug,
        "name": model.name,
        "total": f"{model.counts.total:,}",
        "packed": packed if len(packed) <= MOST_PACKED else "",
    }


def stated(typed: Mapping[str, str]) -> str:
    """The config of a model of which a reader knows only :data:`COUNTS`, typed in words or
    digits; what is left empty is left out. Raises ConfigError."""
    return json.dumps({STATED: {key: _count(key, typed[key]) for key in COUNTS if typed[key]}})


def _count(key: str, text: str) -> int:
    plain = _COUNT.fullmatch(text.strip().replace(",", ""))
    exact = Fraction(plain[1]) * 10 ** _SCALES[plain[2].upper()] if plain else Fraction(0)
    if not exact or exact.denominator != 1:
        raise ConfigError(key, text, _A_COUNT)
    return exact.numerator


def misstated(error: ConfigError) -> str:
    """What is wrong with what was typed for :func:`stated`."""
    label = COUNTS.get(error.field.rsplit("/", 1)[-1], COUNTS["total"])
    return f"「{label}」{error.wanted}"


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
