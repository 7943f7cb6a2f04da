"""A Markdown file as tools see it: calls, claims and prose, each with its place."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from build_tools.source import CALL, CODE, OBJECT, Source


def read(text: str) -> list[tuple[str, str]]:
    return [(p.kind, p.text) for p in Source(text).prose]


def texts(text: str) -> list[str]:
    return [p.text for p in Source(text).prose]


# ── blocks ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        (
            "# 一 {#one .x}\n二\n\n三\n四\n",
            [("heading", "一"), ("paragraph", "二"), ("paragraph", "三\n四")],
        ),
        ("一\n===\n\n---\n\n* * *\n二\n", [("paragraph", "一"), ("paragraph", "二")]),
        (
            "- 一\n    - 二\n\n        二续\n* 三\n12. 四\n",
            [("item", "一"), ("item", "二"), ("paragraph", "二续"), ("item", "三"), ("item", "四")],
        ),
        ("> 引\n> 文\n\n> - 项\n", [("paragraph", "引\n文"), ("item", "项")]),
        ("词\n:   释义\n\n    续\n", [("paragraph", "词"), ("item", "释义"), ("paragraph", "续")]),
        ("[^n]: 注\n\n    续\n", [("item", "注"), ("paragraph", "续")]),
        ('[r]: http://x.y/z\n[s]: <a b> "题"\n', [("paragraph", '[s]:  "题"')]),
        ("[r]: http://x.y/z '题'\n", [("title", "题")]),
        ("*[DP]: 数据并行\n", [("title", "数据并行")]),
        ("!!! note\n    文\n", [("paragraph", "文")]),
        ('!!! pitfall inline "题 `c`"\n\n    文\n', [("title", f"题 {CODE}"), ("paragraph", "文")]),
        ('???+ tip "题"\n    !!! note ""\n        文\n', [("title", "题"), ("paragraph", "文")]),
        (
            '=== "甲"\n\n    文\n\n=== "乙"\n\n    ```\n    码\n    ```\n',
            [("title", "甲"), ("paragraph", "文"), ("title", "乙")],
        ),
        (
            "| 甲 | 乙 |\n|:--|--:|\n| `a|b` | c\\|d |\n",
            [("cell", "甲"), ("cell", "乙"), ("cell", CODE), ("cell", "c|d")],
        ),
        (
            "甲 | 乙\n--- | ---\n丙 | 丁\n",
            [("cell", "甲"), ("cell", "乙"), ("cell", "丙"), ("cell", "丁")],
        ),
    ],
)
def test_blocks(text: str, prose: list[tuple[str, str]]) -> None:
    assert read(text) == prose
    assert read(text.replace("\n", "\r\n")) == prose


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ('前\n\n```python title="题"\n码\n\n码\n```\n后\n', ["前", "题", "后"]),
        ("~~~\n码 ```\n~~~\n后\n", ["后"]),
        ("````\n```\n码\n```\n````\n后\n", ["后"]),
        ("- 项\n\n    ```\n    码\n    ```\n\n    续\n", ["项", "续"]),
        ("!!! note\n\n    - 项\n\n        ~~~\n        码\n        ~~~\n", ["项"]),
        ("> ```\n> 码\n> ```\n> 后\n", ["后"]),
        ("\t码\n\n后\n", ["后"]),
        ("前\n\n    码\n\n    码\n\n后\n", ["前", "后"]),
        ("前\n    不是码\n", ["前\n不是码"]),
        ("- 项\n\n        码\n\n    续\n", ["项", "续"]),
        ("!!! note\n        码\n", []),
        ("```\n没有关\n", ["```\n没有关"]),
        ("- 项\n\n    ```\n    没有关\n\n后\n", ["项", "```\n没有关", "后"]),
        ("<!-- 注\n\n    释 --> 文\n", ["文"]),
        ("`<!--` 文\n\n`-->` 文\n", [f"{CODE} 文", f"{CODE} 文"]),
        ("<script>\n\nlet x\n\n</script>\n<style>a{}</style>\n<pre>码</pre>\n文\n", ["文"]),
        ("<div>\n\n    <p>文</p>\n\n</div>\n\n    码\n", ["\u2029文\u2029"]),
        ('<div markdown="1">\n\n    码\n\n</div>\n', []),
    ],
)
def test_code_is_no_prose(text: str, prose: list[str]) -> None:
    read_as = [p for p in texts(text) if p.strip("\u2029")]
    assert read_as == prose


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("---\ntitle: 题\nhide:\n  - toc\n---\n文", [("page title", "题"), ("paragraph", "文")]),
        ('---\ntitle: "题: 一"\n---\n', [("page title", "题: 一")]),
        ("---\ntitle: ''\ndescription: '说'\n---\n", [("page description", "说")]),
        ("---\ndescription: >-\n  一\n  二\nx: y\n---\n", [("page description", "一\n二")]),
        ("---\ndescription: 一\n  二\n---\n", [("page description", "一\n二")]),
        ("---\ntitle: 没有关\n", [("paragraph", "title: 没有关")]),
        ("文\n\n---\ntitle: 题\n---\n", [("paragraph", "文"), ("paragraph", "title: 题")]),
    ],
)
def test_front_matter(text: str, prose: list[tuple[str, str]]) -> None:
    assert read(text) == prose
    assert read("\ufeff" + text.replace("\n", "\r\n")) == prose


def test_cells_know_the_heads_of_their_column_and_row() -> None:
    for bar in ("| ", ""):
        source = Source(
            f"{bar}卡数 | 发出（GB）\n{bar}--- | ---\n{bar}`八` | **97**\n{bar}甲 | 9 | 乙\n"
        )
        assert [p.heads for p in source.prose] == [
            (),
            (),
            ("卡数", ""),
            ("发出（GB）", CODE),
            ("卡数", ""),
            ("发出（GB）", "甲"),
            ("", "甲"),
        ]


def test_spans_of_code_are_kept() -> None:
    source = Source("一 `64` ``8 ` 张`` <code>x</code>\n")
    (prose,) = source.prose
    assert prose.codes == [(2, "64"), (4, "8 ` 张"), (6, "x")]


@pytest.mark.parametrize("quote", "'\"")
def test_attribute_lists_are_read(quote: str) -> None:
    text = "# 题 {#a .b title='说' data-n='不说'}\n\n段\n{: title='又说' }\n".replace("'", quote)
    assert sorted(texts(text)) == sorted(["题", "说", "段", "又说"])


# ── text ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("一 **二** *三* ___四___ a_b_c 2 * 3", "一 二 三 四 a_b_c 2 * 3"),
        ("2*3 张", "2*3 张"),
        (r"\*一\* \`二\` \[三\]", "*一* `二` [三]"),
        ("`a` ``b ` c`` 后 ` 单", f"{CODE} {CODE} 后 ` 单"),
        ('[文 **字**](a.md "题"){ .b }', "文 字"),
        ("[文][r]，[r]，[r][] [无] [x][无]\n\n[r]: y.md", "文，r，r [无] [x][无]"),
        ("文[^1]。", "文。"),
        ("![图](a.png) 与 [![内](b.png)](c.md)", f"{OBJECT} 与 {OBJECT}"),
        ("<https://a.b/c> <a@b.c> http://d.e/f。", f"{OBJECT} {OBJECT} {OBJECT}。"),
        ('一<b class="x>y">二</b><br>三 < 四 &lt; 五&nbsp;六', "一二\n三 < 四 < 五\u00a0六"),
        ("<kbd>Ctrl</kbd> <code>x</code> 10<sup>9</sup>", f"{CODE} {CODE} 10^9"),
        ("$a_1$ 与 \\(b\\) 与 $$c$$", "$a_1$ 与 (b) 与 $$c$$"),  # no maths here
        ("价 $5 与 $6", "价 $5 与 $6"),
        ("&x; &lt;", "&x; <"),
        ("从$5涨到$6", "从$5涨到$6"),
        ("集合 {1, 2} 与 { 3 }", "集合 {1, 2} 与 { 3 }"),
        ("文{: #id .c } 字", "文 字"),
        ("6\u200b4&#8203;\u2060 张\ufeff卡", "64 张卡"),
        ('{{ q("a") }} 张{{q("b")}}', f"{CALL} 张{CALL}"),
        ('前{% claim "a", n=1 %}一 {{ q("b") }}{% endclaim %}后', f"前一 {CALL}后"),
    ],
)
def test_text_as_read(text: str, prose: str) -> None:
    kinds = {p.kind: p.text for p in Source(text).prose}
    assert kinds["paragraph"] == prose


def test_what_only_some_readers_hear() -> None:
    source = Source('![图一](a.png "题")\n\n<img alt="图二 {{ q("b") }}" data-x="{{ q("c") }}">\n')
    assert [(p.kind, p.text) for p in source.prose if p.kind != "paragraph"] == [
        ("alt", "图一"),
        ("title", "题"),
        ("alt", f"图二 {CALL}"),
    ]
    assert [c.inner for c in source.calls] == ['q("b")', 'q("c")']


# ── calls and claims ────────────────────────────────────────────────────────────────────


def test_calls_in_order_with_their_places() -> None:
    text = (
        "\ufeff---\r\ntitle: {{ no }}\r\n---\r\n\r\n"
        "# 共 {{ a }}\r\n\r\n`{{ no }}` **{{ b }}**\r\n\r\n"
        "```\r\n{{ no }}\r\n```\r\n\r\n"
        "| x | y |\r\n|---|---|\r\n| {{ c }} | {{ d(\r\n| e | [{{ f }}](x.md) |\r\n\r\n"
        '!!! note "{{ g }}"\r\n\r\n    {{ widget("h") }}\r\n\r\n'
        "        {{ no }}\r\n\r\n<!-- {{ no }} -->{{ i(\r\n1) }}\r\n"
    )
    source = Source(text)
    assert [(*c.position, c.inner) for c in source.calls] == [
        (5, 5, "a"),
        (7, 14, "b"),
        (15, 3, "c"),
        (16, 8, "f"),
        (18, 11, "g"),
        (20, 5, 'widget("h")'),
        (24, 18, "i(\n1)"),
    ]
    for call in source.calls:
        assert source.text.startswith(call.text, call.offset)
    assert source.calls[-1].text == "{{ i(\r\n1) }}"


def test_claims() -> None:
    text = '前 {% claim "a", tokens=4096 %}一 **{{ q("b") }}**{% endclaim %}，后\n'
    source = Source(text)
    (claim,) = source.claims
    assert source.faults == []
    assert (claim.text, claim.inner) == ('{% claim "a", tokens=4096 %}', '"a", tokens=4096')
    assert (claim.position, claim.end) == ((1, 3), (1, 63))
    assert source.text[claim.start : claim.stop] == '一 **{{ q("b") }}**'
    (prose,) = source.prose
    assert [c for i, c in enumerate(prose.text) if prose.claim_at(i)] == ["一", " ", CALL]


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ('{% claim "a" %}文', [(1, 1, "not closed")]),
        (
            '{% claim "a" %}文\n\n文{% endclaim %}',
            [(1, 1, "not closed"), (3, 2, "no claim is open")],
        ),
        ('{% claim "a" %}{% claim "b" %}文{% endclaim %}', [(1, 1, "do not nest")]),
        (
            '{% claim "a" %}一{% claim "b" %}二{% endclaim %}三{% endclaim %}',
            [(1, 1, "do not nest")],
        ),
        ('{% claim "a" %}{% endclaim %}', [(1, 1, "says nothing")]),
        ('前{% claim "a" %} {% endclaim %}', [(1, 2, "says nothing")]),
        ("文{% endclaim %}", [(1, 2, "no claim is open")]),
        ("{% clam 'a' %}", [(1, 1, "unknown")]),
        (
            '| {% claim "a" %}x | y{% endclaim %} |\n|---|---|\n',
            [(1, 3, "not closed"), (1, 23, "no claim")],
        ),
        ('`{% claim "a" %}`\n\n    {% endclaim %}\n', []),
    ],
)
def test_claims_that_are_none(text: str, faults: list[tuple[int, int, str]]) -> None:
    told = Source(text).faults
    assert [f.position for f in told] == [(line, column) for line, column, _ in faults]
    for fault, (_, _, says) in zip(told, faults, strict=True):
        assert says in fault.says


def test_sentences() -> None:
    (prose,) = Source("一。二！「三？」四；五 1.85 六, 七;八").prose
    sentences = list(prose.sentences())
    assert [s.text for s in sentences] == [
        "一。",
        "二！",
        "「三？」",
        "四；",
        "五 1.85 六, 七;",
        "八",
    ]
    assert [s.position() for s in sentences] == [(1, n) for n in (1, 3, 5, 9, 11, 23)]


def test_positions_count_every_kind_of_line_end() -> None:
    source = Source("一\r二\r\n三\n四\u2028五\x0c六")
    assert [source.position(source.text.index(c)) for c in "一二三四五六"] == [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
        (4, 3),
        (4, 5),
    ]


MARKUP = st.text(st.sampled_from(list("一二8 \t\n\r`~*_[]()<>!{}%|:-#\\$&;\"'=?/.^x")), max_size=60)


@settings(max_examples=400, deadline=None)
@given(MARKUP)
def test_any_text_is_read_and_every_character_has_its_place(text: str) -> None:
    source = Source(text)
    for prose in source.prose:
        assert len(prose.text) == len(prose.offsets) > 0
        assert list(prose.offsets) == sorted(prose.offsets)
        for char, offset in zip(prose.text, prose.offsets, strict=True):
            if char in "一二8x":
                assert source.text[offset] == char
    for call in source.calls:
        assert source.text.startswith(call.text, call.offset)
