"""In place of Pyodide's types for JavaScript functions: none is called from Python here.

Its C code wants these names when it starts. The signature is what Pyodide makes of
``def f(*args, **kwargs)``.
"""

from typing import Any

from _pyodide_core import (  # type: ignore[import-not-found]
    JsFuncSignature,
    js2py_as_py_json,
    js2py_deep,
    js2py_default_call_result,
    py2js_as_js_json,
    py2js_deep,
    py2js_default,
)

no_default = object()


class Json:
    py2js = py2js_as_js_json
    js2py = js2py_as_py_json


class Deep:
    py2js = py2js_deep
    js2py = js2py_deep


class Default:
    pass


class BindClass:
    pass


def func_to_sig(*_: Any) -> Any:
    raise NotImplementedError("JavaScript functions have no types in this Pyodide")


get_attr_sig = bind_class_sig = func_to_sig


def _any(*args: Any, **kwargs: Any) -> None:
    pass


default_signature = JsFuncSignature(
    _any, False, 0, (), (), py2js_default, (), (), (), py2js_default, js2py_default_call_result
)
