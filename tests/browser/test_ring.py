"""Readers on the built site: the stepper, from the first click to a shared link."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, expect

import widgets
from py_core.schedules import SCHEMES
from tests.browser.conftest import SUB_PATH, Lesson, Watch
from tests.browser.reader import (
    LESSON,
    at_step,
    button,
    cells,
    frame_text,
    listen,
    opened,
    ready,
    set_cards,
    shows,
    take,
    until,
)
from tests.conftest import ROOT
from widgets.ring.widget import walk


def test_naive_to_the_end(lesson: Lesson) -> None:
    page = lesson()
    page.get_by_role("button", name="朴素").click()
    at_step(page, 0, 6)
    for step in range(1, 7):
        button(page, "下一步").click()
        at_step(page, step, 6)
    assert cells(page, "received") == [12, 4, 4, 4]  # N−1 = 3 times the others
    assert cells(page, "largest") == [0]


def test_ring_to_the_end(lesson: Lesson) -> None:
    page = lesson()
    for step in range(1, 7):
        button(page, "下一步").click()
        at_step(page, step, 6)
        assert cells(page, "sent") == cells(page, "received") == [step] * 4
    expect(page.get_by_text("验算通过")).to_be_visible()
    assert cells(page, "largest") == [0]
    assert cells(page, "difference") == [0] * 4


def test_eight_cards_by_python(lesson: Lesson) -> None:
    page = lesson()
    set_cards(page, 8)
    at_step(page, 0, 14)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    button(page, "最后").click()
    at_step(page, 14, 14)
    assert cells(page, "sent") == [14] * 8
    assert cells(page, "largest") == [0]
    expect(page.locator("#ring-n")).to_have_value("8")


def test_the_first_steps_need_no_python(page: Page, origin: str, watch: Watch) -> None:
    page.route("**/*.wasm", lambda route: route.abort())
    page.route("**/python.*.json", lambda route: route.abort())
    opened(page, origin + LESSON)
    button(page, "最后").click()
    at_step(page, 6, 6)
    button(page, "上一步").click()
    at_step(page, 5, 6)
    # What Python would be needed for says so, keeps the frame, and offers a retry.
    set_cards(page, 8)
    expect(page.locator("#ring [data-status]")).to_contain_text("Python 没能载入")
    at_step(page, 5, 6)
    expect(page.locator("#ring-n")).to_have_value("4")
    page.unroute("**/*.wasm")
    page.unroute("**/python.*.json")
    page.locator("#ring").get_by_role("button", name="再试一次").click()
    at_step(page, 0, 14)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    expect(page.locator("#ring-n")).to_have_value("8")
    watch.messages[:] = [m for m in watch.messages if "net::ERR_FAILED" not in m]


def test_built_frames_are_the_browsers_frames(lesson: Lesson) -> None:
    """Law 2: the same bytes, whichever Python rendered them."""
    page = lesson()
    ready(page)
    queries = [
        *walk(),
        "n=16&step=30",
        "n=5&seed=0&step=4",
        "n=abc&was=n%3D3",
        *(f"mode={mode}&n=7&step=1&with=ring" for mode in SCHEMES),
        "predict=on&step=2&guess=3",
    ]
    ask = """async (query) => (await lessonPython(document.querySelector("#ring")
        .getAttribute("runtime")).ask({widget: "ring", query, id: "ring", base: "../"})).html"""
    for query in queries:
        assert page.evaluate(ask, query) == widgets.render("ring", query, base="../"), query
    shipped = until(page, "lessonFrames.ring")
    assert sorted(shipped.values()) == sorted(widgets.render("ring", q, base="../") for q in walk())


def test_previous_is_the_inverse_of_next(lesson: Lesson) -> None:
    page = lesson()
    before = frame_text(page)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    assert frame_text(page) != before
    button(page, "上一步").click()
    at_step(page, 0, 6)
    assert frame_text(page) == before


def test_undo_restores_the_former_configuration(lesson: Lesson) -> None:
    page = lesson()
    undo = page.locator("#ring").get_by_role("button", name="撤销")
    expect(undo).to_have_attribute("aria-disabled", "true")
    button(page, "下一步").click()
    button(page, "下一步").click()
    at_step(page, 2, 6)
    before = frame_text(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.locator("#ring").get_by_role("button", name="朴素").click()
    shows(page, mode="naive", n=8, step=0)
    undo.click()
    shows(page, mode="ring", n=8, step=0)
    undo.click()
    at_step(page, 2, 6)
    assert frame_text(page) == before
    expect(undo).to_have_attribute("aria-disabled", "true")


def test_reset_can_be_undone(lesson: Lesson) -> None:
    page = lesson("?ring.n=5&ring.step=3")
    at_step(page, 3, 8)
    button(page, "恢复默认").click()
    at_step(page, 0, 6)
    button(page, "撤销").click()
    at_step(page, 3, 8)


def test_twenty_levels_of_undo(lesson: Lesson) -> None:
    page = lesson()
    for seed in range(100, 122):
        page.locator("#ring-seed").fill(str(seed))
        page.locator("#ring-seed").press("Enter")
        shows(page, seed=seed)
    for seed in range(120, 99, -1):
        button(page, "撤销").click()
        shows(page, seed=seed)


def test_reload_and_a_pasted_link_restore_the_state(
    page: Page, origin: str, browser: Browser
) -> None:
    opened(page, origin + LESSON)
    set_cards(page, 6)
    at_step(page, 0, 10)
    for _ in range(3):
        button(page, "下一步").click()
    at_step(page, 3, 10)
    expect(page).to_have_url(origin + LESSON + "?ring.n=6&ring.step=3")
    text, link = frame_text(page), page.url
    page.reload()
    at_step(page, 3, 10)
    assert frame_text(page) == text
    elsewhere = browser.new_context()
    pasted = elsewhere.new_page()
    pasted.goto(link)
    at_step(pasted, 3, 10)
    assert frame_text(pasted) == text
    elsewhere.close()


def test_typing_and_stepping_at_once_can_be_undone(lesson: Lesson) -> None:
    page = lesson()
    page.locator("#ring-n").fill("7")
    button(page, "下一步").click()
    at_step(page, 1, 12)
    button(page, "撤销").click()
    at_step(page, 0, 6)


def test_two_quick_undos_take_back_two(lesson: Lesson) -> None:
    page = lesson()
    for n in (9, 10, 11):
        set_cards(page, n)
        at_step(page, 0, 2 * (n - 1))
    undo = page.locator("#ring").get_by_role("button", name="撤销")
    # Not by pointer: the frame in between is less high, and where it is there first, it moves
    # the button away.
    undo.evaluate("button => { button.click(); button.click(); }")
    at_step(page, 0, 16)
    page.evaluate("""() => {
        for (let i = 0; i < 4; i++) document.querySelector('#ring [data-tool="undo"]').click();
    }""")
    at_step(page, 0, 6)
    expect(undo).to_have_attribute("aria-disabled", "true")


def test_any_key_on_a_button_is_harmless(lesson: Lesson) -> None:
    page = lesson()
    page.locator("#ring").get_by_role("button", name="下一步").focus()
    for key in ['"', "\\", "]", "'", "F2", "Delete", "PageDown"]:
        page.keyboard.press(key)
    at_step(page, 0, 6)


def test_a_late_boot_does_not_disturb_the_next(page: Page, origin: str) -> None:
    """A boot that was given up must not kill, or double, the one that took its place."""
    held = []
    page.route("**/python.*.json", lambda route: held.append(route))  # noqa: PLW0108
    page.clock.install()
    opened(page, origin + LESSON)
    set_cards(page, 8)
    expect(page.locator("#ring")).to_have_attribute("python", "loading")
    page.clock.run_for(31_000)
    expect(page.locator("#ring")).to_have_attribute("python", "failed")
    page.unroute("**/python.*.json")
    retry = page.locator("#ring").get_by_role("button", name="再试一次")
    retry.focus()
    page.keyboard.press("Enter")
    at_step(page, 0, 14)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    assert page.evaluate("document.activeElement !== document.body")
    for route in held:
        with contextlib.suppress(Error):  # where the browser has given the request up too
            route.continue_()
    page.wait_for_timeout(500)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    assert len([w for w in page.workers if "/assets/lesson/" in w.url]) == 1


def test_wasm_of_the_wrong_type_is_said_at_once(page: Page, origin: str, watch: Watch) -> None:
    page.route("**/*.wasm", lambda r: r.fulfill(body=b"x", content_type="text/html"))
    opened(page, origin + LESSON)
    set_cards(page, 8)
    expect(page.locator("#ring [data-status]")).to_contain_text("Python 没能载入", timeout=20_000)
    watch.messages.clear()  # Pyodide and Chromium complain, rightly


def test_other_parts_of_the_address_stay(lesson: Lesson, origin: str) -> None:
    page = lesson("?cards=64&ring.step=2#stepper")
    at_step(page, 2, 6)
    button(page, "下一步").click()
    at_step(page, 3, 6)
    expect(page).to_have_url(origin + LESSON + "?cards=64&ring.step=3#stepper")
    button(page, "最前").click()
    at_step(page, 0, 6)
    expect(page).to_have_url(origin + LESSON + "?cards=64#stepper")


def test_back_leaves_the_page_in_one_press(page: Page, origin: str) -> None:
    page.goto(origin + "/")
    opened(page, origin + LESSON)
    for step in range(1, 4):
        button(page, "下一步").click()
        at_step(page, step, 6)
    page.go_back()
    expect(page).to_have_url(origin + "/")
    page.go_forward()
    at_step(page, 3, 6)


@pytest.mark.parametrize("typed", ["1", "0", "-3", "2.5", "abc", "１２", "17"])
def test_a_bad_number_says_so_and_changes_nothing(lesson: Lesson, origin: str, typed: str) -> None:
    page = lesson("?ring.step=2")
    at_step(page, 2, 6)
    ready(page)
    set_cards(page, typed)
    notice = page.locator("#ring .lw-notice")
    expect(notice).to_contain_text("卡数 N 要填 2 到 16 之间的整数")
    expect(page.locator("#ring-n")).to_have_value(typed)
    at_step(page, 2, 6)
    expect(page).to_have_url(origin + LESSON + "?ring.step=2")
    button(page, "下一步").click()
    at_step(page, 3, 6)
    expect(notice).to_have_count(0)


def test_a_bad_link_says_so(lesson: Lesson) -> None:
    page = lesson("?ring.n=99&ring.bogus=1")
    expect(page.locator("#ring .lw-notice")).to_have_count(2)
    at_step(page, 0, 6)


def test_keys(lesson: Lesson) -> None:
    page = lesson()
    button = page.locator("#ring").get_by_role("button", name="下一步")
    button.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    at_step(page, 2, 6)
    expect(button).to_be_focused()
    page.keyboard.press("ArrowLeft")
    at_step(page, 1, 6)
    page.keyboard.press("End")
    at_step(page, 6, 6)
    expect(button).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Home")
    at_step(page, 0, 6)
    expect(button).to_be_focused()
    address = page.url
    for key in "np,.sf/":
        page.keyboard.press(key)
    expect(page).to_have_url(address)
    expect(page.locator("#__search")).not_to_be_checked()


def test_rapid_changes_end_in_the_last(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    page.evaluate("""() => {
        const box = document.querySelector("#ring-n");
        for (let i = 0; i < 30; i++) {
            document.querySelector("#ring-n").value = String(2 + (i % 15));
            box.form.requestSubmit();
        }
    }""")
    at_step(page, 0, 30)  # 2 + 29 % 15 = 16 cards
    page.wait_for_timeout(500)
    at_step(page, 0, 30)
    expect(page.locator("#ring-n")).to_have_value("16")


def test_a_config_that_would_kill_python_does_not(lesson: Lesson) -> None:
    """Fifty thousand nested brackets would end this interpreter for good."""
    page = lesson()
    ready(page)
    ask = """async (text) => await lessonPython(document.querySelector("#ring")
        .getAttribute("runtime")).ask({config: text})"""
    answer = page.evaluate(ask, "[" * 50_000)
    assert "64" in answer["error"]["says"]
    gpt2 = (ROOT / "docs/data/models/gpt2.json").read_text(encoding="utf-8")
    assert page.evaluate(ask, gpt2)["total"] == "124,439,808"
    set_cards(page, 9)
    at_step(page, 0, 16)


def test_a_step_is_announced_once(lesson: Lesson) -> None:
    page = lesson()
    listen(page)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    said = page.evaluate("said")
    assert len(said) == 1
    assert said[0].startswith("第 1 步，共 6 步。第一段 reduce-scatter：边传边加。每张卡发出一块")


@pytest.mark.parametrize(("width", "n"), [(390, 4), (1280, 8)])
@pytest.mark.parametrize("mode", ["naive", "ring"])
def test_the_whole_table_is_in_sight(
    browser: Browser, origin: str, width: int, n: int, mode: str
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = opened(context.new_page(), origin + LESSON)
    for step in (0, 1, n, 2 * (n - 1)):
        take(page, f"ring.n={n}&ring.mode={mode}&ring.step={step}")
        at_step(page, step, 2 * (n - 1))
        spare = "e => [e.scrollWidth - e.clientWidth, ...[...e.querySelectorAll('td, th')]" + (
            ".map(c => c.scrollWidth - c.clientWidth)]"
        )
        assert max(page.locator("#ring .ring-checked > .lw-scroll").evaluate(spare)) <= 0
    context.close()


def test_under_a_sub_path(page: Page, origin: str) -> None:
    opened(page, origin + SUB_PATH + "data-parallel/")
    button(page, "下一步").click()
    at_step(page, 1, 6)
    set_cards(page, 3)
    at_step(page, 0, 4)
    expect(page).to_have_url(origin + SUB_PATH + "data-parallel/?ring.n=3")


def test_without_javascript(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + LESSON)
    tables = page.locator("table.ring-table:visible")
    assert tables.count() == 3  # the first frame, and how both modes end
    assert page.locator("#ring noscript").count() == 1
    # The text engine passes over <noscript>, so by class.
    assert [
        v.startswith("验算通过") for v in page.locator("#ring .ring-verdict").all_inner_texts()
    ] == [
        False,
        True,
        True,
    ]
    for figure in ("27,781,427,952", "444.5 GB", "97.2 GB", "109.4 GB", "388.9 GB", "3,500 GB"):
        expect(page.locator("button.q", has_text=figure).first).to_be_visible()
    expect(page.locator("#ring").get_by_role("button", name="下一步")).to_have_count(0)
    context.close()


def test_from_the_file_system(browser: Browser, site: Path) -> None:
    """Opened as a file, prerendered frames step and the rest says that it cannot."""
    context: BrowserContext = browser.new_context()
    page = context.new_page()
    said: list[str] = []
    # The theme looks for an offline search index; all else is ours, and is silent.
    page.on(
        "console",
        lambda m: "search_index.js" in m.location["url"] or said.append(m.text),
    )
    page.goto((site / "data-parallel/index.html").as_uri())
    button(page, "下一步").click()
    at_step(page, 1, 6)
    button(page, "最后").click()
    at_step(page, 6, 6)
    set_cards(page, 8)
    expect(page.locator("#ring [data-status]")).to_contain_text("从文件打开的页面")
    at_step(page, 6, 6)
    assert said == []
    context.close()


def test_boot_manifest_names_only_files_of_the_site(site: Path) -> None:
    (manifest,) = site.glob("assets/lesson/python.*.json")
    boot = json.loads(manifest.read_text())
    assert manifest.with_suffix(".mjs").is_file()
    for path in boot["files"]:
        assert (manifest.parent / path).is_file(), path
    for text in site.rglob("*.html"):
        assert not re.search(r'(?:src|href)="//', text.read_text(encoding="utf-8"))


def test_ux_14_another_scheme_keeps_n_and_the_data(lesson: Lesson) -> None:
    page = lesson("?ring.n=6&ring.seed=3&ring.step=4")
    at_step(page, 4, 10)
    answers = page.locator("#ring .ring-sum")
    before = answers.all_inner_texts()
    listen(page)
    for mode, title in (
        ("naive", "朴素"),
        ("reduce-scatter", "只做 reduce-scatter"),
        ("tree", "二项树"),
    ):
        page.locator(f"#ring-mode-{mode}").click()
        shows(page, mode=mode, n=6, seed=3, step=0)
        assert answers.all_inner_texts() == before
        expect(page.locator("#ring .ring-picture")).to_have_accessible_name(re.compile(title))
    said = page.evaluate("said")
    assert len(said) == 3
    assert all(words.startswith("第 0 步，共 ") for words in said)


def test_ux_15_uneven_blocks_are_counted_in_numbers(lesson: Lesson) -> None:
    page = lesson("?ring.n=5")
    at_step(page, 0, 8)
    box = page.locator("#ring-elements")
    expect(box).to_have_attribute("placeholder", "5")
    box.fill("17")
    box.press("Enter")
    shows(page, elements=17)
    button(page, "最后").click()
    at_step(page, 8, 8)
    assert cells(page, "sent") == [27, 28, 28, 27, 26]
    expect(page.locator("#ring [data-total]")).to_have_text("136 个数")
    box.fill("4")
    box.press("Enter")
    expect(page.locator("#ring .lw-notice")).to_contain_text("N 到 96 之间的整数")
    at_step(page, 8, 8)
    box.fill("")
    box.press("Enter")
    shows(page, elements=0)
    expect(page.locator("#ring .lw-notice")).to_have_count(0)


def test_ux_20_control_z_takes_back(lesson: Lesson) -> None:
    page = lesson()
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.locator("#ring-next").focus()
    page.keyboard.press("Control+z")
    at_step(page, 0, 6)
    page.locator("#ring-n").focus()
    page.keyboard.press("Control+z")  # while typing it is the field's own
    at_step(page, 0, 6)


def test_ux_36_a_guess_is_answered_and_survives_stepping(lesson: Lesson) -> None:
    page = lesson()
    page.locator("#ring-predict").click()
    box = page.locator("#ring .ring-guess")
    expect(box).to_contain_text("会把哪一块发给")
    page.locator("#ring-guess-0").click()
    expect(box).to_contain_text("你猜块 0")
    expect(box).to_contain_text(re.compile("对了|其实是块"))
    expect(page.locator("#ring-guess-0")).to_be_focused()
    button(page, "下一步").click()
    at_step(page, 1, 6)
    expect(box).to_contain_text("共猜 1 次")
    button(page, "下一步").click()  # without a guess
    at_step(page, 2, 6)
    expect(box).to_contain_text("共猜 1 次")
    button(page, "最后").click()
    at_step(page, 6, 6)
    button(page, "上一步").click()
    expect(box).to_contain_text("共猜 1 次")
    expect(page).to_have_url(re.compile(r"ring\.asked=1"))


def test_ux_43_back_from_the_cache_there_is_one_of_everything(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    set_cards(page, 8)
    at_step(page, 0, 14)
    for _ in range(2):
        page.goto(origin + "/")
        page.go_back()
        at_step(page, 0, 14)
    listen(page)
    button(page, "下一步").click()
    at_step(page, 1, 14)
    assert len(page.evaluate("said")) == 1
    assert len([w for w in page.workers if "/assets/lesson/" in w.url]) <= 1


def test_ux_60_link_and_data_can_be_copied(page: Page, origin: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, origin + LESSON)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    button(page, "复制数据").click()
    expect(page.locator("#ring [data-status]")).to_have_text("数据已复制，可以贴进表格")
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "# 环形 all-reduce，4 张卡，第 1 步，共 6 步；收发按块计"
    assert lines[1].startswith("卡,已发（块）,已收（块）,最大差,块 0")
    assert [line.split(",")[1] for line in lines[2:6]] == ["1"] * 4
    assert "种子 7" in lines[-1]
    expect(page.locator("#scale").get_by_role("button", name="复制数据")).to_have_count(0)
    button(page, "复制链接").click()
    expect(page.locator("#ring [data-status]")).to_have_text("链接已复制")
    assert page.evaluate("navigator.clipboard.readText()") == f"{origin}{LESSON}?ring.step=1"
