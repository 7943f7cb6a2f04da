"""The skeleton of a lesson: a page that builds, and its entry in the navigation."""

from __future__ import annotations

import json
import re
from pathlib import Path

from build_tools import lint
from build_tools.pages import ROOT
from build_tools.source import Source
from py_core.errors import LessonError

_HEAD = re.compile(r'^{{ lesson_head\("(\w+)", (\d+)\) }}$', re.M)
TAKEN = ("404", "assets", "index", "search")  # the site has these already

SKELETON = """\
---
title: {quoted}
description: 这一课讲什么，用一句话说完。
---

{{{{ lesson_head("{chapter}", {number}) }}}}

# {title} {{#top}}

这一课要回答什么问题，先用一段话说清楚。

## 先看一个数 {{#first-figure}}

{{{{ model() }}}} 的一份完整梯度是 {{{{ q("gradient.bytes") }}}}。环形 all-reduce 同步一次，\
{{{{ q("cards", cards=64) }}}} 张卡时每张卡发出 {{{{ q("ring.sent_per_card", cards=64) }}}}。

## 再下一个判断 {{#first-claim}}

{{% claim "ring_below_twice_gradient" %}}卡再多，每张卡发出的字节也不到梯度的两倍{{% endclaim %}}。\
这个做法见 {{{{ cite("patarasuk_yuan") }}}}。

## 参考资料 {{#references}}

{{{{ references() }}}}
"""


def page(title: str, chapter: str = "C10", number: int = 1) -> str:
    """The Markdown of a new lesson. Raises LessonError for a title that is no title."""
    if not re.fullmatch(r"[\w，。、：；？！「」（）《》·…—/&+ -]+", title) or not title.strip():
        raise LessonError("--title", title, "words on one line, without any Markdown")
    text = SKELETON.format(title=title, quoted=_yaml(title), chapter=chapter, number=number)
    for finding in lint.check(Source(text)):
        raise LessonError(
            "--title", finding.text, f"a title that passes the linter: {finding.says}"
        )
    return text


def with_entry(config: str, name: str, title: str) -> str:
    """``mkdocs.yml`` with the page at the end of its navigation, all else as it was."""
    lines = config.splitlines(keepends=True)
    nav = next((i for i, line in enumerate(lines) if re.match(r"nav:\s*(#.*)?$", line)), None)
    indent, last = None, 0
    for i, line in enumerate(lines[nav + 1 :] if nav is not None else (), (nav or 0) + 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if line[0] not in " \t-":
            break
        last = i
        if indent is None:
            indent = line[: len(line) - len(line.lstrip())]
    if indent is None:
        raise LessonError("mkdocs.yml", "no nav", "a nav: with one page or more")
    lines.insert(last + 1, f"{indent}- {_yaml(title)}: {name}.md\n")
    return "".join(lines)


def lesson(name: str, title: str = "", root: Path = ROOT) -> Path:
    """Write ``docs/<name>.md`` and enter it in ``mkdocs.yml``; returns the page's path.

    Nothing is written where anything is wrong.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", name) or name in TAKEN:
        raise LessonError(
            "NAME",
            name,
            "lower-case letters and digits, with single hyphens between, "
            f"and none of {', '.join(TAKEN)}",
        )
    docs, config = root / "docs", root / "mkdocs.yml"
    if (docs / f"{name}.md").exists() or (docs / name).exists():
        raise LessonError("NAME", name, f"a name that nothing in {docs.name}/ has")
    title = title.strip() or f"新的一课 {name}"
    text = page(title, *_after_the_last(docs))
    try:
        old = config.read_text(encoding="utf-8")
    except OSError as error:
        raise LessonError(str(config), error.strerror, "a checkout with its mkdocs.yml") from None
    entered = with_entry(old, name, title)
    file = docs / f"{name}.md"
    with file.open("x", encoding="utf-8", newline="\n") as opened:
        opened.write(text)
    config.write_text(entered, encoding="utf-8", newline="\n")
    return file


def _after_the_last(docs: Path) -> tuple[str, int]:
    """Chapter and number that follow the highest number in ``docs``."""
    texts = (file.read_text(encoding="utf-8") for file in docs.glob("*.md"))
    heads = (head for text in texts for head in _HEAD.findall(text))
    number, chapter = max(((int(n), c) for c, n in heads), default=(0, "C10"))
    return chapter, number + 1


def _yaml(text: str) -> str:
    """A title as a YAML scalar: quoted where YAML could read something else in it."""
    plain = re.match(r"\w", text) and re.search(r"[\u4e00-\u9fff]", text)
    return text if plain else json.dumps(text, ensure_ascii=False)
