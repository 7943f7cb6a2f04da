"""The whole page for the reader's own model and cluster."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from py_core.quantity import evaluate
from py_core.scenario import parse_scenario
from tests.browser.axe import violations
from tests.browser.conftest import Watch
from tests.browser.reader import LESSON, until
from tests.conftest import ROOT

PANEL = "#your-model"


def opened(page: Page, address: str) -> Page:
    page.goto(address)
    page.locator(".yours-open").click()
    expect(page.locator(PANEL)).to_be_visible()
    return page


def choose(page: Page, model: str) -> None:
    page.locator("#yours-model").select_option(model)


def figures(page: Page) -> dict[str, str]:
    """Every figure of the prose: its call, and what it shows."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('article button.q[data-q]')]
            .filter(b => !b.closest('lesson-widget, .panel'))
            .map(b => [[b.dataset.q, b.dataset.set ?? '', b.dataset.unit ?? '',
                        b.dataset.digits ?? ''].join('|'), b.textContent]))"""
    )


def expected(page: Page, query: str) -> dict[str, str]:
    found = {}
    for call in figures(page):
        name, pins, unit, digits = call.split("|")
        both = "&".join(filter(None, [query, pins]))
        merged = dict(pair.split("=") for pair in both.split("&") if pair)
        scenario = parse_scenario("&".join(f"{k}={v}" for k, v in merged.items()))
        q = evaluate(name, scenario)
        found[call] = q.display(unit or None, int(digits) if digits else None)
    return found


def follows(page: Page, *fields: str) -> None:
    """Until the page shows the Scenario in which these fields stand, such as cards=64."""
    for field in fields or ("",):
        has = re.compile(rf"(^|&){re.escape(field)}(&|$)" if field else ".")
        expect(page.locator("html")).to_have_attribute("data-scenario", has)


def is_the_lessons(page: Page) -> None:
    expect(page.locator("html[data-scenario]")).to_have_count(0)


def test_every_figure_of_the_page_follows_the_model(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    choose(page, "deepseek-v3")
    follows(page, "model=deepseek-v3")
    assert figures(page) == expected(page, "model=deepseek-v3")
    assert "model=deepseek-v3" in page.url
    expect(page.locator("article [data-model]").first).to_have_text("DeepSeek-V3")
    moved = page.locator("#ledger ~ p button.moved[data-q='state.bytes']").first
    expect(moved).to_have_attribute("aria-description", "这一课的例子：444.5 GB")
    # Its panel tells how.
    page.keyboard.press("Escape")
    moved.click()
    panel = page.locator(".panel:popover-open")
    expect(panel).to_contain_text("682,636,472,320")
    expect(panel.locator(".panel-was")).to_have_text("这一课的例子：444.5 GB")


PANELS = "[...document.querySelectorAll('#ring .panel')].map(p => p.textContent)"


def test_the_pages_own_panels_are_made_anew_and_no_others(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    ring = page.evaluate(PANELS)
    choose(page, "qwen3-8b")
    follows(page, "model=qwen3-8b")
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert [i for i, n in Counter(ids).items() if n > 1] == []
    opens = page.locator("[popovertarget]").evaluate_all(
        "all => all.map(e => e.getAttribute('popovertarget'))"
    )
    assert set(opens) <= set(ids)
    assert page.evaluate(PANELS) == ring  # the stepper has no model of its own
    uses = page.locator("#fig-state-bytes .panel-uses a")
    assert uses.count() > 3  # where else it stands is still said
    assert page.locator("#fig-state-bytes").text_content().count("本页用到它的地方") == 1


def test_an_experiment_of_its_own_stays_so_in_a_link(page: Page, origin: str) -> None:
    page.goto(f"{origin}{LESSON}?model=deepseek-v3&overlap.guess=skip&overlap.model=qwen3-8b")
    follows(page, "model=deepseek-v3")
    page.wait_for_timeout(500)
    frame = page.locator("#overlap [data-full]").first
    expect(frame).to_have_attribute("data-full", re.compile(r"model=qwen3-8b"))
    expect(page.locator("#formula [data-full]").first).to_have_attribute(
        "data-full", re.compile(r"model=qwen3\.8-27b")
    )


def test_a_claim_that_no_longer_holds_says_what_does(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    page.locator("#yours-bandwidth").fill("400")
    page.locator("#yours-bandwidth").press("Enter")
    follows(page, "bandwidth=400")
    claim = page.locator(".claim[data-claim='comm_exceeds_backward']").first
    expect(claim).to_have_class(re.compile(r"\bfails\b"))
    expect(page.locator(".claim.fails + .claim-instead").first).to_contain_text("不成立")
    page.locator("#yours [data-tool=reset]").click()
    is_the_lessons(page)
    expect(page.locator(".claim-instead")).to_have_count(0)
    assert figures(page) == expected(page, "")


def test_a_link_opens_the_same_page(page: Page, origin: str, browser: Browser) -> None:
    opened(page, origin + LESSON)
    choose(page, "qwen3-8b")
    follows(page)
    page.locator("#yours-net-3").click()
    expect(page.locator("#yours-net-3")).to_have_attribute("aria-pressed", "true")
    follows(page, "model=qwen3-8b", "cards=64", "cards_per_node=8")
    until(page, "location.search.includes('cards_per_node=8')")
    here = figures(page)
    fresh = browser.new_context().new_page()
    fresh.goto(page.url)
    follows(fresh, "model=qwen3-8b", "cards=64", "cards_per_node=8")
    expect(fresh.locator("#yours-model")).to_have_value("qwen3-8b")
    assert figures(fresh) == here
    fresh.context.close()


def test_of_two_quick_changes_the_last_wins(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    choose(page, "deepseek-v3")
    choose(page, "qwen3-8b")
    expect(page.locator("article [data-model]").first).to_have_text("Qwen3-8B")
    page.wait_for_timeout(500)
    assert figures(page) == expected(page, "model=qwen3-8b")


def test_the_experiments_follow_too(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    choose(page, "qwen3-8b")
    follows(page)
    for widget in ("formula", "scale", "overlap"):
        frame = page.locator(f"#{widget} [data-full]").first
        expect(frame).to_have_attribute("data-full", re.compile(r"model=qwen3-8b"))


def test_a_config_is_brought_along_and_travels_in_the_link(
    page: Page, origin: str, browser: Browser, watch: Watch
) -> None:
    opened(page, origin + LESSON)
    content = json.loads((ROOT / "docs/data/models/olmo-2-7b.json").read_text("utf-8"))
    text = json.dumps(content["config"], indent=2)
    page.locator("#your-config").fill(text)
    before = len(watch.requests)
    page.get_by_role("button", name="用这个模型").click()
    follows(page)
    total = f"{evaluate('model.parameters', parse_scenario('model=olmo-2-7b')).value:,}"
    expect(page.locator("[data-own]")).to_contain_text(f"{total} 个参数")
    assert not [r for r in watch.requests[before:] if "POST" in r or "config" in r]
    assert "#config=" in page.url
    page.keyboard.press("Escape")
    page.locator("#ledger .headerlink").click()  # a place on the page pushes nothing out
    until(page, "location.hash.startsWith('#config=')")
    page.locator(".yours-open").click()
    fresh = browser.new_context().new_page()
    fresh.goto(page.url)
    follows(fresh)
    assert figures(fresh) == figures(page)
    fresh.context.close()
    page.locator("[data-forget]").click()
    is_the_lessons(page)
    assert "config" not in page.url
    assert page.evaluate("sessionStorage.getItem('lesson.yours')") is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "第 1 行第 2 列：从这里起不是合法的 JSON"),
        ('{"model_type": "llama"}', "缺了 /num_hidden_layers"),
        ('{"model_type": "<img src=x onerror=alert(1)>"}', "第 1 行：/model_type 不能是"),
        ("", "第 1 行第 1 列"),
    ],
)
def test_a_bad_config_says_so_beside_the_field(
    page: Page, origin: str, text: str, says: str
) -> None:
    opened(page, origin + LESSON)
    page.locator("#your-config").fill(text)
    page.get_by_role("button", name="用这个模型").click()
    expect(page.locator("[data-own]")).to_contain_text(says)
    is_the_lessons(page)
    expect(page.locator("#your-config")).to_have_value(text)  # nothing is lost
    assert page.locator(".yours-panel img").count() == 0


def test_a_file_is_read_and_a_large_one_is_not(page: Page, origin: str, tmp_path: Path) -> None:
    opened(page, origin + LESSON)
    large = tmp_path / "model.json"
    large.write_bytes(b" " * 9_000_000)
    chooser = page.get_by_label("选一个 config.json")
    chooser.set_input_files(large)
    expect(page.locator("[data-own]")).to_contain_text("9,000,000 bytes")
    content = json.loads((ROOT / "docs/data/models/gpt2.json").read_text("utf-8"))
    small = tmp_path / "config.json"
    small.write_text(json.dumps(content["config"]), "utf-8")
    chooser.set_input_files(small)
    follows(page)
    expect(page.locator("[data-own]")).to_contain_text("124,439,808 个参数")


def test_what_was_chosen_is_kept_for_the_visit(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    choose(page, "qwen3-8b")
    follows(page)
    page.goto(origin + "/")
    page.goto(origin + LESSON)
    follows(page)
    expect(page.locator("article [data-model]").first).to_have_text("Qwen3-8B")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (320, "light"), (1280, "dark")])
def test_the_panel_breaks_no_rule(browser: Browser, origin: str, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = opened(context.new_page(), origin + LESSON)
    page.locator("#yours-cards").fill("1")
    page.locator("#yours-cards").press("Enter")
    expect(page.locator("#yours .lw-notice")).to_be_visible()
    choose(page, "gpt2")
    follows(page, "model=gpt2")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    panel = page.locator(PANEL)
    assert panel.evaluate("e => e.scrollWidth <= e.clientWidth")
    context.close()


def test_by_keyboard_alone(page: Page, origin: str) -> None:
    page.goto(origin + LESSON)
    page.locator(".yours-open").focus()
    page.keyboard.press("Enter")
    expect(page.locator(PANEL)).to_be_focused()
    page.keyboard.press("Tab")
    while page.evaluate("document.activeElement.id") != "yours-tokens":
        page.keyboard.press("Tab")
    page.keyboard.type("9000")
    page.keyboard.press("Enter")
    follows(page, "tokens=9000")
    page.keyboard.press("Escape")
    expect(page.locator(PANEL)).to_be_hidden()
    expect(page.locator(".yours-open")).to_be_focused()


def test_without_javascript_there_is_no_way_in(browser: Browser, origin: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(origin + LESSON)
    expect(page.locator(".yours-open")).to_be_hidden()
    context.close()


# ── a model of which only the counts are known ──────────────────────────────────────────


def state(page: Page, total: str, **others: str) -> None:
    form = page.locator(".yours-counts form")
    if not form.is_visible():
        page.locator(".yours-counts summary").click()
    for name, text in ({"total": total} | others).items():
        form.locator(f"[name={name}]").fill(text)
    form.get_by_role("button").click()


def test_an_unknown_model_is_told_by_its_counts(page: Page, origin: str, browser: Browser) -> None:
    opened(page, origin + LESSON)
    page.locator("#your-config").fill('{"model_type": "mamba"}')
    page.get_by_role("button", name="用这个模型").click()
    expect(page.locator("[data-own]")).to_contain_text("可以在下面只填参数个数")
    state(page, "many")
    expect(page.locator("#your-counts-says")).to_contain_text("「参数总数」要填个数")
    wrong = page.locator(".yours-panel :is(textarea, .yours-counts input)[aria-invalid=true]")
    expect(wrong).to_have_attribute("name", "total")
    is_the_lessons(page)
    state(page, "70B", trained="7 亿")
    follows(page)
    shown = figures(page)
    assert shown["model.parameters|||"] == "70,000,000,000"
    assert shown["state.bytes|||"] == "149.8 GB"  # 2 × 70 + (2 + 12) × 0.7
    # What needs the tensors is empty, and says why to whoever presses it.
    page.keyboard.press("Escape")
    empty = page.locator("article p button.q[data-q='backward.seconds']").first
    expect(empty).to_have_text("—")
    empty.click()
    expect(page.locator(".panel:popover-open")).to_contain_text("没有一个个张量")
    assert violations(page, ".panel:popover-open") == []
    page.keyboard.press("Escape")
    expect(page.locator(".claim.unsure + .claim-instead").first).to_contain_text("说不上")
    expect(page.locator("#overlap .lw-notice")).to_contain_text("「你的模型」不行")
    # A link carries it like any other.
    fresh = browser.new_context().new_page()
    fresh.goto(page.url)
    follows(fresh)
    assert figures(fresh) == shown
    fresh.context.close()


def test_a_moved_figure_tells_in_its_panel_what_it_was(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    choose(page, "qwen3-8b")
    follows(page)
    page.keyboard.press("Escape")
    page.locator("#ledger ~ p button.moved[data-q='state.bytes']").first.click()
    expect(page.locator(".panel:popover-open .panel-was")).to_have_text("这一课的例子：444.5 GB")


def test_each_of_two_own_models_has_its_own_link(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    state(page, "8B")
    follows(page)
    first = page.locator("#yours-model").input_value()
    link = page.url
    assert "#config=" in link
    state(page, "9B")
    until(page, f"!document.documentElement.dataset.scenario.includes('{first}')")
    assert page.url.partition("#")[2] != link.partition("#")[2]
    choose(page, first)
    until(page, f"document.documentElement.dataset.scenario.includes('{first}')")
    until(page, f"location.hash === '#{link.partition('#')[2]}'")


def test_what_is_being_read_stays_in_its_place(page: Page, origin: str) -> None:
    page.add_init_script("""new PerformanceObserver((list) => {
        const before = globalThis.shift ?? 0;
        globalThis.shift = list.getEntries().reduce((sum, e) => sum + e.value, before);
    }).observe({type: "layout-shift", buffered: true});""")
    opened(page, origin + LESSON)
    place = page.locator("h2").nth(5)
    place.evaluate("e => e.scrollIntoView()")
    page.wait_for_timeout(300)
    page.evaluate("globalThis.shift = 0")
    before = place.bounding_box()
    choose(page, "deepseek-v3")
    follows(page, "model=deepseek-v3")
    page.wait_for_timeout(500)
    after = place.bounding_box()
    assert before
    assert after
    assert abs(after["y"] - before["y"]) <= 1
    assert page.evaluate("globalThis.shift") < 0.1  # a longer number may need another line
