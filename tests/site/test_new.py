"""``lesson new``: a lesson that builds and passes the checks, or one line of refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from build_tools import lint, new
from build_tools.source import Source
from py_core.errors import LessonError
from tests.conftest import mkdocs
from tests.site.project import copied, lesson


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copied(tmp_path)


def test_a_new_lesson_builds_and_passes_the_checks(project: Path) -> None:
    config = (project / "mkdocs.yml").read_text(encoding="utf-8")
    done = lesson(project, "new", "tensor-parallel", "--title", "张量并行")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("docs/tensor-parallel.md written")
    added = (project / "mkdocs.yml").read_text(encoding="utf-8").splitlines()
    assert [line for line in added if line not in config.splitlines()] == [
        "  - 张量并行: tensor-parallel.md"
    ]
    assert len(added) == len(config.splitlines()) + 1
    checked = lesson(project, "check", "docs/tensor-parallel.md")
    assert checked.returncode == 0, checked.stdout
    built = mkdocs(
        "build", "--strict", "-f", str(project / "mkdocs.yml"), "-d", str(project / "out")
    )
    assert built.returncode == 0, built.stderr
    html = (project / "out/tensor-parallel/index.html").read_text(encoding="utf-8")
    for part in ('<h1 id="top">', 'data-q="ring.sent_per_card"', 'class="claim"', 'class="refer'):
        assert part in html
    assert "{{" not in html
    # A lesson like the others: numbered, and readers may choose their model.
    assert 'class="lesson-head"' in html
    assert 'class="yours-open"' in html
    # Numbered at once, like every other page.
    assert "docs/tensor-parallel.md:" in lesson(project, "numbers").stdout
    again = lesson(project, "new", "tensor-parallel")
    assert again.returncode == 2
    assert len(again.stderr.splitlines()) == 1


def test_a_new_lesson_is_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - index.md\n", encoding="utf-8")
    first, second = (new.lesson(name, root=tmp_path) for name in ("one", "two"))
    assert '{{ lesson_head("C10", 1) }}' in first.read_text(encoding="utf-8")
    assert '{{ lesson_head("C10", 2) }}' in second.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    ["Zero", "zero_1", "-zero", "zero-", "a--b", "a/b", "../a", "数据", "", "index", "assets",
     "data", "data-parallel", "figures", "authors", "a.md"],
)  # fmt: skip
def test_bad_names_are_one_line_and_change_nothing(project: Path, name: str) -> None:
    before = {p: p.read_bytes() for p in project.glob("docs/**/*") if p.is_file()}
    config = (project / "mkdocs.yml").read_bytes()
    done = lesson(project, "new", "--", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert {p: p.read_bytes() for p in project.glob("docs/**/*") if p.is_file()} == before
    assert (project / "mkdocs.yml").read_bytes() == config


@pytest.mark.parametrize(
    "title", ["# 标题", "一\n二", "{{ 数 }}", "a: b", "<b>", "  ", "用 8 张卡训练", "“a”"]
)
def test_bad_titles(title: str) -> None:
    with pytest.raises(LessonError, match="--title"):
        new.page(title)


@pytest.mark.parametrize("title", ["ZeRO：切开模型状态", "yes", "流水线（一）", "A/B 两种做法"])
def test_titles_are_read_back_from_yaml(title: str) -> None:
    text = new.page(title)
    assert lint.check(Source(text)) == []
    assert yaml.safe_load(text.split("---\n")[1])["title"] == title
    nav = yaml.safe_load(new.with_entry("nav:\n  - index.md\n", "x", title))["nav"]
    assert nav == ["index.md", {title: "x.md"}]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nav:\n- a.md\n\n# x\nb: 1\n", "nav:\n- a.md\n- 零: z.md\n\n# x\nb: 1\n"),
        (
            "nav: # 导航\n  # 注\n  - a.md\n  - 节:\n      - b.md\n  # 尾\nc: 1\n",
            "nav: # 导航\n  # 注\n  - a.md\n  - 节:\n      - b.md\n  - 零: z.md\n  # 尾\nc: 1\n",
        ),
    ],
)
def test_the_rest_of_the_navigation_stays(before: str, after: str) -> None:
    assert new.with_entry(before, "z", "零") == after


@pytest.mark.parametrize("config", ["", "site_name: x\n", "nav:\n\nb: 1\n"])
def test_no_navigation_is_said(config: str) -> None:
    with pytest.raises(LessonError, match="nav"):
        new.with_entry(config, "z", "零")
