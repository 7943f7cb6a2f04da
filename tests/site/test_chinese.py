"""Chinese as it is set: full-width signs, a space between Chinese and Latin, none elsewhere."""

from __future__ import annotations

import re

import autocorrect_py
import pytest

from tests.conftest import ROOT

PAGES = sorted((ROOT / "docs").rglob("*.md"))
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)(\{[^}]*\})?")


def mistakes(text: str) -> list[str]:
    """Lines that autocorrect would write otherwise. A link is judged by its words alone."""
    plain = _LINK.sub(r"\1", text)
    return [f"{m.old} → {m.new}" for m in autocorrect_py.lint_for(plain, "markdown").lines]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages(page: object) -> None:
    text = page.read_text(encoding="utf-8")  # type: ignore[attr-defined]
    assert mistakes(text) == []
    # After a full-width sign there is no space, however the words before it are set.
    assert re.findall(r"[。，；：？！]\*{0,2} (?=[\u4e00-\u9fff])", text) == []


@pytest.mark.parametrize("text", ["用8张卡", "好,再来", "叫all-reduce的操作", "大小: 小"])
def test_what_is_a_mistake(text: str) -> None:
    assert mistakes(text)
