"""After one visit without a network; versions that never mix; opened from the file system."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from build_tools import icons, offline
from tests.browser.axe import violations
from tests.browser.conftest import PATIENCE, Watch
from tests.browser.hosts import SUB_PATH, Host, started
from tests.browser.reader import LESSON, at_step, button, opened, ready, set_cards, until
from tests.conftest import ROOT

WORKER = "(await navigator.serviceWorker.getRegistration())"
VERSION = "document.querySelector('meta[name=lesson-version]').content"
# The version of each cache, and what is in it.
CACHES = """(async () => Object.fromEntries(await Promise.all((await caches.keys()).map(
    async (name) => [name.split(" ").at(-1),
                     (await (await caches.open(name)).keys()).map((r) => r.url)]))))()"""


@pytest.fixture
def host(site: Path) -> Iterator[Host]:
    with started(Host(site)) as running:
        yield running


@pytest.fixture
def origin(host: Host) -> str:
    return host.origin + SUB_PATH.rstrip("/")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    made = browser.new_context(locale="zh-CN", service_workers="allow")
    made.set_default_timeout(PATIENCE)
    yield made
    made.close()


def kept(page: Page) -> None:
    expect(page.locator("[data-kept]")).to_contain_text("断网也能读")


def checked(page: Page) -> None:
    """The browser looks for a new version, as it does on every visit."""
    page.evaluate(f"(async () => {{ await {WORKER}.update() }})()")


def next_version(site: Path, target: Path) -> Path:
    """The site as a later deployment: another word in the lesson, another style sheet."""
    shutil.copytree(site, target)
    sheet = next((target / "assets/lesson").glob("lesson.*.css"))
    sheet.rename(sheet.with_name("lesson.0123456789ab.css"))
    for page in target.rglob("*.html"):
        html = page.read_text(encoding="utf-8").replace(sheet.name, "lesson.0123456789ab.css")
        html = re.sub(r'(name="lesson-version" content=")\w+', r"\g<1>@version@", html)
        page.write_text(html.replace("就用很多张", "就用许多张"), encoding="utf-8")
    offline.publish(target, ROOT / offline.SOURCE)
    return target


@pytest.fixture(scope="module")
def newer(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next_version(site, tmp_path_factory.mktemp("newer") / "site")


def test_after_one_visit_no_network_is_needed(page: Page, origin: str, watch: Watch) -> None:
    opened(page, origin + LESSON)
    kept(page)  # nothing was touched: Python comes from what was kept
    page.context.set_offline(True)
    watch.messages.clear()
    opened(page, f"{origin}{LESSON}?ring.n=5&ring.step=3#ring")
    at_step(page, 3, 8)
    ready(page)
    set_cards(page, 7)
    at_step(page, 0, 12)
    page.goto(f"{origin}/figures")
    expect(page).to_have_url(f"{origin}/figures/")
    expect(page).to_have_title(re.compile("本站的全部数"))
    assert watch.messages == []
    page.goto(f"{origin}/nothing/here.html")  # never was a page
    expect(page.get_by_role("heading")).to_have_text("现在没有网络")
    expect(page.get_by_role("link")).to_have_attribute("href", f"{origin}/")
    watch.messages.clear()  # which says that the page was not there


def test_a_host_that_is_ill_or_silent_does_not_keep_the_lesson_away(
    page: Page, host: Host, origin: str
) -> None:
    opened(page, origin + LESSON)
    kept(page)
    for fault in (503, None):  # an error of the host; no answer at all
        host.fault = fault
        host.ill = True
        page.goto("about:blank")
        opened(page, origin + LESSON)
        host.ill = False


def test_search_works_without_a_network(page: Page, origin: str) -> None:
    page.goto(f"{origin}/")
    kept(page)
    page.context.set_offline(True)
    page.reload()
    page.locator("[data-md-component=search-query]").click()
    page.keyboard.type("梯度")
    page.keyboard.press("End")  # the theme waits for a key, which an input method is not
    expect(page.locator(".md-search-result__link").first).to_be_visible()


def test_a_new_version_is_offered_and_not_forced(
    page: Page, host: Host, origin: str, newer: Path
) -> None:
    opened(page, origin + LESSON)
    kept(page)
    old = page.evaluate(VERSION)
    second = opened(page.context.new_page(), origin + LESSON)
    host.folder = newer
    checked(page)
    offered = page.locator(".new-version")
    expect(offered).to_contain_text("这一课有新版本")
    assert violations(page, ".new-version") == []
    assert page.evaluate(VERSION) == old
    offered.get_by_role("button", name="先不换").click()
    expect(offered).to_have_count(0)
    assert list(page.evaluate(CACHES)) != [old], "the new version is at hand"

    # Another visit to the old page, and the offer is there again.
    page.context.set_offline(True)
    page.reload()
    assert page.evaluate(VERSION) == old
    page.context.set_offline(False)
    page.locator(".new-version").get_by_role("button", name="换到新版").click()
    expect(page.locator("h1")).to_contain_text("就用许多张")
    new = page.evaluate(VERSION)
    assert new != old
    kept(page)
    until(page, f"{CACHES}.then((c) => Object.keys(c).length === 1)")
    assert list(page.evaluate(CACHES)) == [new]
    expect(page.locator(".new-version")).to_have_count(0)

    # The other tab goes on with what it has, until its reader wants to change too.
    expect(second.locator("h1")).to_contain_text("就用很多张")
    second.locator(".new-version").get_by_role("button", name="换到新版").click()
    expect(second.locator("h1")).to_contain_text("就用许多张")


def test_pages_and_files_of_two_versions_never_meet(
    page: Page, host: Host, origin: str, newer: Path, watch: Watch
) -> None:
    opened(page, origin + LESSON)
    kept(page)
    old = page.evaluate(VERSION)
    host.folder = newer
    page.reload()  # online, the network's page comes; the old worker serves it
    expect(page.locator("h1")).to_contain_text("就用许多张")
    until(page, f"(async () => {WORKER}.waiting !== null)()")
    page.wait_for_timeout(300)
    expect(page.locator(".new-version")).to_have_count(0)  # it is the new one already
    style = "getComputedStyle(document.documentElement).getPropertyValue('--paper') !== ''"
    assert page.evaluate(style)

    page.context.set_offline(True)
    page.reload()
    assert page.evaluate(VERSION) == old
    expect(page.locator("h1")).to_contain_text("就用很多张")
    assert page.evaluate(style)
    for version, urls in page.evaluate(CACHES).items():
        sheets = [url for url in urls if "/assets/lesson/lesson." in url]
        assert len(sheets) == 1, version
        assert ("0123456789ab" in sheets[0]) == (version != old)
    assert watch.messages == []


def test_a_deployment_that_is_half_done_is_not_kept(
    page: Page, host: Host, origin: str, newer: Path, site: Path, tmp_path: Path, watch: Watch
) -> None:
    opened(page, origin + LESSON)
    kept(page)
    mixed = tmp_path / "site"
    shutil.copytree(newer, mixed)
    shutil.copy(site / "figures/index.html", mixed / "figures/index.html")
    host.folder = mixed
    before = page.evaluate(f"(async () => ({CACHES}))()")
    page.evaluate(f"(async () => {{ await {WORKER}.update().catch(() => 0) }})()")
    until(page, f"(async () => !{WORKER}.installing)()")
    assert page.evaluate(f"(async () => {WORKER}.waiting === null)()")
    page.context.set_offline(True)
    page.reload()
    assert page.evaluate(VERSION) in before
    expect(page.locator("h1")).to_contain_text("就用很多张")
    watch.messages = [m for m in watch.messages if "integrity" not in m]


def test_on_data_saver_python_is_kept_only_once_it_was_wanted(
    page: Page, host: Host, origin: str
) -> None:
    page.add_init_script(
        "Object.defineProperty(navigator, 'connection', {value: {saveData: true}})"
    )
    opened(page, origin + LESSON)
    until(page, f"{CACHES}.then((c) => Object.values(c).flat().length > 20)")
    page.wait_for_timeout(500)
    assert not [path for path in host.asked if path.startswith("assets/py/")]
    set_cards(page, 9)
    at_step(page, 0, 16)
    kept(page)


def test_where_nothing_may_be_kept_the_page_is_as_it_was(page: Page, origin: str) -> None:
    page.add_init_script("navigator.serviceWorker.register = () => Promise.reject(new Error('no'))")
    opened(page, origin + LESSON)
    page.wait_for_timeout(1_200)
    ready(page)
    expect(page.locator("[data-kept]")).to_be_empty()


def test_under_serve_an_old_worker_goes(
    page: Page, host: Host, origin: str, site: Path, tmp_path: Path
) -> None:
    page.goto(f"{origin}/")
    kept(page)
    served = tmp_path / "site"  # as `mkdocs serve` would: pages without a version, no worker
    shutil.copytree(site, served)
    (served / offline.WORKER).unlink()
    index = served / "index.html"
    html = re.sub(r'<meta name="lesson-version"[^>]*>', "", index.read_text(encoding="utf-8"))
    index.write_text(html, encoding="utf-8")
    host.folder = served
    page.reload()
    until(page, f"(async () => {WORKER} === undefined)()")
    assert page.evaluate(CACHES) == {}


def test_it_can_be_installed(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    devtools = page.context.new_cdp_session(page)
    errors = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {e["errorId"] for e in errors} <= {"in-incognito"}  # as all contexts of a test are
    manifest = devtools.send("Page.getAppManifest")
    assert manifest["errors"] == []
    said = json.loads(manifest["data"])
    for path in [i["src"] for i in said["icons"]]:
        assert page.request.get(f"{origin}/{path}").ok, path


@pytest.mark.parametrize("icon", icons.ICONS, ids=lambda icon: icon.name)
def test_icons_are_the_drawing(page: Page, icon: icons.Icon) -> None:
    """Browsers differ in a pixel's edge, so drawings are compared as they look."""
    pictures = [(icons.FOLDER / icon.name).read_bytes(), icons.drawn(page.context.browser, icon)]
    sizes, difference = page.evaluate(
        """async (pictures) => {
            const data = [];
            for (const bytes of pictures) {
                const blob = new Blob([new Uint8Array(bytes)], {type: "image/png"});
                const picture = await createImageBitmap(blob);
                const canvas = new OffscreenCanvas(picture.width, picture.height);
                canvas.getContext("2d").drawImage(picture, 0, 0);
                const size = [picture.width, picture.height];
                data.push([size, canvas.getContext("2d").getImageData(0, 0, ...size).data]);
            }
            const [[size, a], [other, b]] = data;
            return [[size, other], a.reduce((sum, v, i) => sum + Math.abs(v - b[i]), 0) / a.length];
        }""",
        [list(picture) for picture in pictures],
    )
    assert sizes == [[icon.size, icon.size]] * 2
    assert difference < 1  # of 255


def test_from_the_file_system(context: BrowserContext, site: Path) -> None:
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("link", name="从数据并行开始").click()
    expect(page.locator("#ring[data-alive]")).to_be_visible()
    assert page.url.endswith("/data-parallel/index.html")
    expect(page.locator("[data-kept]")).to_contain_text("从文件打开的页面")
    page.locator("button.q").first.click()
    expect(page.locator(".panel:popover-open")).to_be_visible()
    page.keyboard.press("Escape")
    button(page, "最后").click()
    at_step(page, 6, 6)
    set_cards(page, 9)
    expect(page.locator("#ring [data-status]")).to_contain_text("从文件打开的页面载不了 Python")
    button(page, "上一步").click()
    at_step(page, 5, 6)
