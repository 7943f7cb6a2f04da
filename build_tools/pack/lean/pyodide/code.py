"""Of Pyodide's ``pyodide.code`` what runs code, without what wraps functions by ``inspect``."""

from _pyodide._base import (  # type: ignore[import-not-found]
    CodeRunner,
    eval_code,
    eval_code_async,
    find_imports,
    should_quiet,
)

__all__ = ["CodeRunner", "eval_code", "eval_code_async", "find_imports", "should_quiet"]
