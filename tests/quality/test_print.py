"""Pages as PDF: all there is to read, nothing to press, nothing cut off."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO

import pytest
from playwright.sync_api import Browser, Page, expect
from pypdf import PdfReader

from py_core.quantity import evaluate
from py_core.scenario import parse_scenario
from tests.browser.conftest import Watch
from tests.browser.reader import LESSON, ready, shows
from tests.site.test_lesson import SHOWN

# A4 between its margins (build_tools/print.css), in CSS pixels.
PAPER_WIDTH = round((210 - 2 * 17) / 25.4 * 96)

PRESSED = (
    *("下一步", "上一步", "播放", "不猜，直接看", "先猜一猜", "先猜再看", "撤销", "恢复默认"),
    *("复制链接", "复制数据", "带我去", "放大", "记住，作对照", "用表格看", "不选"),
    *("把时间也算出来", "再算时间", "换成你的模型", "下载轨迹", "没有 JavaScript"),
)


RADICALS = str.maketrans("⻓⻅⻋⻔⻚⻛", "长见车门页风")  # which NFKC leaves as they are


def plain(text: str) -> str:
    """Text as a PDF is compared: without spaces, and no radical where a character is meant."""
    return re.sub(r"\s", "", unicodedata.normalize("NFKC", text).translate(RADICALS))


@dataclass
class Printed:
    pages: list[str]
    """The text of each."""
    shown: dict[str, list[str]]
    """What the screen shows of the same page: titles and addresses of its sources, its stops."""

    @property
    def text(self) -> str:
        return "".join(self.pages)


def on_paper(page: Page) -> list[str]:
    made = PdfReader(BytesIO(page.pdf(format="A4")))
    return [plain(p.extract_text()) for p in made.pages]


def texts(page: Page, selector: str) -> list[str]:
    return [plain(text) for text in page.locator(selector).all_text_contents()]


@pytest.fixture(scope="module", params=["light", "dark"])
def printed(request: pytest.FixtureRequest, browser: Browser, origin: str) -> Iterator[Printed]:
    context = browser.new_context(color_scheme=request.param, locale="zh-CN")
    page = context.new_page()
    page.goto(origin + LESSON)
    expect(page.locator("#ring[data-alive]")).to_be_visible()
    shown = {
        "sources": texts(page, ".references a[href^=http]"),
        "stops": texts(page, "details.stop > summary strong"),
        "figures": texts(page, "article > .panels .panel-head strong"),
    }
    links = page.locator(".references a[href^=http]")
    shown["addresses"] = [plain(str(a.get_attribute("href"))) for a in links.all()]
    yield Printed(on_paper(page), shown)
    context.close()


def test_the_lesson_is_a_booklet_without_empty_pages(printed: Printed) -> None:
    assert 20 <= len(printed.pages) <= 40
    assert min(map(len, printed.pages)) > 100


def test_ux_56_no_golden_figure_is_lost(printed: Printed) -> None:
    for name, pins in {(name, pins) for _, name, pins in SHOWN}:
        assert plain(evaluate(name, parse_scenario(pins)).display()) in printed.text, name


def test_figures_and_sources_stand_at_the_end(printed: Printed) -> None:
    assert printed.shown["addresses"]
    for said in printed.shown["sources"] + printed.shown["addresses"]:
        assert said in printed.text, said
    _, _, listed = printed.text.rpartition("本页的数与出处")
    assert len(printed.shown["figures"]) > 100
    for figure in printed.shown["figures"]:
        assert figure in listed, figure


def test_ux_56_what_folds_is_open(printed: Printed) -> None:
    assert len(printed.shown["stops"]) == 10
    for words in (*printed.shown["stops"], "数据并行是各训各的", "卡数翻倍，每张卡的通信也翻倍"):
        assert plain(words) in printed.text, words
    assert "参数服务器把梯度都发给几台服务器" in printed.text  # the first question's answer
    assert printed.text.count(plain("卡在：")) == 10


def test_ux_56_there_is_nothing_to_press(printed: Printed) -> None:
    assert [label for label in PRESSED if plain(label) in printed.text] == []


def test_ux_56_what_nobody_touched_is_printed_at_length(printed: Printed) -> None:
    """As readers without JavaScript see it: both ends, not the question alone."""
    # The last one is of the timeline with more tokens.
    for words in ("环形走完的样子", "朴素做法走完的样子", "1,024 张卡，连时间一起", "藏住 92.1%"):
        assert plain(words) in printed.text, words


def test_ux_56_what_was_chosen_is_printed(page: Page, origin: str) -> None:
    page.goto(f"{origin}{LESSON}?ring.mode=naive&ring.n=5&ring.step=3&overlap.tokens=16384")
    ready(page)
    shows(page, mode="naive", n=5, step=3)
    text = "".join(on_paper(page))
    for words in ("做法：① 朴素", "卡数 N 5", "第 3 步，共 8 步", page.url):
        assert plain(words) in text, words
    assert "环形走完的样子" not in text
    expect(page.locator(".lw-paper")).to_have_count(0)  # gone again


def test_the_cover_is_short(page: Page, origin: str) -> None:
    page.goto(origin + "/")
    pages = on_paper(page)
    assert 1 <= len(pages) <= 4
    assert plain("合起来：3D、4D、5D") in pages[0]  # the whole map on its first page
    assert "https://arxiv.org/abs/2412.19437" in "".join(pages)


WIDER = """width => [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && !e.closest(".lw-hidden, .md-skip, foreignObject"))
    .filter((e) => e.getBoundingClientRect().right > width + 1)
    .map((e) => e.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize("path", ["/", LESSON, "/figures/", "/authors/", "/authors/hosting/"])
def test_nothing_is_wider_than_the_paper(page: Page, watch: Watch, origin: str, path: str) -> None:
    page.set_viewport_size({"width": PAPER_WIDTH, "height": 900})
    page.goto(origin + path)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(WIDER, PAPER_WIDTH) == []
