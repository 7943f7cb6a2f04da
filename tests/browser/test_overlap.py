"""Readers at the overlap timeline. Numbers in the docstrings are those of UX.md."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl, urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import widgets
from tests.browser.axe import violations
from tests.browser.conftest import Lesson, Watch
from tests.browser.reader import LESSON, RELEASE, SLIDE, until
from widgets.overlap.setting import FIELDS
from widgets.overlap.widget import TOKENS, walk
from widgets.state import parse

TAKE = """query => document.getElementById("overlap")
    .take(new URLSearchParams(`overlap.gradient=bf16&${query}`))"""
TILES = "#overlap .overlap-tiles"


def shows(page: Page, **fields: object) -> None:
    """Until the frame's state holds these fields."""
    for name, value in fields.items():
        expect(page.locator("#overlap [data-frame]")).to_have_attribute(
            "data-full", re.compile(rf"(^|&){name}={value}(&|$)")
        )


def ready(page: Page) -> Page:
    page.locator("#overlap").hover()
    expect(page.locator("#overlap")).to_have_attribute("python", "ready")
    return page


def readout(page: Page, name: str) -> Locator:
    return page.locator(f'{TILES} [data-q="overlap.{name}"]')


def button(page: Page, name: str) -> Locator:
    return page.locator("#overlap").get_by_role("button", name=name, exact=True)


def listen(page: Page) -> None:
    page.evaluate("""() => {
        globalThis.said = [];
        const live = document.querySelector("#overlap [data-live]");
        new MutationObserver(() => said.push([performance.now(), live.textContent]))
            .observe(live, {childList: true});
    }""")


def spare(page: Page) -> int:
    """How far the page itself scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_a_guess_then_the_truth(lesson: Lesson) -> None:
    """36: a guess before the answer, both together, and it survives what comes."""
    page = lesson()
    expect(readout(page, "exposed")).to_have_text("1.94 s")
    button(page, "一点不剩，全藏住").click()
    truth = page.locator("#overlap .guessed p")
    expect(truth).to_contain_text("没猜中。你猜的是「一点不剩，全藏住」")
    expect(readout(page, "exposed")).to_have_text("0.95 s")
    page.locator("#overlap-tokens-slider").press("End")
    shows(page, tokens=65_536)
    expect(truth).to_contain_text("没猜中")
    button(page, "重猜").click()
    shows(page, guess="ask", tokens=4096)
    button(page, "不猜，直接看").click()
    expect(readout(page, "hidden_share")).to_have_text("51.3%")


def test_tokens_by_keyboard_need_no_python(page: Page, origin: str, watch: Watch) -> None:
    """24, 61: both ends, and every stop between, from the frames of the build."""
    page.route("**/python.*.json", lambda route: route.abort())
    page.goto(origin + LESSON + "?overlap.guess=skip")
    slider = page.locator("#overlap-tokens-slider")
    slider.press("Home")
    for tokens in TOKENS:
        expect(slider).to_have_attribute("aria-valuetext", f"{tokens:,} 个 token")
        expect(page.locator("#overlap-tokens")).to_have_value(str(tokens))
        expect(slider).to_be_focused()
        slider.press("ArrowRight")
    slider.press("Home")
    shows(page, tokens=512)
    button(page, "下载轨迹（Perfetto）").click()
    expect(page.locator("#overlap [data-status]")).to_contain_text("可 Python 没能载入")
    watch.messages[:] = [m for m in watch.messages if "net::ERR_FAILED" not in m]


def test_three_tasks_are_ticked(page: Page, origin: str) -> None:
    """37: a link to where each begins; a tick once its point is on the screen."""
    page.goto(origin + LESSON)
    ready(page)

    def ticked(name: str) -> Locator:
        return page.locator(f'[data-ticks="overlap.{name}"]')

    def go(name: str) -> None:
        page.locator(".task", has=ticked(name)).get_by_role("link").click()

    go("buckets")
    shows(page, mode="sync")
    expect(ticked("buckets")).to_be_hidden()
    button(page, "分桶，边算边传").click()
    expect(ticked("buckets")).to_be_visible()
    go("hidden")
    shows(page, tokens=4096)
    page.locator("#overlap-tokens-slider").press("ArrowRight")
    page.locator("#overlap-tokens-slider").press("ArrowRight")
    expect(ticked("hidden")).to_be_visible()
    expect(readout(page, "hidden_share")).to_have_text("92.1%")
    go("even")
    shows(page, tokens=8192)
    page.locator("#overlap-tokens").fill("7590")
    page.locator("#overlap-tokens").press("Enter")
    expect(ticked("even")).to_be_visible()
    go("stub")
    shows(page, tokens=16_384)
    page.locator("#overlap-unused").select_option("absent")  # the link has unfolded it
    expect(ticked("stub")).to_be_visible()
    expect(readout(page, "exposed")).to_have_text("0.091 s")


@pytest.mark.parametrize("typed", ["-3", "2.5", "abc", "１２", "99999999"])
def test_a_bad_number_is_explained(lesson: Lesson, typed: str) -> None:
    """15, 41: a clear message, the last valid state, nothing on the console."""
    page = ready(lesson("?overlap.guess=skip&overlap.tokens=16384"))
    shows(page, tokens=16_384)
    box = page.locator("#overlap-tokens")
    box.fill(typed)
    box.press("Enter")
    notice = page.locator("#overlap-tokens-error")
    expect(notice).to_contain_text("每张卡的 token 数要填 0 到 10,000,000 之间的整数")
    expect(notice).to_contain_text("仍用 16384")
    expect(box).to_be_focused()
    expect(box).to_have_attribute("aria-invalid", "true")
    shows(page, tokens=16_384)


def test_a_change_moves_nothing(lesson: Lesson) -> None:
    """16: the focus stays, and so does the page."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    box = page.locator("#overlap-tokens")
    box.focus()
    top = page.evaluate("scrollY")
    for tokens in (5000, 9000, 0, 16_384):
        box.fill(str(tokens))
        box.press("Enter")
        shows(page, tokens=tokens)
        expect(box).to_be_focused()
        assert page.evaluate("scrollY") == top


def test_the_last_of_many_inputs_wins(lesson: Lesson) -> None:
    """19."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    page.locator("#overlap-more summary").click()
    moves = [n % 9 for n in range(30)] + [7]
    page.evaluate(SLIDE, ["#overlap-bandwidth-slider", *moves])
    page.evaluate(RELEASE, "#overlap-bandwidth-slider")
    shows(page, bandwidth=400)
    page.wait_for_timeout(300)
    shows(page, bandwidth=400)
    expect(page.locator("#overlap-bandwidth")).to_have_value("400")


def test_undo_and_reset(lesson: Lesson) -> None:
    """20: configurations, not places along the axis."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    button(page, "反向算完再同步").click()
    shows(page, mode="sync")
    button(page, "放大").click()
    shows(page, zoom=1)
    page.locator('#overlap [data-tool="undo"]').click()
    shows(page, mode="buckets", zoom=0)
    page.locator('#overlap [data-tool="reset"]').click()
    shows(page, guess="ask")
    page.keyboard.press("Control+z")
    shows(page, guess="skip", mode="buckets")


def test_bars_are_named_and_the_table_says_the_same(lesson: Lesson) -> None:
    """21: name, start, end, duration, content; the table one keystroke away."""
    page = ready(lesson("?overlap.guess=skip&overlap.tokens=16384"))
    shows(page, tokens=16_384)
    page.locator("#overlap .overlap-bar").first.focus()
    page.keyboard.press("t")
    rows = page.locator("#overlap .overlap-table tbody tr")
    expect(rows.first).to_be_visible()
    labels = page.locator("#overlap .overlap-bar").evaluate_all(
        "bars => bars.map(b => b.ariaLabel)"
    )
    cells = rows.evaluate_all("rows => rows.map(r => [...r.cells].map(c => c.textContent))")
    assert len(labels) == len(cells) > 10
    for label, (name, what, size, start, end, busy, late) in zip(labels, cells, strict=True):
        assert label.startswith(f"{name}：{start} 到 {end}，传 {busy}，{size}")
        assert label.endswith(what)
        assert (f"露在外面 {late}" in label) == (late != "没有")
    page.keyboard.press("t")
    expect(rows).to_have_count(0)


def test_what_is_pointed_at_lights_up_elsewhere(lesson: Lesson) -> None:
    """22: the same bucket in the table and in words; moving away clears it."""
    page = ready(lesson("?overlap.guess=skip&overlap.table=on"))
    rows = page.locator("#overlap .overlap-table tbody tr")
    expect(rows.first).to_be_visible()
    hint = page.locator("#overlap [data-hint]")
    quiet = hint.inner_text()
    bar = page.locator("#overlap .overlap-bar").nth(3)
    bar.hover()
    expect(rows.nth(3)).to_have_attribute("data-lit", "")
    expect(hint).to_have_text(bar.get_attribute("aria-label") or "")
    page.mouse.move(0, 0)
    expect(page.locator("#overlap [data-lit]")).to_have_count(0)
    expect(hint).to_have_text(quiet)
    bar.focus()
    expect(rows.nth(3)).to_have_attribute("data-lit", "")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#overlap .overlap-bar").nth(4)).to_be_focused()
    expect(rows.nth(4)).to_have_attribute("data-lit", "")
    rows.nth(6).hover()
    expect(page.locator("#overlap .overlap-bar").nth(6)).to_have_attribute("data-lit", "")


def test_from_bucket_to_bucket(lesson: Lesson) -> None:
    """Arrows go from bucket to bucket; what each holds and when it leaves stands there."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    page.locator("#overlap .overlap-bar").first.focus()
    page.keyboard.press("Enter")
    shows(page, bucket=0)
    expect(page.locator("#overlap .overlap-bar").first).to_be_focused()
    detail = page.locator("#overlap .overlap-bucket")
    expect(detail).to_contain_text("输出头的 lm_head")
    button(page, "下一桶").focus()
    page.keyboard.press("ArrowRight")
    shows(page, bucket=1)
    expect(detail).to_contain_text("第 63 层")
    page.keyboard.press("End")
    shows(page, bucket=405)
    expect(detail).to_contain_text("MTP")
    page.locator("#overlap-tokens-slider").press("End")
    shows(page, tokens=65_536, bucket=405)
    button(page, "不选").click()
    shows(page, bucket="")


def test_what_runs_now_is_said_calmly(lesson: Lesson) -> None:
    """23: at most one announcement in half a second, and the last one is true."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    listen(page)
    slider = page.locator("#overlap-time")
    slider.focus()
    for _ in range(24):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    page.wait_for_timeout(1_200)
    said = page.evaluate("said")
    times = [at for at, _ in said]
    assert 1 <= len(said) <= 10
    assert all(b - a >= 499 for a, b in itertools.pairwise(times))
    now = page.locator("#overlap .overlap-now p").inner_text().replace(" ", "")
    assert "反向在算" in now
    assert now.split("s", 1)[1] in said[-1][1].replace(" ", "")


def test_fields_are_pairs_with_units(lesson: Lesson) -> None:
    """24: slider and box say the same; a value between the stops may be typed."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    page.locator("#overlap-more summary").click()
    for name, unit in [
        ("tokens", "个"),
        ("cards", "张"),
        ("bandwidth", "GB/s"),
        ("latency", "µs"),
        ("flops", "TFLOPS"),
        ("cap", "MiB"),
    ]:
        slider = page.locator(f"#overlap-{name}-slider")
        box = page.locator(f"#overlap-{name}")
        expect(box.locator("xpath=..")).to_contain_text(unit)
        values = (slider.get_attribute("data-values") or "").split()
        for key, value in [("End", values[-1]), ("Home", values[0])]:
            slider.press(key)
            expect(box).to_have_value(value)
    expect(page.locator("#overlap [data-says]")).to_contain_text("只有一张卡")
    box = page.locator("#overlap-bandwidth")
    box.fill("不限")
    box.press("Enter")
    shows(page, bandwidth="inf")
    expect(page.locator("#overlap-bandwidth-slider")).to_have_attribute("aria-valuetext", "不限")


@pytest.mark.parametrize("calm", [False, True])
def test_switching_glides(browser: Browser, origin: str, calm: bool) -> None:
    """26, 50: from the old place to the new, unless readers want no motion."""
    motion = "reduce" if calm else "no-preference"
    context = browser.new_context(locale="zh-CN", reduced_motion=motion)
    page = context.new_page()
    page.goto(origin + LESSON)
    page.evaluate("""() => {
        globalThis.glides = [];
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...how) {
            glides.push(this.dataset.glide);
            return animate.apply(this, how);
        };
    }""")
    button(page, "分桶，边算边传").click()
    expect(readout(page, "exposed")).to_have_text("0.95 s")
    assert page.evaluate("glides") == ([] if calm else ["sent"])
    page.locator("#overlap-tokens-slider").press("ArrowRight")
    shows(page, tokens=8192)
    assert page.evaluate("glides.length") == (0 if calm else 1)  # a slider is followed at once
    context.close()


def test_a_ghost_to_compare_with(lesson: Lesson) -> None:
    """27: pinned behind what comes next; clearing it leaves one layer."""
    page = ready(lesson("?overlap.guess=skip&overlap.mode=sync"))
    shows(page, mode="sync")
    button(page, "记住，作对照").click()
    expect(page.locator("#overlap .ghost rect")).to_have_count(3)
    button(page, "分桶，边算边传").click()
    shows(page, mode="buckets")
    expect(page.locator(f"{TILES} .late")).to_contain_text("对照 1.94 s")
    expect(page.locator("#overlap .ghost .late")).to_have_count(1)
    text = page.locator("#overlap [data-view]").inner_text()
    assert "overlap.pin=" in page.url
    page.reload()
    expect(page.locator("#overlap .ghost rect")).to_have_count(3)
    assert page.locator("#overlap [data-view]").inner_text() == text
    button(page, "不再对照").click()
    expect(page.locator("#overlap .ghost rect")).to_have_count(0)


def test_zoom_and_pan(lesson: Lesson) -> None:
    """28, 49: by buttons and by keys; the page keeps its own wheel and gestures."""
    page = ready(lesson("?overlap.guess=skip&overlap.tokens=16384"))
    shows(page, tokens=16_384)
    expect(button(page, "缩小")).to_have_attribute("aria-disabled", "true")
    button(page, "放大").click()
    shows(page, zoom=1)
    expect(button(page, "放大")).to_be_focused()
    page.keyboard.press("+")
    shows(page, zoom=2)
    before = page.locator("#overlap .overlap-bar").first.get_attribute("aria-label")
    page.keyboard.press("]")
    expect(page.locator("#overlap .overlap-bar").first).not_to_have_attribute(
        "aria-label", before or ""
    )
    page.keyboard.press("0")
    shows(page, zoom=0, **{"from": 0})
    button(page, "只看红的").click()
    shows(page, zoom=4, **{"from": 61_440})
    expect(page.locator("#overlap .overlap-bar").last).to_have_attribute(
        "aria-label", re.compile("露在外面 .*MTP")
    )
    touch = page.evaluate("""getComputedStyle(
        document.querySelector("#overlap .overlap-picture")).touchAction""")
    assert touch == "auto"


@pytest.mark.parametrize("width", [320, 360, 1280])
@pytest.mark.parametrize("query", ["overlap.tokens=16384", "overlap.bucket=1&overlap.table=on"])
def test_it_scrolls_inside_its_own_frame(lesson: Lesson, width: int, query: str) -> None:
    """29, 48, 68."""
    page = lesson()
    page.set_viewport_size({"width": width, "height": 900})
    page = ready(lesson(f"?overlap.guess=skip&{query}"))
    shows(page, guess="skip")
    page.locator("#overlap-more summary").click()
    assert spare(page) <= 0
    lanes = page.locator("#overlap .overlap-time .lw-scroll")
    expect(lanes).to_have_attribute("tabindex", "0")
    expect(lanes).to_have_attribute("aria-label", re.compile("时间线"))
    wide = lanes.evaluate("e => e.scrollWidth > e.clientWidth")
    assert wide == (width < 360)  # where a phone has room, nothing scrolls
    small = page.locator("#overlap").evaluate("""widget => {
        const small = [];
        const walk = document.createTreeWalker(widget, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {
            const at = walk.currentNode.parentElement;
            if (!walk.currentNode.textContent.trim() || !at.checkVisibility()) continue;
            if (at.closest(".panels, noscript, [hidden]")) continue;
            const size = parseFloat(getComputedStyle(at).fontSize);
            if (size && size < 12) small.push(at.outerHTML);
        }
        return small;
    }""")
    assert small == []
    targets = page.locator("#overlap :is(button:not(.q), input, select, summary):visible")
    boxes = targets.evaluate_all(
        "all => all.map(e => [e.id || e.className, e.getBoundingClientRect()])"
        ".map(([id, r]) => [id, r.width, r.height])"
    )
    assert [b for b in boxes if b[1] < 23.5 or b[2] < 23.5] == []
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_address_is_the_state(page: Page, origin: str) -> None:
    """39, 40, 67."""
    address = origin + LESSON + "?overlap.guess=skip"
    page.goto(address)
    depth = page.evaluate("history.length")
    page.locator("#overlap-tokens-slider").press("End")
    shows(page, tokens=65_536)
    button(page, "反向算完再同步").click()
    shows(page, mode="sync")
    expect(page).to_have_url(re.compile(r"overlap\.mode=sync.*overlap\.tokens=65536"))
    assert page.evaluate("history.length") == depth
    text = page.locator("#overlap [data-view]").inner_text()
    page.goto(page.url)
    shows(page, mode="sync", tokens=65_536)
    assert page.locator("#overlap [data-view]").inner_text() == text


def test_one_sentence_for_those_who_listen(lesson: Lesson) -> None:
    """53."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    listen(page)
    page.locator("#overlap-tokens").fill("16384")
    page.locator("#overlap-tokens").press("Enter")
    shows(page, tokens=16_384)
    page.wait_for_timeout(700)
    said = [text for _, text in page.evaluate("said")]
    assert len(said) == 1
    assert said[0].startswith("反向 4.20 s，通信 1.94 s；藏住了 92.1%")


def test_theme_keys_do_nothing_else(lesson: Lesson) -> None:
    """7."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    page.locator("#overlap .overlap-bar").first.focus()
    address = page.url
    for key in ("n", "p", ",", ".", "s", "f", "/"):
        page.keyboard.press(key)
    assert page.url == address
    expect(page.locator(".md-search__input")).not_to_be_focused()


def test_a_figure_has_its_provenance(lesson: Lesson) -> None:
    """63."""
    page = ready(lesson("?overlap.guess=skip"))
    shows(page, guess="skip")
    readout(page, "hidden_share").click()
    panel = page.locator("#overlap .panel:popover-open")
    expect(panel).to_contain_text("通信里藏在反向下面的比例")
    expect(panel).to_contain_text("t_comm".replace("_", ""))
    page.keyboard.press("Escape")
    expect(readout(page, "hidden_share")).to_be_focused()


def test_the_trace_is_a_file(lesson: Lesson, tmp_path: Path) -> None:
    """What Perfetto opens: Python's own, whatever the state."""
    page = ready(lesson("?overlap.guess=skip&overlap.tokens=16384"))
    shows(page, tokens=16_384)
    with page.expect_download() as download:
        button(page, "下载轨迹（Perfetto）").click()
    assert download.value.suggested_filename == "qwen3.8-27b-8x16384.trace.json"
    file = tmp_path / "trace.json"
    download.value.save_as(file)
    asked = {"widget": "overlap", "query": "tokens=16384", "export": "trace"}
    written = json.loads(widgets.answer(json.dumps(asked)))["text"]
    assert file.read_text(encoding="utf-8") == written


def test_two_thousand_tensors_and_more(lesson: Lesson) -> None:
    """DeepSeek-V3's 45,688 buckets: little is drawn, and all can be reached."""
    page = ready(lesson("?overlap.guess=skip&overlap.model=deepseek-v3"))
    shows(page, model="deepseek-v3")
    expect(readout(page, "buckets")).to_have_text("45,688")
    assert page.locator("#overlap .overlap-picture *").count() < 200
    for zoom in range(1, 14):
        page.locator("#overlap-view-in").press("Enter")
        shows(page, zoom=zoom)
    page.keyboard.press("]")
    named = page.locator("#overlap .overlap-bar").last.get_attribute("aria-label") or ""
    assert "共" not in named


STATES = {
    "prompt": "",
    "notice": "overlap.guess=skip&overlap.tokens=x&overlap.bandwidth=0",
    "guessed": "overlap.guess=none",
    "chosen, with table and ghost": "overlap.guess=skip&overlap.bucket=30&overlap.table=on"
    "&overlap.pin=mode%3Dsync&overlap.time=30000",
    "zoomed": "overlap.guess=skip&overlap.tokens=16384&overlap.zoom=4&overlap.from=61440",
    "problem": "overlap.guess=skip&overlap.unused=error",
    "several backwards": "overlap.guess=skip&overlap.accumulation=3&overlap.no_sync=off",
    "nothing to hide": "overlap.guess=skip&overlap.cards=1&overlap.tokens=0",
}


def taken(page: Page, query: str) -> None:
    """Until the widget has the state of a link."""
    page.evaluate(TAKE, query)
    own = [(k.removeprefix("overlap."), v) for k, v in parse_qsl(query)]
    full = parse(FIELDS, urlencode(own)).full_query()
    expect(page.locator("#overlap [data-frame]")).to_have_attribute("data-full", full)


CROWDED = """() => {
    const words = [...document.querySelectorAll("#overlap .overlap-picture text")]
        .filter((word) => word.checkVisibility())
        .map((word) => [word.textContent, word.getBoundingClientRect()]);
    const meet = (a, b) => a.left < b.right && b.left < a.right
        && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    return words.flatMap(([one, a], i) => words.slice(i + 1)
        .filter(([, b]) => meet(a, b)).map(([other]) => `${one} / ${other}`));
}"""


@pytest.mark.parametrize("width", [360, 1280])
def test_ux_68_no_word_of_the_timeline_covers_another(lesson: Lesson, width: int) -> None:
    page = lesson()
    page.set_viewport_size({"width": width, "height": 900})
    ready(page)
    between = "overlap.guess=skip&overlap.tokens=8192&overlap.zoom=2&overlap.from=20000"
    for query in (*STATES.values(), between):
        taken(page, query)
        assert page.evaluate(CROWDED) == [], query
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_no_rule_of_accessibility_is_broken(
    browser: Browser, origin: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    """47."""
    context = browser.new_context(
        locale="zh-CN",
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(origin + LESSON)
    ready(page)
    for name, query in STATES.items():
        taken(page, query)
        page.evaluate("document.querySelector('#overlap-more').open = true")
        assert violations(page, "#overlap") == [], name
        assert spare(page) <= 0, name
    context.close()


def test_frames_of_the_build_are_the_browsers(lesson: Lesson) -> None:
    """59, 61."""
    page = ready(lesson("?overlap.guess=skip"))
    shipped = until(page, "lessonFrames.overlap")
    assert sorted(shipped.values()) == sorted(
        widgets.render("overlap", q, base="../") for q in walk()
    )
