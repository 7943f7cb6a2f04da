"""The committed data files: model configs, paper facts.

In a checkout they live in ``docs/data`` (published with the site); in the wheel that
the browser runs they travel inside the package as ``py_core/data``.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from py_core.configs import ROOT, parse_config
from py_core.errors import Accepted, ConfigError

_HERE = Path(__file__).parent


@cache
def folder() -> Path:
    packed = _HERE / "data"
    return packed if packed.is_dir() else _HERE.parent / "docs" / "data"


@cache
def read(name: str) -> str:
    """The text of data file ``name``, for example ``models/qwen3-8b.json``."""
    return (folder() / name).read_text(encoding="utf-8")


def parsed(name: str) -> dict[str, Any]:
    """The object in data file ``name``. Raises :class:`ConfigError`, which names the file."""
    try:
        return parse_config((folder() / name).read_bytes())
    except OSError as error:
        accepted = Accepted("a file that can be read", "能读的文件")
        raise ConfigError(published(name), error.strerror, accepted) from None
    except ConfigError as error:
        raise within(published(name), error) from None


def published(name: str) -> str:
    """Where data file ``name`` lies in the repository, as an error calls it."""
    return f"docs/data/{name}"


def within(file: str, error: ConfigError, section: str = "") -> ConfigError:
    """The same error with its file before the pointer: ``docs/data/x.json: /config/n_layer``.

    ``section`` is the pointer to what the error calls the root.
    """
    inside = section + error.field.removesuffix(ROOT)
    return ConfigError(f"{file}: {inside or ROOT}", error.value, error.accepted)


@cache
def model_slugs() -> tuple[str, ...]:
    """The models that come with the project, by file name."""
    return tuple(sorted(p.stem for p in (folder() / "models").glob("*.json")))
