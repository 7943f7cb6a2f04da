"""In place of Pyodide's docstrings for what it adds to JavaScript objects: nobody reads them
here, and they take ``inspect`` through forty signatures."""

from collections.abc import Callable
from typing import Any


def get_cmeth_docstring(method: Callable[..., Any]) -> str:
    return f"{method.__name__}()\n--\n\n"
