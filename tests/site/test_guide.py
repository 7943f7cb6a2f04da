"""The authors' guide: what it shows is what happens."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import jinja2
import pytest
from markdown import Markdown

from build_tools import lint
from build_tools.problems import find
from build_tools.prose import LessonExtension, Page
from build_tools.source import Source
from py_core import claims, quantity
from py_core.claims import judge
from py_core.facts import fact
from py_core.quantity import evaluate
from py_core.scenario import DEFAULT
from tests.conftest import ROOT
from tests.site.project import copied, lesson
from widgets import environment, frame

TEXT = (ROOT / "docs/authors/index.md").read_text(encoding="utf-8")
_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```\n", re.M | re.S)
FENCES = [m.groups() for m in _FENCE.finditer(TEXT)]
LIVE = _FENCE.sub("", TEXT)
PAIRS = re.findall(r"^```markdown\n([^`]*?)^```\n\n```text\n(.*?)^```\n", TEXT, re.M | re.S)
WRONG = [example for example, _ in PAIRS]
RIGHT = [code for kind, _, code in FENCES if kind == "markdown" and code not in WRONG]


def titled(title: str) -> str:
    (code,) = (code for _, name, code in FENCES if name == title)
    return code


def problems(text: str) -> list[str]:
    extension = LessonExtension()
    extension.page = Page(path="page.md")
    Markdown(extensions=["tables", "attr_list", "md_in_html", extension]).convert(text)
    return [f"docs/{extension.page.path}:{f}" for f in find(extension.page, Source(text))]


def test_there_are_examples_of_everything() -> None:
    everything = "".join(RIGHT)
    for call in (
        'q("',
        "cards=",
        "unit=",
        "digits=",
        'fact("',
        'cite("',
        'lit("',
        'widget("',
        'term("',
        'task("',
    ):
        assert call in everything
    assert "{% claim" in everything
    assert "<figcaption markdown>" in everything
    assert len(PAIRS) == 2


@pytest.mark.parametrize("example", RIGHT)
def test_examples_work_and_stand_live_beside_their_source(example: str) -> None:
    cited = "\n{{ references() }}\n" if re.search(r"(cite|fact)\(", example) else ""
    assert problems(example + cited) == []
    assert lint.check(Source(example)) == []
    assert f"\n{example}" in LIVE


@pytest.mark.parametrize(("example", "said"), PAIRS)
def test_mistakes_are_told_as_the_guide_says(example: str, said: str) -> None:
    assert problems(example) == said.splitlines()


def test_the_guide_passes_its_own_linter() -> None:
    assert lint.check(Source(TEXT)) == []


def test_it_names_every_rule_of_the_linter() -> None:
    names = [v for k, v in vars(lint).items() if k.isupper() and isinstance(v, str) and v.islower()]
    rules = {name for name in names if re.fullmatch(r"[a-z-]+", name)}
    assert rules <= set(re.findall(r"^\| `([a-z-]+)` \|", TEXT, re.M))


def test_the_quantity_it_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate("cards")  # all others are declared by now
    monkeypatch.setattr(quantity, "_DECLARED", dict(quantity._DECLARED))
    exec(titled("py_core/quantities/allreduce.py"), {"__name__": "guide"})
    added = quantity.At(DEFAULT).quantity("ring.saved_by_half")
    assert added.value * 2 == evaluate("ring.sent_per_card").value
    assert added.display() == "48.6 GB"


def test_the_claim_it_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    judge("comm_exceeds_backward")
    monkeypatch.setattr(claims, "_DECLARED", dict(claims._DECLARED))
    exec(titled("py_core/statements/allreduce.py"), {"__name__": "guide"})
    assert judge("ring_beats_naive").holds
    two = judge("ring_beats_naive", DEFAULT.with_fields({"cards": 2}))
    assert not two.holds
    assert two.instead.startswith("2 张卡时")


def test_the_fact_it_adds_is_one_of_ours() -> None:
    (code,) = (code for kind, _, code in FENCES if kind == "json")
    ((name, entry),) = json.loads(code).items()
    ours = json.loads((ROOT / "docs/data/facts.json").read_text(encoding="utf-8"))["facts"][name]
    assert entry == {k: v for k, v in ours.items() if k != "note"}
    assert fact(name).quotable


def test_the_widget_it_adds(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("widgets.traffic.widget")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(titled("widgets/traffic/widget.py"), vars(module))
    ours = environment.environment()
    template = {"traffic/template.html": titled("widgets/traffic/template.html")}
    both = jinja2.ChoiceLoader([jinja2.DictLoader(template), ours.loader])
    monkeypatch.setattr(ours, "loader", both)
    monkeypatch.setattr(ours, "cache", None)
    assert next(frame.key(module, query) for query in module.walk()) == "n=2"
    html = frame.element(module, "n=4", "traffic", "../", "python.json", "frames.js")
    assert evaluate("ring.sent_per_card", DEFAULT.with_fields({"cards": 4})).display() in html
    assert 'id="traffic-n"' in html
    assert evaluate("ring.sent_per_card", DEFAULT.with_fields({"cards": 16})).display() in html
    assert "2 到 16 之间的整数" in frame.frame(module, "n=99", "traffic", "")


def test_every_command_it_names_works(tmp_path: Path) -> None:
    project = copied(tmp_path)
    lines = [line for kind, _, code in FENCES if kind == "sh" for line in code.splitlines()]
    commands = [line for line in lines if line.startswith("lesson ")]
    assert len(commands) >= 6
    for line in commands:
        command, _, target = line.partition(" > ")
        done = lesson(project, *shlex.split(command)[1:])
        assert done.returncode == 0, done.stderr
        if target:
            (project / target).write_text(done.stdout, encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"make ([a-z]+)", TEXT):
        assert re.search(rf"^{target}:", makefile, re.M)


def test_it_lists_every_command() -> None:
    from typer.main import get_command

    from build_tools.cli import app

    assert set(re.findall(r"^\| `lesson ([a-z]+)", TEXT, re.M)) == set(get_command(app).commands)


def test_it_names_every_field_of_numbers_json() -> None:
    schema = json.loads((ROOT / "build_tools/numbers.schema.json").read_text(encoding="utf-8"))
    named = set(re.findall(r"`([a-z_]+)`", TEXT))
    assert schema["properties"].keys() <= named
    assert schema["$defs"]["figure"]["properties"].keys() <= named


def test_readers_do_not_stumble_on_it(site: Path) -> None:
    html = (site / "authors/index.html").read_text(encoding="utf-8")
    assert '<meta name="robots" content="noindex">' in html
    home = (site / "index.html").read_text(encoding="utf-8")
    assert "authors/" not in home
