"""numbers.json: what it says, that it is true, and what changed since another one."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from typer.testing import CliRunner, Result

from build_tools import changes, figures_page, numbers, pages
from build_tools.cli import app
from build_tools.numbers import Numbers
from build_tools.prose import LessonExtension, Page
from build_tools.source import Source
from py_core.data import folder
from py_core.errors import LessonError
from py_core.quantity import evaluate, names
from py_core.scenario import DEFAULT
from tests.site.project import copied
from tests.site.project import lesson as lesson_in

Record = dict[str, Any]
SCHEMA = json.loads(numbers.SCHEMA_FILE.read_text(encoding="utf-8"))


def lesson(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def document(*texts: str) -> Record:
    """The document of pages ``a.md``, ``b.md``, …"""
    collected = Numbers()
    for letter, text in zip("abc", texts, strict=False):
        extension = LessonExtension()
        extension.page = Page(path=f"{letter}.md")
        pages.Markdown(extensions=["tables", "toc", "attr_list", extension]).convert(text)
        assert extension.page.problems == []
        collected.add(extension.page, Source(text))
    return collected.document()


def by_key(entries: list[Record]) -> dict[str, Record]:
    assert [e["key"] for e in entries] == sorted({e["key"] for e in entries})
    return {e["key"]: e for e in entries}


@pytest.fixture(scope="module")
def published(site: Path) -> Record:
    loaded: Record = json.loads((site / numbers.FILE).read_text(encoding="utf-8"))
    return loaded


# ── the document ────────────────────────────────────────────────────────────────────────


def test_it_is_published_with_its_schema_and_keeps_to_it(site: Path, published: Record) -> None:
    schema = json.loads((site / "numbers.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(published)


def test_every_quantity_keeps_to_the_schema() -> None:
    scenarios = ({}, {"cards": "64"}, {"model": "deepseek-v3", "cards": "1024"})
    calls = []
    for name, pins in itertools.product(names(), scenarios):
        with contextlib.suppress(LessonError):  # no experts, no linear attention
            evaluate(name, DEFAULT.with_fields(pins))
            calls.append(f'{{{{ q("{name}"{"".join(f", {k}='{v}'" for k, v in pins.items())}) }}}}')
    assert len(calls) > 800
    made = document("\n\n".join(calls))
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    figures = by_key(made["figures"])
    facts, papers = by_key(made["facts"]), by_key(made["papers"])
    for figure in figures.values():
        assert set(figure["sources"]) <= papers.keys()
        for entry in figure["inputs"]:
            assert entry["kind"] != "quantity" or entry["key"] in figures
            assert entry["kind"] != "fact" or entry["id"] in facts
    # Flat: a figure takes a line, however deep its tree is.
    assert len(numbers.written(made).encode()) < 2_000 * len(figures)


def test_flat_entries_unfold_to_the_tree_of_lesson_value() -> None:
    changes_ = {"cards": "64", "model": "deepseek-v3"}
    options = ", ".join(f'{k}="{v}"' for k, v in changes_.items())
    for name in ("naive.growth_8_to_1024", "communication.seconds", "dsv3.years_on_one_card"):
        figures = by_key(document(f'{{{{ q("{name}", {options}) }}}}')["figures"])

        def unfolded(key: str, figures: dict[str, Record] = figures) -> Record:
            figure = dict(figures[key])
            for extra in ("key", "set", "sources", "used"):
                del figure[extra]
            if not figure["where"]:
                del figure["where"]
            figure["inputs"] = [
                {**{k: v for k, v in i.items() if k != "key"}, **unfolded(i["key"])}
                | {"symbol": i["symbol"], "says": i["says"], "display": i["display"]}
                if i["kind"] == "quantity"
                else i
                for i in figure["inputs"]
            ]
            return figure

        def as_shown(record: Record) -> Record:
            """In the tree a quantity's own display and says stand over the input's."""
            for i in record["inputs"]:
                if i["kind"] == "quantity":
                    i.pop("display")
                    as_shown(i)
            return record

        tree = evaluate(name, DEFAULT.with_fields(changes_)).record()
        (key,) = (k for k, f in figures.items() if f["used"])
        assert as_shown(unfolded(key)) == as_shown(tree)


def test_keys_name_what_is_fixed() -> None:
    made = document(
        '{{ q("ring.sent_per_card") }} {{ q("ring.sent_per_card", tokens=1, cards=64) }} '
        '{{ q("ring.sent_per_card", cards="64", tokens=1) }} {{ q("naive.growth_8_to_1024") }}'
    )
    figures = by_key(made["figures"])
    assert figures["ring.sent_per_card"]["set"] == {}
    pinned = figures["ring.sent_per_card?cards=64&tokens=1"]
    assert pinned["set"] == {"cards": "64", "tokens": "1"}
    assert len(pinned["used"]) == 2
    # 64 cards change nothing in the gradient, so all of them share one.
    assert [i["key"] for i in pinned["inputs"] if i["kind"] == "quantity"] == ["gradient.bytes"]
    fixed = {k for k in figures if "@" in k}
    assert "naive.received_by_card0@cards=1024" in fixed
    assert figures["naive.received_by_card0@cards=1024"]["where"] == {"cards": "1024"}


def test_places_count_lines_of_the_file_and_leave_code_alone() -> None:
    text = (
        '---\ntitle: x\n---\n\n# 头 {{ q("cards") }} {#a}\n\n`{{ q("cards") }}`\n\n'
        '| a |\n|---|\n| {{ q("cards") }} |\n\n好 {{ q("gradient.bytes", unit="GiB") }}\n'
    )
    collected = Numbers()
    extension = LessonExtension()
    extension.page = Page(path="a.md")
    pages.Markdown(extensions=["tables", "attr_list", extension]).convert(text.split("---\n")[2])
    collected.add(extension.page, Source(text))
    figures = by_key(collected.document()["figures"])
    assert figures["cards"]["used"] == [
        {"page": "a.md", "line": 5, "column": 5, "id": "q-1", "heading": "头 8", "display": "8"},
        {"page": "a.md", "line": 11, "column": 3, "id": "q-2", "heading": "头 8", "display": "8"},
    ]
    (use,) = figures["gradient.bytes"]["used"]
    assert (use["line"], use["column"], use["display"]) == (13, 3, "51.7 GiB")


def test_facts_and_claims_with_their_papers_and_quantities() -> None:
    made = document(
        '{{ fact("dsv3.pretrain_gpu_hours") }} {{ q("dsv3.years_on_one_card") }}\n\n'
        '{% claim "comm_exceeds_backward", tokens=4096 %}久{% endclaim %}'
        "\n\n{{ references() }}"
    )
    facts, figures = by_key(made["facts"]), by_key(made["figures"])
    assert facts["dsv3.pretrain_gpu_hours"]["used"][0]["display"] == "2,664,000 小时"
    assert figures["dsv3.years_on_one_card"]["sources"] == ["dsv3_report"]
    assert by_key(made["papers"])["dsv3_report"]["link"] == "https://arxiv.org/abs/2412.19437"
    (claim,) = made["claims"]
    assert claim["key"] == "comm_exceeds_backward?tokens=4096"
    assert claim["holds"] is True
    assert set(claim["rests_on"]) == {"communication.seconds", "backward.seconds"}
    assert set(claim["rests_on"]) <= figures.keys()
    assert claim["used"] == [{"page": "a.md", "line": 3, "column": 1}]


def test_every_button_of_the_site_is_in_it(site: Path, published: Record) -> None:
    listed = {
        (use["page"], use["id"]): use["display"]
        for kind in ("figures", "facts")
        for entry in published[kind]
        for use in entry["used"]
    }
    standing = {}
    for file in (p for p in site.rglob("index.html") if p.parent.name != "figures"):
        folder_ = file.parent.relative_to(site).as_posix()
        page = "index.md" if folder_ == "." else f"{folder_}.md"
        page = "authors/index.md" if folder_ == "authors" else page
        html = file.read_text(encoding="utf-8")
        for id_, text in re.findall(r'<button class="q"[^>]* id="(q-\d+)"[^>]*>([^<]*)<', html):
            standing[page, id_] = unescape(text)
    assert len(standing) > 20
    assert {k: v for k, v in listed.items() if k[1].startswith("q-")} == standing


def test_a_widget_counts_as_it_opens() -> None:
    made = document('前\n\n{{ widget("ring", query="n=3") }}\n')
    shown = by_key(made["figures"])["ring.sent_per_card?cards=3"]
    assert shown["used"] == [
        {
            "page": "a.md",
            "line": 3,
            "column": 1,
            "id": "ring",
            "heading": "all-reduce 步进器",
            "display": evaluate("ring.sent_per_card", DEFAULT.with_fields({"cards": 3})).display(),
        }
    ]


def test_it_names_every_data_file(published: Record) -> None:
    files = {*folder().glob("*.json"), *folder().glob("models/*.json")}
    assert published["data"].keys() == {f.relative_to(folder()).as_posix() for f in files}


def test_without_a_build_it_is_the_same(published: Record) -> None:
    result = lesson("numbers", "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout) == published


# ── the page that lists them ────────────────────────────────────────────────────────────


def test_the_page_lists_every_figure_that_readers_see(site: Path, published: Record) -> None:
    html = (site / "figures/index.html").read_text(encoding="utf-8")
    rows = re.findall(r'<tr><th scope="row">(.*?)</th><td>.*?<code>(.*?)</code>', html)
    expected = [
        (figure["display"], figure["name"])
        for figure in published["figures"]
        if any(not use["page"].startswith("authors/") for use in figure["used"])
    ]
    assert [(unescape(display), name) for display, name in rows][: len(expected)] == expected
    assert "/authors/" not in re.search(r'<div class="all-figures.*?\n</div>', html, re.S)[0]


def test_its_links_lead_to_the_very_figure(site: Path) -> None:
    html = (site / "figures/index.html").read_text(encoding="utf-8")
    links = re.findall(r'<a href="([^"#]*)#(q-\d+)"', html)
    assert len(links) > 15
    for path, id_ in links:
        target = (site / "figures" / path / "index.html").read_text(encoding="utf-8")
        assert f'id="{id_}"' in target


def test_every_page_leads_to_it_and_search_knows_only_its_title(site: Path) -> None:
    for file in site.rglob("index.html"):
        assert ">本站的全部数</a>" in file.read_text(encoding="utf-8")
    index = json.loads((site / "search/search_index.json").read_text(encoding="utf-8"))
    found = [d for d in index["docs"] if d["location"].startswith("figures/")]
    assert len(found) == 1
    assert "ring.sent_per_card" not in found[0]["text"]
    assert not [d for d in index["docs"] if d["location"].startswith("authors/")]


def test_facts_are_listed_with_their_papers() -> None:
    made = document('{{ fact("dsv3.pretrain_gpu_hours") }}\n\n{{ references() }}')
    html = figures_page.html(made, {"a.md": figures_page.Target("甲", "../a/")}, "../")
    assert "2,664,000 小时" in html
    assert "https://arxiv.org/abs/2412.19437" in html
    assert '甲：<a href="../a/#q-1">开头</a>' in html
    assert "0 个数，引用 1 个论文里的数" in html


# ── what changed ────────────────────────────────────────────────────────────────────────

PAGE = '一 {{ q("gradient.bytes") }}，{{ q("ring.sent_per_card", cards=64) }}。\n'


def changed(old: Record, new: Record) -> list[tuple[str, str, str]]:
    found = changes.compare(changes.parsed(json.dumps(old).encode(), "old"), new)
    return [(c["what"], c["key"], c["how"]) for c in found["changes"]]


def test_what_only_moved_did_not_change() -> None:
    assert changed(document(PAGE), document("又一段。\n\n" + PAGE)) == []


def test_added_and_vanished() -> None:
    new = document(PAGE.replace("gradient.bytes", "state.bytes"))
    assert changed(document(PAGE), new) == [
        ("figure", "gradient.bytes", "vanished"),
        ("figure", "state.bytes", "added"),
    ]


def test_display_formula_and_value_are_told_apart() -> None:
    old = document(PAGE)
    digits = document(PAGE.replace('gradient.bytes"', 'gradient.bytes", digits=2'))
    assert changed(old, digits) == [("figure", "gradient.bytes", "display")]
    formula, value = document(PAGE), document(PAGE)
    by_key(formula["figures"])["gradient.bytes"]["formula"] = "P × k_g"
    assert changed(old, formula) == [("figure", "gradient.bytes", "formula")]
    by_key(value["figures"])["gradient.bytes"] |= {"exact": "1 byte", "display": "1 字节"}
    found = changes.compare(old, value)["changes"]
    assert [(c["how"], c["old"], c["new"]) for c in found] == [
        ("value", "55.6 GB", "1 字节 | 55.6 GB")  # the second as the page shows it
    ]
    assert found[0]["used"][0]["line"] == 1


def test_facts_claims_and_data_files() -> None:
    text = (
        '{{ fact("dsv3.gpus") }}\n\n'
        '{% claim "comm_exceeds_backward", tokens=4096 %}久{% endclaim %}'
        "\n\n{{ references() }}"
    )
    old, new = document(text), document(text)
    by_key(new["facts"])["dsv3.gpus"]["value"] = 1
    new["claims"][0]["holds"] = False
    new["data"]["facts.json"] = "0" * 64
    assert changed(old, new) == [
        ("fact", "dsv3.gpus", "value"),
        ("claim", "comm_exceeds_backward?tokens=4096", "value"),
    ]
    assert changes.compare(old, new)["data"] == ["facts.json"]


def test_the_command_tells_page_and_line(tmp_path: Path) -> None:
    old = json.loads(lesson("numbers", "--json").stdout)
    file = tmp_path / "old.json"
    file.write_text(json.dumps(old), encoding="utf-8")
    same = lesson("numbers", "--diff", str(file), "--strict")
    assert (same.exit_code, same.stdout) == (0, "no figure changed\n")
    by_key(old["figures"])["state.bytes"] |= {"exact": "1 byte", "display": "1 字节"}
    file.write_text(json.dumps(old), encoding="utf-8")
    told = lesson("numbers", "--diff", str(file))
    assert told.exit_code == 0
    assert re.search(
        r"^docs/data-parallel\.md:\d+:\d+ +value +state\.bytes +1 字节 \| 444\.5 GB → 444\.5 GB$",
        told.stdout,
        re.M,
    )
    assert lesson("numbers", "--diff", str(file), "--strict").exit_code == 1
    record = json.loads(lesson("numbers", "--diff", str(file), "--json").stdout)
    assert [c["key"] for c in record["changes"]] == ["state.bytes"]


def test_a_changed_config_is_told_with_all_it_changes(tmp_path: Path) -> None:
    project = copied(tmp_path)
    before = project / "before.json"
    before.write_text(lesson_in(project, "numbers", "--json").stdout, encoding="utf-8")
    anchor = project / "docs/data/anchor-model.json"
    text = anchor.read_text(encoding="utf-8")
    anchor.write_text(
        text.replace('"vocab_size": 248320', '"vocab_size": 148320'), encoding="utf-8"
    )
    done = lesson_in(project, "numbers", "--diff", "before.json", "--strict")
    assert done.returncode == 1
    assert "docs/data/anchor-model.json changed" in done.stdout
    assert re.search(r"value +model\.parameters +27,781,427,952 → 26,757,427,952", done.stdout)
    assert "card_memory" not in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        "no json",
        "[" * 100_000,
        '{"schema": 2}',
        '{"schema": 1}',
        '{"schema": 1, "figures": [1], "facts": [], "claims": [], "data": {}}',
        '{"schema": 1, "figures": [], "facts": [], "claims": [], "data": []}',
        '{"schema": 1, "figures": [{"key": "a", "display": "", "exact": "", "formula": "", '
        '"inputs": [], "used": [{"page": "a.md"}]}], "facts": [], "claims": [], "data": {}}',
    ],
)
def test_what_is_no_numbers_json_is_one_line(tmp_path: Path, content: str) -> None:
    file = tmp_path / "old.json"
    file.write_text(content, encoding="utf-8")
    result = lesson("numbers", "--diff", str(file))
    assert (result.exit_code, result.stdout) == (2, "")
    assert len(result.stderr.splitlines()) == 1
    assert "old.json" in result.stderr


def test_a_file_that_is_not_there_is_one_line() -> None:
    result = lesson("numbers", "--diff", "nowhere.json")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)


def test_a_page_with_problems_is_one_line(tmp_path: Path) -> None:
    project = copied(tmp_path)
    page = project / "docs/index.md"
    page.write_text(page.read_text(encoding="utf-8") + '\n{{ q("a") }}{{ q("b") }}\n', "utf-8")
    done = lesson_in(project, "numbers")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r'lesson: docs/index\.md:\d+:1: \{\{ q\("a"\) }}.*\(and 1 more\)\n', done.stderr
    )
