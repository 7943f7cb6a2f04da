"""What readers without JavaScript see of widgets: whole, and nothing twice."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from build_tools.still import lightened, panels_of


def panel(name: str, says: str, opens: str = "") -> str:
    inner = f'<button type="button" class="q" popovertarget="{opens}">1</button>\n' if opens else ""
    return (
        f'<div popover class="panel" id="{name}" aria-labelledby="{name}-head">\n'
        f'<p id="{name}-head">{says}</p>\n{inner}</div>\n'
    )


def still(html: str) -> str:
    return f"<lesson-widget><noscript>{html}</noscript></lesson-widget>"


def figure(opens: str) -> str:
    return f'<button type="button" class="q" popovertarget="{opens}">2 GB</button>'


def test_a_figure_opens_the_panel_that_the_page_has() -> None:
    page = panel("fig-a", "甲") + panel("fig-b", "乙", "fig-a")
    html = still(figure("w-0-fig-b") + panel("w-0-fig-b", "乙", "w-0-fig-a"))
    assert lightened(html, panels_of(page)) == still(figure("fig-b"))


def test_another_value_keeps_its_panel_and_sends_it_once() -> None:
    said = panels_of(panel("fig-a", "甲"))
    first = lightened(still(figure("w-0-fig-a") + panel("w-0-fig-a", "丙")), said)
    assert first == still(figure("w-0-fig-a") + panel("w-0-fig-a", "丙"))
    assert lightened(still(figure("v-0-x") + panel("v-0-x", "丙")), said) == still(
        figure("w-0-fig-a")
    )


@pytest.mark.parametrize(
    "html",
    [
        '<label class="lw-field">卡数<input type="text" name="n" value="4"></label>',
        '<input type="range" name="n">',
        "<select><option>1</option></select>",
        '<button type="submit" class="primary" name="go" value="n=4">下一步</button>',
        "<details data-press><summary>开关</summary><p>一</p></details>",
        '<p class="hint" data-press>点一下</p>',
    ],
)
def test_nothing_to_press(html: str) -> None:
    assert lightened(still(f"<p>话</p>{html}"), {}) == still("<p>话</p>")


def test_outside_the_still_frames_nothing_changes() -> None:
    html = '<lesson-widget><button type="submit">走</button></lesson-widget>' + panel("fig-a", "甲")
    assert lightened(html, panels_of(html)) == html


def test_every_figure_of_the_lesson_has_its_panel(site: Path) -> None:
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8")
        ids = re.findall(r'<div popover [^>]*id="([^"]+)"', html)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'popovertarget="([^"]+)"', html)) <= set(ids), page
