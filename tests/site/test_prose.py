"""Figures and widgets in Markdown, without MkDocs."""

from __future__ import annotations

import re
from hashlib import sha256
from pathlib import Path

import pytest
from markdown import Markdown

from build_tools import prose
from build_tools.assets import frames_folder
from build_tools.calls import parse_call
from build_tools.prose import LessonExtension, Page, locate
from build_tools.source import Source
from py_core import quantity
from py_core.errors import LessonError
from py_core.quantity import evaluate
from py_core.terms import Term
from widgets.average import widget as average
from widgets.ring import widget as ring


def convert(text: str, **page: object) -> tuple[str, Page]:
    extension = LessonExtension(runtime="assets/lesson/python.json")
    extension.page = Page(**page)  # type: ignore[arg-type]
    md = Markdown(
        extensions=["tables", "toc", "attr_list", "pymdownx.superfences", "admonition", "pymdownx.details", extension]
    )
    return md.convert(text), extension.page


def test_a_figure_in_a_sentence() -> None:
    html, page = convert('每张卡发出 {{ q("ring.sent_per_card", cards=64) }}。')
    assert (
        '<button class="q" data-q="ring.sent_per_card" data-set="cards=64" id="q-1" '
        'popovertarget="fig-ring-sent-per-card-cards-64" type="button">109.4 GB</button>。' in html
    )
    assert page.problems == []
    assert [(s.quantity.name, s.changes, s.display) for s in page.shown] == [
        ("ring.sent_per_card", {"cards": "64"}, "109.4 GB")
    ]


@pytest.mark.parametrize(
    "text",
    [
        '# 共 {{ q("state.bytes") }} {#all}\n',
        '| a | b |\n|---|---|\n| x | {{ q("state.bytes") }} |\n',
        '!!! note "标题"\n\n    共 {{ q("state.bytes") }}。\n',
        '- 共 **{{ q("state.bytes") }}**\n',
        '> 共 {{q("state.bytes")}}\n',
    ],
)
def test_figures_anywhere(text: str) -> None:
    html, page = convert(text)
    assert ">444.5 GB</button>" in html
    assert page.problems == []


@pytest.mark.parametrize(
    "text", ['写法是 `{{ q("state.bytes") }}`。', '```\n{{ q("state.bytes") }}\n```']
)
def test_code_is_left_alone(text: str) -> None:
    html, page = convert(text)
    assert "{{ q(" in html
    assert not page.shown


def panels(html: str) -> dict[str, str]:
    return dict(re.findall(r'<div popover class="panel" id="([^"]+)"(.*?)\n</div>', html, re.S))


def test_its_panel_goes_down_to_the_config() -> None:
    html, _ = convert('# 梯度 {#a}\n\n{{ q("ring.sent_per_card") }}', base="../")
    sent = evaluate("ring.sent_per_card")
    panel = panels(html)["fig-ring-sent-per-card"]
    assert f"{sent.formula} " in panel
    assert f"= {sent.substituted} = 97.2 GB" in panel
    assert "精确值 97,234,997,832 字节" in panel
    # From G by way of its inputs to the file they were counted from.
    assert 'popovertarget="fig-gradient-bytes"' in panel
    assert 'popovertarget="fig-model-parameters"' in panels(html)["fig-gradient-bytes"]
    everything = " ".join(panels(html).values())
    assert '<a href="../data/anchor-model.json">' in everything
    assert set(re.findall(r'popovertarget="([^"]+)"', html)) <= set(panels(html))


def test_a_figure_used_twice_says_where() -> None:
    html, _ = convert('# 甲 {#a}\n\n{{ q("state.bytes") }}\n\n# 乙 {#b}\n\n{{ q("state.bytes") }}')
    panel = panels(html)["fig-state-bytes"]
    assert '<a href="#q-1">甲</a>、<a href="#q-2">乙</a>' in panel
    assert "本页用到" not in panels(convert('{{ q("state.bytes") }}')[0])["fig-state-bytes"]


def test_two_scenarios_are_two_panels_and_share_what_is_the_same() -> None:
    html, _ = convert(
        '{{ q("ring.sent_per_card", cards=8) }} {{ q("ring.sent_per_card", cards=64) }}'
    )
    assert {"fig-ring-sent-per-card-cards-8", "fig-ring-sent-per-card-cards-64"} <= set(
        panels(html)
    )
    assert html.count('id="fig-gradient-bytes"') == 1


def test_a_fact_with_its_paper() -> None:
    html, page = convert(
        '{{ fact("dsv3.pretrain_gpu_hours") }}，{{ fact("llama3.mfu", unit="%") }}'
        "\n\n{{ references() }}"
    )
    assert ">2,664,000 小时</button>" in html
    assert ">41%</button>" in html
    panel = panels(html)["fact-dsv3-pretrain-gpu-hours"]
    assert "https://arxiv.org/abs/2412.19437" in panel
    assert "§1, paragraph on Table 1" in panel
    assert page.problems == []


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('{{ fact("gshard.year") }}', "2020"),
        ('{{ fact("dsv3.nvlink_gb_per_s") }}', "160 GB/s"),
        ('{{ fact("dsv3.nvlink_ib_ratio") }}', "3.2"),
        ('{{ fact("llama3.row2_parallelism", item=3) }}', "128"),
        ('{{ fact("zb.first_submitted") }}', "2023 年 11 月 30 日"),
        ('{{ fact("dsv3.pretrain_gpu_hours", unit="years") }}', "304.109589 年"),
    ],
)
def test_facts_are_shown_as_printed(written: str, text: str) -> None:
    html, page = convert(f"{written}\n\n{{{{ references() }}}}")
    assert page.problems == []
    assert f">{text}</button>" in html


@pytest.mark.parametrize("written", ['{{ cite("zero") }}', '{{ fact("gshard.year") }}'])
def test_what_rests_on_a_paper_asks_for_the_references(written: str) -> None:
    _, page = convert(f"前面 {written} 后面")
    (problem,) = page.problems
    assert problem.written == written
    assert "put {{ references() }} at its end" in problem.says


def test_citations_are_numbered_into_the_references() -> None:
    html, page = convert(
        '见 {{ cite("zero", where="§7") }}、{{ cite("dsv3_report") }}、{{ cite("zero") }}。\n\n'
        '{{ fact("gshard.year") }}\n\n{{ references() }}'
    )
    assert page.problems == []
    assert re.findall(r'class="cite" href="#ref-([a-z0-9_]+)"[^>]*>\[(\d)\]', html) == [
        ("zero", "1"),
        ("dsv3_report", "2"),
        ("zero", "1"),
    ]
    listed = re.findall(r'<li id="ref-([a-z0-9_]+)">(.*?)</li>', html, re.S)
    assert [paper for paper, _ in listed] == ["zero", "dsv3_report", "gshard"]
    assert "引用处：§7" in listed[0][1]


def test_citing_without_references_is_a_problem() -> None:
    _, page = convert('见 {{ cite("zero") }}。')
    assert "put {{ references() }}" in page.problems[0].says


def test_a_true_claim_is_marked_and_its_figures_live() -> None:
    html, page = convert(
        '{% claim "comm_exceeds_backward", tokens=4096 %}通信比反向**久**：'
        '{{ q("communication.seconds") }}{% endclaim %}。'
    )
    assert page.problems == []
    assert page.claimed[0].verdict.holds
    assert 'data-claim="comm_exceeds_backward" data-set="tokens=4096"' in html
    assert "<strong>久</strong>" in html
    assert ">1.94 s</button>。</span></span>" in html


def test_a_false_claim_is_a_problem_that_shows_its_quantities() -> None:
    written = '{% claim "comm_exceeds_backward", tokens=16384 %}'
    _, page = convert(f'{written}通信比反向久 {{{{ q("nope") }}}}{{% endclaim %}}')
    first, second = page.problems
    assert first.written == written
    assert "claim comm_exceeds_backward" in first.says
    assert "1.94 s > 4.2 s" in first.says or "1.945 s > 4.198 s" in first.says
    assert "backward.seconds" in first.says
    assert second.written == '{{ q("nope") }}'


@pytest.mark.parametrize("text", ['{% claim "x" %}开了没关', "关了没开{% endclaim %}"])
def test_half_a_claim_is_a_problem(text: str) -> None:
    _, page = convert(text)
    assert "ends with {% endclaim %}" in page.problems[0].says


def test_literal_figures_need_a_reason() -> None:
    html, page = convert('{{ lit("25 MB", why="别人的说法") }}')
    assert '<span class="lit">25 MB</span>' in html
    assert page.problems == []


def test_unit_and_digits_change_the_look_only() -> None:
    html, page = convert('{{ q("gradient.bytes", unit="GiB", digits=2) }}')
    assert ">51.75 GiB</button>" in html
    assert page.panels.quantities["fig-gradient-bytes"].display() == "55.6 GB"


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
        ('{{ fact("dsv3.gpu") }}', "dsv3.gpus"),
        ('{{ fact("dsv3.gpus", unit="GB") }}', "unit of fact dsv3.gpus"),
        ('{{ fact("llama3.row2_parallelism") }}', "item"),
        ('{{ fact("ring.lower_bound_busiest") }}', "seen, not remembered"),
        ('{{ cite("zer") }}', "zero"),
        ('{{ cite("zero", page=3) }}', "options where"),
        ('{{ lit("25 MB") }}', "a reason"),
        ('{{ lit("25 MB", why=" ") }}', "a reason"),
        ('{{ fgiure("x") }}', "call"),
        ("{{ q() }}", "the name of one quantity"),
        ('{{ q("cards", digits=-1) }}', "from 0 to 12"),
        ('{{ q("cards", digits=True) }}', "from 0 to 12"),
        ('{{ q("cards", digits="3") }}', "from 0 to 12"),
        ('{{ q("cards", unit=5) }}', "a text"),
        ('{{ q("cards", unit=[1]) }}', "a text"),
        ('{{ q("cards", cards=8, cards=64) }}', "each option once"),
        ('{{ widget("ring") }}', "a line of its own"),
    ],
)
def test_what_cannot_be_computed_is_a_problem(written: str, says: str) -> None:
    _, page = convert(f"前面 {written} 后面")
    (problem,) = page.problems
    assert problem.written == written
    assert says in problem.says


def test_a_formula_that_fails_is_told_at_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_at: quantity.At) -> Term:
        raise ZeroDivisionError("division by zero")

    evaluate("cards")
    monkeypatch.setattr(quantity, "_DECLARED", dict(quantity._DECLARED))
    quantity.quantity("a.broken", "GB", "算不出来")(fails)
    _, page = convert('一 {{ q("a.broken") }}，二 {{ q("nope") }}')
    first, second = page.problems
    assert first.written == '{{ q("a.broken") }}'
    here = r"tests/site/test_prose\.py:[0-9]+: ZeroDivisionError: division by zero"
    assert re.fullmatch(here, first.says)
    assert "nope" in second.says


def test_all_problems_of_a_page_with_their_lines() -> None:
    body = '好 {{ q("a") }}\n\n`{{ q("b") }}`\n\n坏 {{ q("b") }}，又 {{ q("a") }}\n'
    source = Source("---\ntitle: x\n---\n\n" + body)
    _, page = convert(body)
    assert [(line, column, p.written) for line, column, p in locate(page.problems, source)] == [
        (5, 3, '{{ q("a") }}'),
        (9, 3, '{{ q("b") }}'),
        (9, 18, '{{ q("a") }}'),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '<div>{{ q("state.bytes") }}</div>',
        '<p title="{{ q("state.bytes") }}">x</p>',
        '[x][y]\n\n[y]: https://example.org "{{ q("state.bytes") }}"',
        '| a |\n|---|\n| {{ q("state.bytes", | unit="GB") }} |',
        '开了没关 {{ q("state.bytes")',
        '- {{ widget("ring") }}',
        '<section>\n{% claim "x" %}一{% endclaim %}\n</section>',
    ],
)
def test_a_call_that_no_rule_sees_is_a_problem(text: str) -> None:
    _, page = convert(text)
    assert page.problems


def test_a_figure_inside_a_link_is_a_problem() -> None:
    _, page = convert('[一共 {{ q("state.bytes") }}](https://example.org)')
    assert "inside a link" in page.problems[0].says


def test_a_figure_in_an_attribute_is_a_problem() -> None:
    _, page = convert('<span title="{{ q("ring.limit") }}">x</span> 后面')
    assert "in an HTML attribute" in page.problems[0].says


def test_one_id_for_two_elements_is_a_problem() -> None:
    assert "another element" in convert("# 甲 {#a}\n\n## 乙 {#a}")[1].problems[0].says
    _, page = convert('## 环 {#ring}\n\n{{ widget("ring") }}')
    assert "another element" in page.problems[0].says


def test_references_that_list_nothing_are_a_problem() -> None:
    assert "cites nothing" in convert("正文\n\n{{ references() }}")[1].problems[0].says


def test_the_failing_one_of_several_is_located() -> None:
    def place(text: str) -> list[tuple[int, int]]:
        _, page = convert(text)
        return [(line, column) for line, column, _ in locate(page.problems, Source(text))]

    assert place('{{ widget("ring") }}\n\n{{ widget("ring") }}') == [(3, 1)]
    assert place("小结在后面。\n\n## 小结") == [(3, 4)]
    good = '共 {{ q("state.bytes") }}。\n\n<div>\n{{ q("state.bytes") }}\n</div>'
    assert place(good) == [(4, 1)]
    assert place('好。\n\n开了没关 {{ q("state.bytes")') == [(3, 6)]


def test_curly_quotes_are_named() -> None:
    _, page = convert("{{ q(“state.bytes”) }}")
    assert "straight quotes" in page.problems[0].says


def test_headings_need_ids_of_their_own() -> None:
    assert "id of its own" in convert("## 没有名字的一节")[1].problems[0].says
    assert convert("## 有名字的一节 {#named}")[1].problems == []


def test_a_widget_with_its_frames() -> None:
    html, page = convert('前\n\n{{ widget("ring") }}\n\n后', base="../")
    assert html.count("<lesson-widget ") == 1
    assert "<p><lesson-widget" not in html
    assert 'runtime="../assets/lesson/python.json"' in html
    ((path, code),) = page.assets.items()
    assert f'frames="../{path}"' in html
    assert code.decode().startswith("((id,lines,frames)=>{")
    assert '("ring",["<form class' in code.decode()
    assert '"asked=0&elements=0&g=0&' in code.decode()


def test_frames_are_kept_until_what_they_come_from_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "core").mkdir()
    source, lock = tmp_path / "core" / "a.py", tmp_path / "lock"
    source.write_text("1")
    lock.write_text("1")

    def made() -> bytes:
        folder = frames_folder(tmp_path, ("core", "lock"))
        extension = LessonExtension(frames=folder)
        Markdown(extensions=[extension]).convert('{{ widget("average") }}')
        ((path, code),) = extension.page.assets.items()
        assert [file.read_bytes() for file in folder.parent.glob("*/*")] == [code]
        assert sha256(code).hexdigest()[:12] in path
        return code

    true = made()
    assert true == prose._frames(average, "average", "")
    monkeypatch.setattr(prose, "_frames", lambda *_: b"new")
    assert made() == true
    for changed in (source, lock):
        changed.write_text("2")
        assert made() == b"new"
        monkeypatch.setattr(prose, "_frames", lambda *_: b"newer")
        assert made() == b"new"
        monkeypatch.setattr(prose, "_frames", lambda *_: b"new")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{{ widget("rings") }}', "ring"),
        ('{{ widget("ring", id="A b") }}', "lower-case letters"),
        ('{{ widget("ring", colour="red") }}', "colour"),
        ('{{ widget("ring", query=5) }}', "a text"),
        ('{{ widget("ring", "b") }}', "the name of one widget"),
        ('{{ widget("ring", query="n=99") }}', "from 2 to 16"),
        ('{{ widget("ring", query="foo=1") }}', "asked, elements, g, guess"),
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


def test_the_line_above_a_lesson_is_counted() -> None:
    text = "一" * 590 + '\n\n??? note "收起的"\n\n    ' + "二" * 900
    html, page = convert(
        f'{{{{ lesson_head("C10", 1) }}}}\n\n# 题 {{#top}}\n\n{text}\n\n{{{{ widget("ring") }}}}'
    )
    assert page.problems == []
    minutes = ring.MINUTES
    assert (
        f"C10「一张卡不够」第 1 课 · 约 {2 + minutes} 分钟"
        f"（读 2 分钟，不算收起的部分；1 个实验约 {minutes} 分钟）"
        in html
    )


@pytest.mark.parametrize("written", ["{{ lesson_head() }}", '{{ lesson_head("C10", "1") }}'])
def test_a_bad_line_above_a_lesson(written: str) -> None:
    _, page = convert(written)
    (problem,) = page.problems
    assert "chapter and lesson" in problem.says


def test_a_term_opens_what_it_means() -> None:
    html, page = convert('叫 {{ term("all-reduce") }}，又叫{{ term("all-reduce", says="它") }}。')
    assert page.problems == []
    assert html.count('popovertarget="term-all-reduce"') == 3  # twice to open, once to close
    assert html.count('id="term-all-reduce"') == 1
    assert ">它</button>。</span>" in html
    assert "每张卡都拿到同一份和" in html


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ('{{ term("allreduce") }}', "all-reduce"),
        ('{{ term("归约") }}', "all-reduce"),
        ('{{ q("gradient.bytes", unit="TB", digits=0) }}', "leave something"),
        ('{{ fact("dsv3.gpus", digits=1) }}', "unit with it"),
    ],
)
def test_more_that_cannot_be_shown(written: str, says: str) -> None:
    _, page = convert(f"前面 {written} 后面")
    (problem,) = page.problems
    assert says in problem.says


def test_a_fact_in_another_unit_may_be_rounded() -> None:
    written = '{{ fact("dsv3.pretrain_gpu_hours", unit="years", digits=0) }}'
    html, page = convert(f"{written}\n\n{{{{ references() }}}}")
    assert page.problems == []
    assert ">304 年</button>" in html


def test_a_name_with_a_number_stays_on_one_line() -> None:
    html, _ = convert("DeepSeek-V3，[ZeRO-1](a/DeepSeek-V3.json)，`Qwen3-8B`，all-reduce，2(N − 1)/N。")
    kept = re.findall('<span class="keep">(.*?)</span>', html)
    assert kept == ["DeepSeek-V3", "ZeRO-1", "2(N − 1)/N"]
    assert 'href="a/DeepSeek-V3.json"' in html


def test_code_in_a_heading_is_left_alone() -> None:
    html, page = convert('# `{{ q("x") }}` 怎么写 {#top}\n\n坏 {{ q("y") }}')
    assert '<code>{{ q("x") }}</code>' in html
    assert [p.written for p in page.problems] == ['{{ q("y") }}']


def test_the_same_call_inside_a_line_and_on_its_own() -> None:
    text = '{{ widget("ring") }} 句中\n\n{{ widget("ring") }}\n\n又 {{ widget("ring") }}\n'
    _, page = convert(text)
    located = locate(page.problems, Source(text))
    assert [(line, column) for line, column, _ in located] == [(1, 1), (5, 3)]
