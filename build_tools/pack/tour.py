"""A tour of all that readers' Python does, to be run in Pyodide: every widget, every error path.

It answers with what it has imported of the standard library by then, and with what was asked for
and not there. ``library.py`` keeps what it says; a test takes the tour again with no more than
that, so whatever a new widget or check needs is either kept or missed aloud. It is JSON in the
end, as all that ``node.run`` runs.
"""

# ruff: noqa: E402 - imports stand where they are needed
# mypy: ignore-errors
import json
import sys

missing: set[str] = set()


def attempt(work, *arguments):
    """Do something that may fail; an error is told with all that a traceback can tell."""
    import traceback

    try:
        return work(*arguments)
    except BaseException as error:
        str.join("", [traceback.format_exc(), repr(error), str(error)])
        traceback.TracebackException.from_exception(error, capture_locals=True)
        named = error
        while named:
            if isinstance(named, ModuleNotFoundError):
                missing.add(str(named.name))
            named = named.__cause__ or named.__context__
        return None


# -- whatever our code names anywhere, at the top of a module or deep in a function ------------

import dis
import importlib
import marshal
from pathlib import Path

SITE = Path(importlib.util.find_spec("py_core").origin).parent.parent


def codes(code):
    yield code
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            yield from codes(constant)


def imported(module):
    """What the compiled ``module`` imports by its full name."""
    for code in codes(marshal.loads(module.read_bytes()[16:])):
        constants = []
        for step in dis.get_instructions(code):
            if step.opname == "LOAD_CONST":
                constants.append(step.argval)
            elif step.opname == "IMPORT_NAME" and constants[-2] == 0:  # the level, then the names
                yield step.argval


# -- every widget, every state it can be found in ----------------------------------------------

import lesson_start  # noqa: F401, I001 - as the worker does, before all else
import widgets

BAD = (
    "n=abc",
    "n=-3&step=99",
    "bogus=1",
    "model=no-such",
    "%ff%fe=%",
    "tokens=1e999",
    "a=b;c=&&==",
)


def ask(**request):
    return attempt(widgets.answer, json.dumps(request))


def visit(name):
    from widgets.state import parse
    from widgets.tasks import tasks_of

    module = widgets.widget(name)
    queries = ["", *module.walk(), *BAD]
    queries += [task.start for task in tasks_of(module).values()]
    queries += [query for _, query in module.still(parse(module.FIELDS, ""))]
    for field in module.FIELDS:
        queries += [f"{field.name}={value}" for value in [*getattr(field, "options", ())][:8]]
        queries += [f"{field.name}={value}" for value in ("", "0", "1", "3.5", "１２", "🙂")]
    for query in dict.fromkeys(queries):
        ask(widget=name, query=f"{query}&was=", id=f"{name}-2", base="../")
    for what in (*getattr(module, "EXPORTS", {}), "no-such-file"):
        ask(widget=name, query="", export=what)


# -- every figure, claim, model, and every way a config can be wrong --------------------------

import py_core
from py_core.claims import claims
from py_core.data import model_slugs

CONFIGS = (
    "", "[]", "{", "null", "1e400", '"\\ud800"', '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 50_000,
    '{"model_type": "no-such"}', '{"model_type": "llama"}',
    '{"model_type": "llama", "hidden_size": 3.5}',
    '{"model_type": "llama", "hidden_size": ' + "9" * 5_000 + "}", "\ufeff{}", "é\x00",
)  # fmt: skip


def figures():
    attempt(py_core.parse_scenario, "cards=x&model=y")
    for name in [*py_core.names(), "no.such"]:
        attempt(lambda n=name: py_core.evaluate(n).record())
    for claim in claims():
        attempt(lambda c=claim: py_core.judge(c.name).record())


# -- the errors that Python itself can give ----------------------------------------------------


def deep(n=0):
    return deep(n + 1)


def several():
    try:
        try:
            {}["key"]
        except KeyError as error:
            error.add_note("注")
            raise ValueError("值") from error
    except ValueError as error:
        raise ExceptionGroup("两个", [error, OSError(2, "no"), UnicodeError("x")]) from None


def warn():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.warn("慢", DeprecationWarning, stacklevel=1)


BROKEN = (
    "1 / 0", "'a'.b", "lenght", "import no_such_module", "from json import dumbs", "int('x')",
    "def f(:", "'\\ud800'.encode()", "b'\\xff'.decode()", "bytes(3).decode('no-such')", "[][1]",
    "raise SystemExit(1)", "raise KeyboardInterrupt", "open('/no/such')", "'%d' % 'x'", "f(**1)",
    "__import__('decimal').Decimal('x')", "__import__('fractions').Fraction(1, 0)",
    "'{:q}'.format(1)", "10 ** 5000 and str(10 ** 5000)", "bytearray(1 << 40)", "next(iter(()))",
    "assert False, '不对'", "sorted([1, 'a'])", "[].appendd",
)  # fmt: skip


def python():
    import decimal
    from fractions import Fraction

    from pyodide.code import eval_code

    for code in BROKEN:
        attempt(eval_code, code)
        attempt(eval, compile(code, "<tour>", "exec") if code != "def f(:" else "1 +")
    for work in (deep, several, warn):
        attempt(work)
    with decimal.localcontext(prec=50):
        attempt(lambda: decimal.Decimal(1) / decimal.Decimal(0))
        assert f"{decimal.Decimal(2).sqrt():.3f}" == "1.414"
    assert f"{Fraction(1, 3):.2f}" == "0.33"
    assert f"{1234.5:,.1f} {10**9:_}" == "1,234.5 1_000_000_000"
    attempt(sys.excepthook, *_caught())
    attempt(sys.unraisablehook, type("Told", (), dict.fromkeys(
        ("exc_type", "exc_value", "exc_traceback", "err_msg", "object"))))  # fmt: skip


def _caught():
    try:
        several()
    except ExceptionGroup:
        return sys.exc_info()


def templates():
    """Jinja2's own errors; templates come compiled, so there is none in their text."""
    from widgets.environment import environment

    attempt(environment().get_template, "no-such.html")
    attempt(environment().get_template("ring/template.html").render)  # all it needs is undefined


if __name__ == "__main__":
    modules = [file for name in ("py_core", "widgets") for file in (SITE / name).rglob("*.pyc")]
    named = {name for module in modules for name in imported(module)}
    assert {"json", "dataclasses", "py_core.quantity"} < named
    for name in sorted(named):
        attempt(importlib.import_module, name)
    for name in widgets.NAMES:
        visit(name)
    for config in CONFIGS:
        ask(config=config)
    for slug in model_slugs()[::6]:
        ask(config=(SITE / f"py_core/data/models/{slug}.json").read_text(encoding="utf-8"))
    for packed in ("", "eJx", "no config"):
        ask(packed=packed)
    for size in (1, 10**9):
        ask(size=size)
    page = {
        "figures": [[name, "cards=8", "", ""] for name in py_core.names()],
        "claims": [[claim.name, ""] for claim in claims()],
    }
    for query in ("model=deepseek-v3", *BAD):
        ask(page=page, query=query)
    ask(widget="no-such", query="", id="x")
    attempt(widgets.answer, "no JSON")
    figures()
    python()
    templates()

ZIP = ".zip/"
modules = [getattr(module, "__spec__", None) for module in sys.modules.values()]
origins = [str(getattr(spec, "origin", None)) for spec in modules]
asked_for = ("no_such_module", "no-such", "_jinja2_module")  # by the tour itself
json.dumps({
    "seen": sorted({o.partition(ZIP)[2].removesuffix("c") for o in origins if ZIP in o}),
    "missing": sorted(name for name in missing if not name.startswith(asked_for)),
})  # fmt: skip
