"""Play, scrubber, keys and travelling blocks, on the built site and on a page of our own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from urllib.parse import urlencode

import pytest
from markupsafe import Markup
from playwright.sync_api import Browser, BrowserContext, Page, expect

from build_tools.assets import SCRIPTS
from tests.browser.conftest import Lesson
from tests.browser.reader import (
    LESSON,
    NO_ANSWER,
    RELEASE,
    SLIDE,
    SLOW_PYTHON,
    at_step,
    button,
    listen,
    opened,
    ready,
    set_cards,
    until,
)
from tests.conftest import ROOT
from widgets.environment import environment

LAST = 6  # steps of the ring's first frame: 4 cards


def still(page: Page, address: str) -> Page:
    """The page with its clock stopped: time passes only where a test lets it."""
    page.clock.install(time=0)
    opened(page, address)
    page.clock.pause_at(60)
    return page


def play(page: Page) -> None:
    page.locator("#ring [data-play]").click()


def playing(page: Page, yes: bool = True) -> None:
    button = page.locator("#ring [data-play]")
    expect(button).to_have_accessible_name("暂停" if yes else "播放")


def interval(page: Page) -> int:
    chosen = page.locator("#ring [data-speed] option:checked")
    return int(chosen.get_attribute("data-interval") or "")


def slider(page: Page):
    return page.locator("#ring-step")


READY = """lessonPython = () => Object.assign(new EventTarget(),
    {stage: "ready", reason: "", loaded: 1, total: 1, boot() {}});"""


def fixture(page: Page, origin: str, query: str = "") -> None:
    """A page with a small widget: ``step`` is its cursor, ``size`` and ``bare`` are not."""

    def key(step: int, size: int, bare: int) -> str:
        return urlencode({"bare": bare, "size": size, "step": step})

    player = environment().get_template("player.html").render(id="ring")

    def frame(step: int, size: int, bare: int) -> str:
        buttons = (
            ("first", "最前", 0, "Home"),
            ("back", "上一步", max(step - 1, 0), "ArrowLeft"),
            ("next", "下一步", min(step + 1, LAST), "ArrowRight"),
        )
        steps = "".join(
            f'<button id="ring-{name}" name="go" value="step={to}" data-key="{press}"'
            f"{' aria-disabled=true' if to == step else ''}>{label}</button>"
            for name, label, to, press in buttons
        )
        return (
            f'<form data-frame data-full="{key(step, size, bare)}" data-cursor="step=0">'
            f'<button id="ring-bare" name="bare" value="{1 - bare}">bare</button>'
            f'<button id="ring-there" name="go" value="size=3&amp;step=2">there</button>'
            f"{'' if bare else steps + player}"
            f'<input id="ring-step" type="range" data-field="step" max="{LAST}" value="{step}">'
            '<input id="ring-size" type="range" data-field="size" data-values="1 2 3 4"'
            f' max="3" value="{size - 1}">'
            f'<input id="ring-box" name="size" inputmode="numeric" value="{size}">'
            f'<p class="ring-counter" data-says>第 {step} 步，共 {LAST} 步</p>'
            '<svg width="90" height="20"><rect width="9" height="9"><animateMotion data-travel '
            f'begin="indefinite" dur="5s" path="M {step} 0 L 9 0"/></rect></svg></form>'
        )

    states = [(t, n, b) for t in range(LAST + 1) for n in range(1, 5) for b in (0, 1)]
    frames = {"ring": {key(*state): frame(*state) for state in states}}
    element = (
        environment()
        .get_template("element.html")
        .render(
            name="ring",
            id="ring",
            label="ring",
            base="/",
            runtime="",
            frames_src="",
            first=Markup(frame(0, 1, 0)),
            still=[],
        )
    )
    scripts = [json.dumps(frames).join(("lessonFrames = ", ";")), READY]
    scripts += [(ROOT / s).read_text() for s in SCRIPTS if "python" not in s]
    body = element + "".join(f"<script>{s}</script>" for s in scripts)
    head = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">'
    page.route(
        f"{origin}/page.html*",
        lambda route: route.fulfill(body=f"{head}<body>{body}", content_type="text/html"),
    )
    opened(page, f"{origin}/page.html{query}")


# Play (UX 8, 9, 50, 53)


@pytest.mark.parametrize("speed", ["slow", "medium", "fast"])
def test_play_keeps_the_chosen_pace_and_stops_at_the_end(stopped: Lesson, speed: str) -> None:
    page = stopped()
    page.locator("#ring [data-speed]").select_option(speed)
    pace = interval(page)
    play(page)
    playing(page)
    at_step(page, 1, LAST)
    for step in range(2, LAST + 1):
        page.clock.run_for(int(pace * 0.8))
        at_step(page, step - 1, LAST)
        page.clock.run_for(pace - int(pace * 0.8))
        at_step(page, step, LAST)
    playing(page, False)
    page.clock.run_for(10 * pace)
    at_step(page, LAST, LAST)
    play(page)  # from the end: once more from the start
    at_step(page, 0, LAST)
    page.clock.run_for(pace)
    at_step(page, 1, LAST)
    playing(page)


def test_three_speeds_that_differ(lesson: Lesson) -> None:
    page = lesson()
    options = page.locator("#ring [data-speed] option")
    assert options.all_inner_texts() == ["慢", "中", "快"]
    paces = options.evaluate_all("all => all.map(o => Number(o.dataset.interval))")
    assert all(a >= 1.5 * b for a, b in pairwise(paces))
    expect(page.locator("#ring").get_by_label("速度")).to_have_value("medium")


def test_a_new_speed_counts_at_once(stopped: Lesson) -> None:
    page = stopped()
    page.locator("#ring [data-speed]").select_option("slow")
    play(page)
    page.locator("#ring [data-speed]").select_option("fast")
    page.clock.run_for(interval(page))
    at_step(page, 2, LAST)
    playing(page)


def test_play_never_starts_by_itself(stopped: Lesson) -> None:
    page = stopped("?ring.step=2")
    at_step(page, 2, LAST)
    page.clock.run_for(60_000)
    at_step(page, 2, LAST)
    playing(page, False)


def hide_tab(page: Page) -> None:
    page.evaluate("""() => {
        Object.defineProperty(document, "hidden", {configurable: true, get: () => true});
        document.dispatchEvent(new Event("visibilitychange"));
    }""")


def scroll_away(page: Page) -> None:
    page.evaluate("""() => {
        document.querySelector("article").append(document.createElement("div"));
        document.querySelector("article").lastChild.style.height = "5000px";
        scrollTo({top: 1e6, behavior: "instant"});
    }""")


ENDS: dict[str, Callable[[Page], object]] = {
    "next": lambda p: p.locator("#ring").get_by_role("button", name="下一步").click(),
    "back": lambda p: p.locator("#ring").get_by_role("button", name="上一步").click(),
    "key": lambda p: p.locator("#ring-next").press("ArrowLeft"),
    "pause": play,
    "escape": lambda p: p.locator("#ring [data-play]").press("Escape"),
    "escape in a field": lambda p: p.locator("#ring-n").press("Escape"),
    "slider": lambda p: slider(p).press("ArrowRight"),
    "mode": lambda p: p.locator("#ring-mode-naive").click(),
    "typing": lambda p: p.locator("#ring-n").press("8"),
    "a figure": lambda p: p.locator("#ring .ring-scale button.q").first.click(),
    "reset": lambda p: p.locator("#ring").get_by_role("button", name="恢复默认").click(),
    "hidden tab": hide_tab,
    "out of sight": scroll_away,
}


@pytest.mark.parametrize("end", ENDS)
def test_play_pauses(stopped: Lesson, end: str) -> None:
    page = stopped()
    play(page)
    at_step(page, 1, LAST)
    ENDS[end](page)
    playing(page, False)
    shown = page.locator("#ring .ring-counter").inner_text()
    page.clock.run_for(20_000)
    expect(page.locator("#ring .ring-counter")).to_have_text(shown)


def test_a_manual_step_while_playing_is_one_step(stopped: Lesson) -> None:
    page = stopped()
    play(page)
    at_step(page, 1, LAST)
    button(page, "下一步").click()
    at_step(page, 2, LAST)
    page.clock.run_for(20_000)
    at_step(page, 2, LAST)


def test_speed_is_remembered_and_not_in_the_address(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.locator("#ring [data-speed]").select_option("fast")
    expect(page).to_have_url(origin + LESSON)
    opened(page, origin + LESSON)
    expect(page.locator("#ring [data-speed]")).to_have_value("fast")


def test_without_storage_play_plays(page: Page, origin: str) -> None:
    page.add_init_script("""Object.defineProperty(globalThis, "localStorage", {
        get() { throw new DOMException("forbidden", "SecurityError"); }});""")
    page.clock.install(time=0)
    fixture(page, origin)
    page.clock.pause_at(60)
    page.locator("#ring [data-speed]").select_option("fast")
    play(page)
    page.clock.run_for(interval(page))
    at_step(page, 2, LAST)


def test_play_waits_for_the_answer(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(SLOW_PYTHON)
    page.locator("#ring [data-speed]").select_option("fast")
    play(page)
    page.wait_for_timeout(4 * interval(page))
    assert page.evaluate("asked") == ["1"]
    playing(page)
    page.evaluate("answers.shift()()")
    at_step(page, 1, 14)
    until(page, "asked.length === 2")
    assert page.evaluate("asked") == ["1", "2"]
    # Paused while its answer is on its way: that step is shown, no other is asked for.
    play(page)
    playing(page, False)
    page.evaluate("answers.shift()()")
    at_step(page, 2, 14)
    page.wait_for_timeout(2 * interval(page))
    assert page.evaluate("asked") == ["1", "2"]


def test_play_ends_where_no_answer_comes(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(NO_ANSWER)
    play(page)
    playing(page, False)
    expect(page.locator("#ring [data-status]")).to_contain_text("这一步没算出来")
    at_step(page, 0, 14)


def test_only_the_last_state_of_a_play_is_announced(stopped: Lesson) -> None:
    page = stopped()
    listen(page)
    play(page)
    for step in range(1, LAST + 1):
        at_step(page, step, LAST)
        page.clock.run_for(interval(page))
    playing(page, False)
    said = page.evaluate("said")
    assert len(said) == 1
    assert said[0].startswith(f"第 {LAST} 步，共 {LAST} 步。")


def test_a_pause_is_announced_once(stopped: Lesson) -> None:
    page = stopped()
    listen(page)
    play(page)
    page.clock.run_for(interval(page))
    at_step(page, 2, LAST)
    play(page)
    playing(page, False)
    page.clock.run_for(20_000)
    said = page.evaluate("said")
    assert len(said) == 1
    assert said[0].startswith(f"第 2 步，共 {LAST} 步。")


def test_a_manual_step_ends_play_with_one_sentence(stopped: Lesson) -> None:
    page = stopped()
    listen(page)
    play(page)
    button(page, "下一步").click()
    at_step(page, 2, LAST)
    assert len(page.evaluate("said")) == 1


def test_no_player_where_there_is_nothing_to_play(page: Page, origin: str) -> None:
    fixture(page, origin)
    page.locator("#ring [data-speed]").select_option("fast")
    page.locator("#ring-bare").click()
    expect(page.locator("#ring [data-player]")).to_have_count(0)
    page.locator("#ring-bare").click()
    expect(page.locator("#ring [data-speed]")).to_have_value("fast")


# Keys (UX 5, 6, 7)


def test_ux_06_space_plays_where_it_has_nothing_else_to_do(stopped: Lesson) -> None:
    page = stopped()
    for element in ("#ring", "#ring-step", "#ring .ring-checked > .lw-scroll"):
        page.locator(element).focus()
        page.keyboard.press("Space")
        playing(page)
        at_step(page, 1, LAST)
        top = page.evaluate("scrollY")
        page.keyboard.press("Space")
        playing(page, False)
        at_step(page, 1, LAST)
        assert page.evaluate("scrollY") == top
        expect(page.locator(element)).to_be_focused()
        page.keyboard.press("Home")
        at_step(page, 0, LAST)
    page.locator("#ring [data-play]").focus()
    page.keyboard.press("Space")
    playing(page)
    page.keyboard.press("Enter")
    playing(page, False)


def test_ux_06_a_click_on_the_picture_gives_its_keys(stopped: Lesson) -> None:
    page = stopped()
    page.locator("#ring .ring-picture").click()
    page.keyboard.press("ArrowRight")
    at_step(page, 1, LAST)
    page.keyboard.press("Space")
    playing(page)
    page.keyboard.press("Escape")
    playing(page, False)


@pytest.mark.parametrize("key", ["Space", "Enter"])
def test_a_button_with_the_focus_is_pressed(stopped: Lesson, key: str) -> None:
    page = stopped()

    def press(element: str) -> None:
        page.locator(element).focus()
        page.keyboard.press(key)
        playing(page, False)

    press("#ring-mode-naive")
    expect(page.locator("#ring-mode-naive")).to_have_attribute("aria-pressed", "true")
    press("#ring-predict")
    expect(page.locator("#ring-predict")).to_have_attribute("aria-pressed", "true")
    press("#ring-next")
    at_step(page, 1, LAST)
    press("#ring .ring-measured summary")
    expect(page.locator("#ring .ring-measured table")).to_be_visible()
    press("#ring [data-tool=undo]")
    at_step(page, 0, LAST)


def test_space_held_down_is_one_press(stopped: Lesson) -> None:
    page = stopped()
    page.locator("#ring").focus()
    for _ in range(4):
        page.keyboard.down(" ")
    page.keyboard.up(" ")
    playing(page)


def test_enter_on_the_scrubber_presses_nothing(lesson: Lesson) -> None:
    page = lesson()
    slider(page).press("ArrowRight")
    at_step(page, 1, LAST)
    slider(page).press("Enter")  # would press the form's first button
    at_step(page, 1, LAST)
    expect(page.locator("#ring-mode-ring")).to_have_attribute("aria-pressed", "true")


def test_space_is_for_typing_where_one_types(lesson: Lesson) -> None:
    page = lesson()
    page.locator("#ring-n").focus()
    page.keyboard.press("Space")
    page.locator("#ring [data-speed]").focus()
    page.keyboard.press("Space")
    page.keyboard.press("Escape")
    playing(page, False)
    at_step(page, 0, LAST)


def test_space_in_a_panel_is_for_the_panel(lesson: Lesson) -> None:
    page = lesson()
    page.locator("#ring .ring-scale button.q").first.click()
    panel = page.locator("#ring .panel:popover-open")
    panel.get_by_role("button", name="关闭").focus()
    page.keyboard.press("Space")
    expect(page.locator("#ring .panel:popover-open")).to_have_count(0)
    playing(page, False)
    at_step(page, 0, LAST)


def test_ends_keep_the_focus(lesson: Lesson) -> None:
    page = lesson()
    for name, step in (("最后", LAST), ("最前", 0)):
        button = page.locator("#ring").get_by_role("button", name=name)
        button.focus()
        page.keyboard.press("Enter")
        at_step(page, step, LAST)
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_be_focused()


@pytest.mark.parametrize("focus", ["#ring-next", "#ring-step", "#ring [data-play]"])
def test_no_key_reaches_the_theme(lesson: Lesson, origin: str, focus: str) -> None:
    page = lesson()
    page.locator(focus).focus()
    for key in "np,.sf/":
        page.keyboard.press(key)
    expect(page).to_have_url(origin + LESSON)
    expect(page.locator("#__search")).not_to_be_checked()
    at_step(page, 0, LAST)


# The scrubber (UX 10, 19, 49)


def test_scrubber_by_keyboard(lesson: Lesson, origin: str) -> None:
    page = lesson("?ring.n=8")
    at_step(page, 0, 14)
    listen(page)
    slider(page).focus()
    step = 0
    # How far a page goes is the browser's choice; that it goes there and back is ours.
    for key, least, most in (
        ("ArrowRight", 1, 1),
        ("ArrowUp", 2, 2),
        ("ArrowLeft", 1, 1),
        ("ArrowDown", 0, 0),
        ("End", 14, 14),
        ("Home", 0, 0),
        ("PageUp", 1, 13),
        ("PageDown", 0, 0),
    ):
        page.keyboard.press(key)
        step = int(slider(page).input_value())
        assert least <= step <= most
        at_step(page, step, 14)
        expect(slider(page)).to_have_value(str(step))
        expect(slider(page)).to_be_focused()
        assert f"第 {step} 步" in (slider(page).get_attribute("aria-valuetext") or "")
    said = page.evaluate("said")
    assert len(said) == 8
    expect(page).to_have_url(origin + LESSON + "?ring.n=8")


def test_scrubber_by_mouse(lesson: Lesson, origin: str) -> None:
    page = lesson()
    page.evaluate("""() => {
        globalThis.shown = [];
        const view = document.querySelector("#ring [data-frame]");
        new MutationObserver(() => shown.push(view.dataset.full))
            .observe(view, {attributeFilter: ["data-full"]});
    }""")
    listen(page)
    slider(page).scroll_into_view_if_needed()
    box = slider(page).bounding_box()
    assert box
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + 8, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, y, steps=12)
    at_step(page, 3, LAST)  # follows while the button is down
    page.mouse.move(box["x"] + box["width"] - 4, y, steps=12)
    at_step(page, LAST, LAST)
    assert page.evaluate("said") == []
    page.mouse.up()
    expect(slider(page)).to_be_focused()
    expect(page).to_have_url(origin + LESSON + f"?ring.step={LAST}")
    page.wait_for_timeout(200)
    # Each step once: `change` at the end asks for nothing again.
    steps = page.evaluate("shown.map(q => new URLSearchParams(q).get('step'))")
    assert steps == [str(s) for s in range(1, LAST + 1)]
    assert len(page.evaluate("said")) == 1


def test_scrubber_stays_under_the_finger(lesson: Lesson, origin: str) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(SLOW_PYTHON)
    slider(page).focus()
    page.evaluate(SLIDE, ["#ring-step", 2, 5, 9])
    expect(slider(page)).to_have_value("9")
    assert page.evaluate("asked") == ["2"]  # one question at a time
    page.evaluate("answers.shift()()")
    at_step(page, 2, 14)  # the widget follows,
    expect(slider(page)).to_have_value("9")  # the slider stays
    expect(slider(page)).to_be_focused()
    page.evaluate(SLIDE, ["#ring-step", 12])
    page.evaluate(RELEASE, "#ring-step")
    until(page, "answers.length === 1")
    page.evaluate("answers.shift()()")
    at_step(page, 9, 14)
    expect(slider(page)).to_have_value("12")
    until(page, "answers.length === 1")
    page.evaluate("answers.shift()()")
    at_step(page, 12, 14)
    assert page.evaluate("asked") == ["2", "9", "12"]
    expect(page).to_have_url(origin + LESSON + "?ring.n=8&ring.step=12")


def test_a_button_overtakes_the_scrubber(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(SLOW_PYTHON)
    page.evaluate(SLIDE, ["#ring-step", 3, 7])
    button(page, "最后").click()
    until(page, "answers.length === 2")
    page.evaluate("answers.splice(0).forEach((answer) => answer())")
    at_step(page, 14, 14)
    page.wait_for_timeout(300)
    assert page.evaluate("asked") == ["3", "14"]
    expect(slider(page)).to_have_value("14")


def test_scrubber_goes_back_where_no_answer_comes(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(NO_ANSWER)
    slider(page).press("ArrowRight")
    expect(page.locator("#ring [data-status]")).to_contain_text("这一步没算出来")
    expect(slider(page)).to_have_value("0")


def test_thirty_quick_moves_end_in_the_last(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(SLIDE, ["#ring-step", *(i % 14 for i in range(29)), 11])
    page.evaluate(RELEASE, "#ring-step")
    at_step(page, 11, 14)
    page.wait_for_timeout(300)
    at_step(page, 11, 14)
    expect(slider(page)).to_have_value("11")


def test_a_half_typed_number_is_no_business_of_the_scrubber(lesson: Lesson) -> None:
    page = lesson()
    ready(page)
    set_cards(page, "abc")
    expect(page.locator("#ring .lw-notice")).to_be_visible()
    slider(page).press("ArrowRight")
    at_step(page, 1, LAST)
    expect(page.locator("#ring .lw-notice")).to_have_count(0)


# Travelling blocks

COUNT_TRAVELS = """() => {
    globalThis.travels = 0;
    const begin = SVGAnimationElement.prototype.beginElement;
    SVGAnimationElement.prototype.beginElement = function () { travels++; begin.call(this); };
}"""
IS_MOVING = """() => [...document.querySelectorAll("#ring [data-travel]")].map((travel) => {
    try { return travel.getStartTime() >= 0; } catch { return false; }
})"""


def test_blocks_travel_one_step_on(page: Page, origin: str) -> None:
    fixture(page, origin)
    page.evaluate(COUNT_TRAVELS)

    def travels(action: Callable[[], object], step: int) -> int:
        page.evaluate("travels = 0")
        action()
        at_step(page, step, LAST)
        return page.evaluate("travels")

    press = page.keyboard.press
    page.locator("#ring-next").focus()
    assert travels(lambda: press("ArrowRight"), 1) == 1
    assert page.evaluate(IS_MOVING) == [True]
    assert travels(lambda: press("ArrowRight"), 2) == 1
    assert travels(lambda: press("ArrowLeft"), 1) == 0
    assert page.evaluate(IS_MOVING) == [False]
    assert travels(lambda: page.evaluate(SLIDE, ["#ring-step", 2]), 2) == 1
    assert travels(lambda: page.evaluate(SLIDE, ["#ring-step", 4]), 4) == 0
    assert travels(lambda: page.locator("#ring-first").click(), 0) == 0
    assert travels(lambda: page.locator("#ring [data-play]").click(), 1) == 1
    page.keyboard.press("Escape")
    assert travels(lambda: page.locator("#ring-there").click(), 2) == 0  # in another configuration
    assert travels(lambda: page.locator("#ring [data-tool=undo]").click(), 1) == 0
    page.emulate_media(reduced_motion="reduce")
    assert travels(lambda: page.locator("#ring-next").click(), 2) == 0


def test_nothing_travels_on_load(page: Page, origin: str) -> None:
    page.add_init_script(f"({COUNT_TRAVELS})()")
    fixture(page, origin, "?ring.step=1")
    at_step(page, 1, LAST)
    assert page.evaluate("travels") == 0


@pytest.mark.parametrize("mode", ["naive", "ring"])
def test_the_rings_blocks_travel(lesson: Lesson, mode: str) -> None:
    page = lesson(f"?ring.mode={mode}")
    button(page, "下一步").click()
    at_step(page, 1, LAST)
    moving = page.evaluate(IS_MOVING)
    assert moving
    assert all(moving)


def test_with_reduced_motion_play_goes_step_by_step(browser: Browser, origin: str) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = still(context.new_page(), origin + LESSON)
    play(page)
    for step in (1, 2, 3):
        at_step(page, step, LAST)
        assert not any(page.evaluate(IS_MOVING))
        assert page.evaluate("document.getAnimations().length") == 0
        page.clock.run_for(interval(page))
    context.close()


# Leaving and coming back (UX 43), touch (UX 48, 55)


def test_a_widget_that_is_gone_does_nothing(stopped: Lesson, origin: str) -> None:
    page = stopped()
    page.evaluate("""() => {
        globalThis.ring = document.querySelector("#ring");
        globalThis.place = document.createComment("");
        ring.before(place);
    }""")
    play(page)
    at_step(page, 1, LAST)
    page.evaluate("ring.remove()")
    page.evaluate("""() => {
        globalThis.changes = 0;
        new MutationObserver((all) => { changes += all.length; }).observe(ring,
            {subtree: true, childList: true, attributes: true, characterData: true});
    }""")
    page.clock.run_for(60_000)
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert page.evaluate("changes") == 0
    # Three times put back, it still steps once a click and plays at one pace.
    for _ in range(3):
        page.evaluate("place.after(ring); ring.remove(); place.after(ring)")
    playing(page, False)
    at_step(page, 1, LAST)
    button(page, "下一步").click()
    at_step(page, 2, LAST)
    page.locator("#ring-next").press("ArrowRight")
    at_step(page, 3, LAST)
    play(page)
    page.clock.run_for(interval(page))
    at_step(page, 5, LAST)
    page.clock.run_for(1)
    expect(page).to_have_url(origin + LESSON + "?ring.step=5")
    button(page, "恢复默认").click()
    at_step(page, 0, LAST)


def test_an_answer_to_a_widget_that_is_gone_is_dropped(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    ready(page)
    set_cards(page, 8)
    at_step(page, 0, 14)
    page.evaluate(SLOW_PYTHON)
    button(page, "下一步").click()
    until(page, "document.querySelector('#ring').hasAttribute('busy')")
    changes = page.evaluate("""async () => {
        const ring = document.querySelector("#ring");
        ring.remove();
        let changes = 0;
        new MutationObserver((all) => { changes += all.length; }).observe(ring,
            {subtree: true, childList: true, attributes: true, characterData: true});
        answers.shift()();
        await new Promise((resolve) => setTimeout(resolve, 500));
        return ring.hasAttribute("busy") ? -1 : changes;
    }""")
    assert changes == 0


def test_taps(browser: Browser, origin: str) -> None:
    context: BrowserContext = browser.new_context(
        viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True
    )
    page = opened(context.new_page(), origin + LESSON)
    following = page.locator("#ring").get_by_role("button", name="下一步")
    for _ in range(3):
        following.tap()
    at_step(page, 3, LAST)
    page.locator("#ring [data-play]").tap()
    playing(page)
    page.locator("#ring [data-play]").tap()
    playing(page, False)
    assert page.evaluate("String(getSelection())") == ""
    assert page.evaluate("visualViewport.scale") == 1
    for control in ("#ring-next", "#ring-step", "#ring [data-play]", "#ring [data-speed]"):
        box = page.locator(control).bounding_box()
        assert box
        assert box["height"] >= 44, control
    for control in ("#ring-next", "#ring [data-play]"):
        style = page.locator(control).evaluate("e => getComputedStyle(e).touchAction")
        assert style == "manipulation"
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    context.close()


# Buttons that carry several fields, and sliders of the configuration


def test_a_button_named_go_carries_several_fields(page: Page, origin: str) -> None:
    fixture(page, origin)
    page.locator("#ring-there").click()
    at_step(page, 2, LAST)  # the step it names, not the start
    expect(page).to_have_url(re.compile(r"\?ring\.size=3\&ring\.step=2$"))
    page.locator("#ring [data-tool=undo]").click()
    at_step(page, 0, LAST)
    expect(page).to_have_url(re.compile(r"/page\.html$"))


def test_one_drag_is_one_level_of_undo(page: Page, origin: str) -> None:
    fixture(page, origin)
    undo = page.locator("#ring [data-tool=undo]")
    page.evaluate(SLIDE, ["#ring-size", 1, 2, 3])
    page.evaluate(RELEASE, "#ring-size")
    expect(page).to_have_url(re.compile(r"\?ring\.size=4$"))
    page.locator("#ring-size").press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"\?ring\.size=3$"))
    undo.click()
    expect(page).to_have_url(re.compile(r"\?ring\.size=4$"))
    undo.click()
    expect(page).to_have_url(re.compile(r"/page\.html$"))
    expect(undo).to_have_attribute("aria-disabled", "true")


def test_a_slider_sends_its_value_and_its_box_agrees(page: Page, origin: str) -> None:
    fixture(page, origin)
    page.locator("#ring-size").press("ArrowRight")
    expect(page.locator("#ring-box")).to_have_value("2")
    box = page.locator("#ring-box")
    box.fill("4")
    box.press("Enter")
    expect(page.locator("#ring-size")).to_have_value("3")
