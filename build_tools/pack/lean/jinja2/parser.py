"""In place of Jinja's parser: templates come compiled."""

from typing import Any


class Parser:
    def __init__(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("templates come compiled into the pack, see archives.py")
