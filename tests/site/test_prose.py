"""Figures and widgets in Markdown, without MkDocs."""

from __future__ import annotations

import pytest
from markdown import Markdown

from build_tools.prose import LessonExtension, Page, locate, parse_call
from py_core.errors import LessonError
from py_core.quantity import evaluate


def convert(text: str, **page: object) -> tuple[str, Page]:
    extension = LessonExtension(runtime="assets/lesson/python.json")
    extension.page = Page(**page)  # type: ignore[arg-type]
    md = Markdown(extensions=["tables", "toc", "pymdownx.superfences", "admonition", extension])
    return md.convert(text), extension.page


def test_a_figure_in_a_sentence() -> None:
    html, page = convert('每张卡发出 {{ q("ring.sent_per_card", cards=64) }}。')
    assert (
        '<a class="q" data-q="ring.sent_per_card" data-set="cards=64" '
        'href="#fig-ring-sent-per-card-cards-64">109.4 GB</a>。' in html
    )
    assert page.problems == []
    assert list(page.figures) == ["fig-ring-sent-per-card-cards-64"]


@pytest.mark.parametrize(
    "text",
    [
        '# 共 {{ q("state.bytes") }}\n',
        '| a | b |\n|---|---|\n| x | {{ q("state.bytes") }} |\n',
        '!!! note "标题"\n\n    共 {{ q("state.bytes") }}。\n',
        '- 共 **{{ q("state.bytes") }}**\n',
        '> 共 {{q("state.bytes")}}\n',
    ],
)
def test_figures_anywhere(text: str) -> None:
    html, page = convert(text)
    assert ">444.5 GB</a>" in html
    assert page.problems == []


@pytest.mark.parametrize(
    "text", ['写法是 `{{ q("state.bytes") }}`。', '```\n{{ q("state.bytes") }}\n```']
)
def test_code_is_left_alone(text: str) -> None:
    html, page = convert(text)
    assert "{{ q(" in html
    assert not page.figures


def test_its_explanation_stands_at_the_end() -> None:
    html, _ = convert('{{ q("ring.sent_per_card") }}')
    sent = evaluate("ring.sent_per_card")
    assert '<h2 id="figures">' in html
    assert '<div class="figure-row" id="fig-ring-sent-per-card">' in html
    assert f"{sent.formula} = {sent.substituted}" in html
    for named in sent.inputs:
        assert named.source.says in html


def test_unit_and_digits_change_the_look_only() -> None:
    html, page = convert('{{ q("gradient.bytes", unit="GiB", digits=2) }}')
    assert ">51.75 GiB</a>" in html
    assert page.figures["fig-gradient-bytes"].display() == "55.6 GB"


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('{{ q("ring.sent_per_cards") }}', "ring.sent_per_card"),
        ('{{ q("ring.sent_per_card", card=8) }}', "cards"),
        ('{{ q("ring.sent_per_card", cards=1) }}', "from 2 to"),
        ('{{ q("ring.sent_per_card", unit="s") }}', "a unit of byte"),
        ('{{ q("ring.sent_per_card", "x") }}', "the name of one quantity"),
        ("{{ q(ring) }}", "a call such as"),
        ("{{ q( }}", "a call such as"),
        ('{{ __import__("os").system("true") }}', "a call such as"),
        ('{{ fact("x") }}', "fact"),
        ("{{ q() }}", "the name of one quantity"),
    ],
)
def test_what_cannot_be_computed_is_a_problem(written: str, says: str) -> None:
    _, page = convert(f"前面 {written} 后面")
    (problem,) = page.problems
    assert problem.written == written
    assert says in problem.says


def test_all_problems_of_a_page_with_their_lines() -> None:
    body = '好 {{ q("a") }}\n\n`{{ q("b") }}`\n\n坏 {{ q("b") }}，又 {{ q("a") }}\n'
    source = "---\ntitle: x\n---\n\n" + body
    _, page = convert(body)
    assert [(line, p.written) for line, p in locate(page.problems, source)] == [
        (5, '{{ q("a") }}'),
        (7, '{{ q("b") }}'),
        (9, '{{ q("a") }}'),
    ]


def test_a_widget_with_its_frames() -> None:
    html, page = convert('前\n\n{{ widget("ring") }}\n\n后', base="../")
    assert html.count("<lesson-widget ") == 1
    assert "<p><lesson-widget" not in html
    assert 'runtime="../assets/lesson/python.json"' in html
    ((path, code),) = page.assets.items()
    assert f'src="../{path}"' in html
    assert code.decode().startswith('(globalThis.lessonFrames??={})["ring"]={"mode=naive&n=4')


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{{ widget("rings") }}', "ring"),
        ('{{ widget("ring", id="A b") }}', "lower-case letters"),
        ('{{ widget("ring", colour="red") }}', "colour"),
        ('{{ widget("ring") }}\n\n{{ widget("ring") }}', "no other widget"),
    ],
)
def test_bad_widgets(text: str, says: str) -> None:
    _, page = convert(text)
    (problem,) = page.problems
    assert says in problem.says


def test_two_copies_of_one_widget() -> None:
    html, page = convert('{{ widget("ring") }}\n\n{{ widget("ring", id="ring-b", query="n=3") }}')
    assert page.problems == []
    assert 'id="ring-b"' in html
    assert len(page.assets) == 2


@pytest.mark.parametrize("text", ["q", "1", "q(x)", "q(*a)", "a.q()", "q('x', **k)", "lambda: 1"])
def test_only_literal_calls(text: str) -> None:
    with pytest.raises(LessonError, match="a call such as"):
        parse_call(text)
