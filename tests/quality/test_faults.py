"""Whatever fails, readers go on: the prerendered steps step, one sentence says what happened, and
another try works. Every fault is a real one, put in the way of a real boot or a real answer."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Handler, Watch
from tests.browser.reader import LESSON, at_step, button, opened, ready, set_cards, until

WORKER = "**/python.*.mjs"
MANIFEST = "**/python.*.json"
STARTS = 'answer = python.pyimport("lesson_start").answer;'

# The view of the ring does this when it is asked for nine cards.
IN_A_VIEW = """
import widgets.ring.widget as ring
view = ring.view
def faulty(state):
    if state.values["n"] == 9:
        {does}
    return view(state)
ring.view = faulty
"""


def patched(page: Page, change: Callable[[str], str]) -> None:
    """Readers get another worker."""

    def fulfil(route: Route) -> None:
        text = route.fetch().text()
        assert change(text) != text, "the worker is not what this test expects"
        route.fulfill(body=change(text), content_type="text/javascript")

    page.route(WORKER, fulfil)


def python_patched(page: Page, does: str) -> None:
    code = IN_A_VIEW.format(does=does)
    patched(page, lambda text: text.replace(STARTS, f"python.runPython(`{code}`); {STARTS}"))


def pythons(page: Page) -> list[str]:
    """The theme has a worker too, for search."""
    return [worker.url for worker in page.workers if "/assets/lesson/" in worker.url]


def status(page: Page) -> str:
    return page.locator("#ring [data-status]").inner_text()


def says(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.locator("#ring [data-status]")).to_contain_text(words)


def fails(page: Page, words: str) -> None:
    """Python is asked for and does not come."""
    set_cards(page, 8)
    has_failed(page, words)


def has_failed(page: Page, words: str) -> None:
    """It is said in one sentence that Python does not come; the prerendered steps go on."""
    says(page, words)
    says(page, "Python 没能载入：预先算好的步骤照常能走")
    assert status(page).count("。") == 0
    expect(page.locator("#ring")).to_have_attribute("python", "failed")
    expect(page.locator("#ring-n")).to_have_value("4")
    at_step(page, 0, 6)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    button(page, "最后").click()
    at_step(page, 6, 6)
    says(page, words)


def comes_after_all(page: Page) -> None:
    """Another try works, and takes up what was asked for."""
    button(page, "再试一次").click()
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    set_cards(page, 8)
    at_step(page, 0, 14)
    expect(page.locator("#ring [data-status]")).to_have_text("")
    expect(page.locator('#ring [data-tool="retry"]')).to_be_hidden()


def changed(route: Route) -> None:
    """The file as it is, but for one bit in its middle."""
    answer = route.fetch()
    body = bytearray(answer.body())
    body[len(body) // 2] ^= 1
    route.fulfill(response=answer, body=bytes(body))


# -- it does not come ------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["by a policy", "by the browser"])
def test_wasm_blocked(page: Page, origin: str, watch: Watch, how: str) -> None:
    if how == "by a policy":
        policy = {"Content-Security-Policy": "script-src 'self' 'unsafe-inline'"}

        def fulfil(route: Route) -> None:
            answer = route.fetch()
            route.fulfill(response=answer, headers=answer.headers | policy)

        page.route(WORKER, fulfil)
        page.route(f"**{LESSON}", fulfil)
    else:
        patched(page, lambda text: "delete globalThis.WebAssembly;\n" + text)
    opened(page, origin + LESSON)
    fails(page, "浏览器或网站的设置不让运行 WebAssembly")
    page.unroute(WORKER)
    comes_after_all(page)
    watch.messages.clear()  # Chromium tells of its policy


def test_worker_not_found(page: Page, origin: str, watch: Watch) -> None:
    page.route(WORKER, lambda route: route.fulfill(status=404, body="no"))
    opened(page, origin + LESSON)
    fails(page, "服务器上找不到 python.")
    page.unroute(WORKER)
    comes_after_all(page)
    watch.messages.clear()


@pytest.mark.parametrize("name", ["py_core-*.whl", "python_stdlib.zip", "pyodide.asm.wasm"])
def test_ux_44_a_corrupt_file_is_named(page: Page, origin: str, watch: Watch, name: str) -> None:
    page.route(f"**/{name}", changed)
    opened(page, origin + LESSON)
    fails(page, "和校验和对不上")
    assert re.search(f"收到的 {name.replace('*', '.*')} 和", status(page))
    page.unroute(f"**/{name}")
    comes_after_all(page)
    watch.messages.clear()


@pytest.mark.parametrize("name", ["jinja2-*.whl", "pyodide.asm.wasm"])
def test_what_is_damaged_in_the_cache_is_fetched_again(page: Page, origin: str, name: str) -> None:
    tries: list[str] = []

    def once(route: Route) -> None:
        tries.append(route.request.url)
        changed(route) if len(tries) == 1 else route.continue_()

    page.route(f"**/{name}", once)
    opened(page, origin + LESSON)
    set_cards(page, 8)
    at_step(page, 0, 14)
    assert len(tries) == 2


def test_any_type_of_a_wasm_file_will_do(page: Page, origin: str) -> None:
    def fulfil(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, headers=answer.headers | {"content-type": "text/plain"})

    page.route("**/*.wasm", fulfil)
    opened(page, origin + LESSON)
    set_cards(page, 8)
    at_step(page, 0, 14)


class Flaky(Handler):
    """A host whose connection breaks half-way through whatever ends in ``breaks``."""

    breaks = ""

    def copyfile(self, source, outputfile) -> None:  # type: ignore[no-untyped-def]
        content = source.read()
        if self.breaks and self.path.endswith(self.breaks):
            outputfile.write(content[: len(content) // 2])
            self.close_connection = True
        else:
            outputfile.write(content)


@pytest.fixture
def flaky(site: Path) -> Iterator[str]:
    Flaky.breaks = ".wasm"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Flaky, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_network_lost_half_way(page: Page, flaky: str, watch: Watch) -> None:
    watch.origin = flaky
    opened(page, flaky + LESSON)
    fails(page, "网络断了")
    Flaky.breaks = ""
    comes_after_all(page)
    watch.messages.clear()


def test_once_the_network_is_back_so_is_python(page: Page, flaky: str, watch: Watch) -> None:
    watch.origin = flaky
    opened(page, flaky + LESSON)
    fails(page, "网络断了")
    Flaky.breaks = ""
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    watch.messages.clear()


@pytest.mark.parametrize("what", [MANIFEST, "**/*.wasm"])
def test_a_server_that_does_not_answer(page: Page, origin: str, what: str) -> None:
    held: list[Route] = []
    page.route(what, lambda route: held.append(route))  # noqa: PLW0108
    page.clock.install()
    opened(page, origin + LESSON)
    set_cards(page, 8)
    page.clock.run_for(2_000)
    says(page, "正在载入 Python，预先算好的步骤已经可以走")
    for _ in range(5):  # half a minute from whatever came last, and that may come late
        page.clock.run_for(31_000)
        if "正在载入" not in status(page):
            break
    has_failed(page, "服务器半分钟没有动静")
    page.unroute(what)
    comes_after_all(page)


def test_what_has_come_is_told_in_bytes_of_the_wire(page: Page, origin: str) -> None:
    held: list[Route] = []
    page.route("**/*.wasm", lambda route: held.append(route))  # noqa: PLW0108
    page.clock.install()
    opened(page, origin + LESSON)
    page.locator("#ring-n").focus()
    expect(page.locator("#ring")).to_have_attribute("python", "loading")
    page.wait_for_timeout(500)
    page.clock.run_for(2_000)
    size = page.locator("#ring [data-size]")
    come, total = map(float, re.findall(r"[\d.]+", size.inner_text()))
    # This host does not compress; of the file that is still to come only the usual is known.
    assert 0 < come < total < 20
    expect(page.locator("#ring [data-progress]")).to_be_visible()
    held[0].continue_()
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    expect(size).to_have_text("")


@pytest.mark.parametrize("gone", [MANIFEST, "**/py_core-*.whl"])
def test_an_old_page_after_a_new_deployment(
    page: Page, origin: str, watch: Watch, gone: str
) -> None:
    opened(page, origin + LESSON + "?ring.step=2")
    at_step(page, 2, 6)

    def newer(route: Route) -> None:
        answer = route.fetch()
        text = re.sub(r"python\.[0-9a-f]{12}\.json", "python.000000000000.json", answer.text())
        route.fulfill(response=answer, body=text)

    page.route(f"**{LESSON}", newer)
    # Some hosts answer with a page of their own, and some of those say that all is well.
    code = 200 if gone == MANIFEST else 404
    page.route(gone, lambda route: route.fulfill(status=code, body="<p>gone"))
    set_cards(page, 8)
    says(page, "网站更新过，这一页还是旧版，它要的 ")
    says(page, re.compile(r"它要的 (python\.|worker\.|py_core-)\S+ 已经撤下，Python 没能载入"))
    button(page, "下一步").click()
    at_step(page, 3, 6)
    page.unroute_all()
    button(page, "重新载入页面").click()
    at_step(page, 3, 6)
    set_cards(page, 8)
    at_step(page, 0, 14)
    watch.messages.clear()


# -- it is there, and something goes wrong ---------------------------------------------------


def asks_in_vain(page: Page, words: str) -> None:
    """Nine cards are not to be had; the frame stays, and all else goes on."""
    set_cards(page, 9)
    says(page, words)
    at_step(page, 0, 6)
    expect(page.locator("#ring-n")).to_have_value("4")


def goes_on(page: Page) -> None:
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    expect(button(page, "再试一次")).to_be_visible()
    button(page, "下一步").click()
    at_step(page, 1, 6)
    set_cards(page, 8)
    at_step(page, 0, 14)
    expect(page.locator("#ring [data-status]")).to_have_text("")
    expect(page.locator('#ring [data-tool="retry"]')).to_be_hidden()


def test_an_exception_in_a_view(page: Page, origin: str) -> None:
    python_patched(page, "raise ValueError('no')")
    opened(page, origin + LESSON)
    ready(page)
    asks_in_vain(page, "这一步没算出来，画面停在上一个状态")
    button(page, "再试一次").click()
    says(page, "这一步没算出来，画面停在上一个状态")
    goes_on(page)


def test_an_endless_loop_is_ended(page: Page, origin: str) -> None:
    python_patched(page, "while True: pass")
    page.clock.install()
    opened(page, origin + LESSON)
    ready(page)
    set_cards(page, 9)
    page.evaluate("""() => {
        const python = lessonPython(document.querySelector("#ring").getAttribute("runtime"));
        const asked = {widget: "scale", query: "", id: "scale"};
        python.ask(asked).then(({html}) => { globalThis.behind = html.length; });
    }""")
    page.clock.run_for(9_000)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    page.clock.run_for(1_500)
    told = "这一步算了 10 秒还没有结果，已经停下它，重新启动 Python"
    says(page, told)
    # The question behind it is answered by the next Python.
    until(page, "globalThis.behind > 1000")
    for _ in range(50):  # Chromium takes two seconds to end what does not listen
        if len(pythons(page)) == 1:
            break
        page.wait_for_timeout(200)
    assert len(pythons(page)) == 1
    says(page, told)
    at_step(page, 0, 6)
    goes_on(page)


NO_MEMORY = """
WebAssembly.Memory.prototype.grow = () => { throw new RangeError("could not allocate memory"); };
"""


NONE_AT_ALL = """
WebAssembly.Memory = function () { throw new RangeError("could not allocate memory"); };
"""


def test_memory_that_runs_out(page: Page, origin: str, watch: Watch) -> None:
    code = IN_A_VIEW.format(does="bytearray(1 << 30)")
    patched(
        page,
        lambda text: NO_MEMORY + text.replace(STARTS, f"python.runPython(`{code}`); {STARTS}"),
    )
    opened(page, origin + LESSON)
    ready(page)
    asks_in_vain(page, "这一步要的内存浏览器给不了，已经重新启动 Python")
    goes_on(page)
    watch.messages.clear()


def test_no_memory_to_begin_with(page: Page, origin: str, watch: Watch) -> None:
    patched(page, lambda text: NONE_AT_ALL + text)
    opened(page, origin + LESSON)
    fails(page, "浏览器给的内存不够")
    page.unroute(WORKER)
    comes_after_all(page)
    watch.messages.clear()


def test_an_interpreter_that_breaks(page: Page, origin: str, watch: Watch) -> None:
    """What Pyodide calls a fatal error: it answers no more."""
    does = "import js, pyodide_js; pyodide_js._api.fatal_error(js.Error.new('broken'))"
    python_patched(page, does)
    opened(page, origin + LESSON)
    ready(page)
    asks_in_vain(page, "Python 意外停了，已经重新启动")
    goes_on(page)
    watch.messages.clear()


FORBIDDEN = """Object.defineProperty(window, "localStorage", {
    get() { throw new DOMException("no", "SecurityError"); } });"""
FULL = """Storage.prototype.setItem = () => {
    throw new DOMException("full", "QuotaExceededError"); };"""


@pytest.mark.parametrize("fault", [FORBIDDEN, FULL], ids=["forbidden", "full"])
def test_storage(page: Page, origin: str, watch: Watch, fault: str) -> None:
    page.add_init_script(fault)
    opened(page, origin + LESSON)
    page.locator("#ring [data-speed]").select_option(index=0)
    says(page, "浏览器不让这一页保存东西")
    button(page, "下一步").click()
    at_step(page, 1, 6)
    set_cards(page, 8)
    at_step(page, 0, 14)
    if fault == FORBIDDEN:  # which the theme cannot bear
        assert set(watch.messages) == {"error: no"}
        watch.messages.clear()


def test_two_tabs(page: Page, origin: str, watch: Watch) -> None:
    other = page.context.new_page()
    watch.on(other)
    for tab, n in ((page, 8), (other, 5)):
        opened(tab, origin + LESSON)
        set_cards(tab, n)
    at_step(page, 0, 14)
    at_step(other, 0, 8)
    page.close()
    set_cards(other, 6)
    at_step(other, 0, 10)


# -- when it is fetched ----------------------------------------------------------------------


def line(page: Page, **values: object) -> None:
    """What the browser says of its line."""
    told = {"saveData": False, "effectiveType": "3g", "downlink": 1, **values}
    page.add_init_script(
        f"Object.defineProperty(navigator, 'connection', {{value: {json.dumps(told)}}})"
    )


def in_sight(page: Page) -> None:
    """The stepper comes into sight at the foot of the window, whose height is 900."""
    page.evaluate("""scrollBy({
        top: document.querySelector("#ring").getBoundingClientRect().top - 850,
        behavior: "instant",
    })""")
    page.wait_for_timeout(700)


def test_a_slow_line_waits_for_the_pointer(page: Page, origin: str, watch: Watch) -> None:
    line(page)
    opened(page, origin + LESSON)
    in_sight(page)
    assert not [url for url in watch.requests if "/assets/py/" in url]
    page.mouse.move(300, 100)  # half a window above it
    page.wait_for_timeout(300)
    assert not [url for url in watch.requests if "/assets/py/" in url]
    page.mouse.move(300, 780)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")


def test_a_fast_line_fetches_what_is_in_sight(page: Page, origin: str) -> None:
    line(page, effectiveType="4g", downlink=10)
    opened(page, origin + LESSON)
    in_sight(page)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")


@pytest.mark.parametrize("spared", [{"saveData": True}, {"type": "cellular"}], ids=str)
def test_who_pays_by_the_byte_is_asked_first(
    page: Page, origin: str, watch: Watch, spared: dict[str, object]
) -> None:
    line(page, effectiveType="4g", downlink=10, **spared)
    opened(page, origin + LESSON)
    in_sight(page)
    if "saveData" in spared:
        page.locator("#ring").hover()
        button(page, "下一步").click()
        at_step(page, 1, 6)
        page.wait_for_timeout(300)
    assert not [url for url in watch.requests if "/assets/py/" in url]
    set_cards(page, 8)
    at_step(page, 0, 14)


def test_one_worker_for_all_widgets(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    for widget in ("ring", "scale", "overlap"):
        page.locator(f"#{widget}").hover()
    expect(page.locator("#overlap")).to_have_attribute("python", "ready")
    assert len(pythons(page)) == 1


# -- the prerendered frames ------------------------------------------------------------------


def test_frames_are_fetched_when_their_widget_is_near(
    page: Page, origin: str, watch: Watch
) -> None:
    line(page, saveData=True)  # else all of them come as soon as the browser is idle
    opened(page, origin + LESSON)
    fetched = [url for url in watch.requests if "/assets/frames/" in url]
    assert len(fetched) < 5
    page.locator("#average").scroll_into_view_if_needed()
    until(page, "lessonFrames.average && true")


def test_frames_are_all_there_before_the_network_goes(page: Page, origin: str) -> None:
    opened(page, origin + LESSON)
    until(page, "Object.keys(lessonFrames).length === 5")


def test_frames_that_do_not_come_are_python_s(page: Page, origin: str, watch: Watch) -> None:
    page.route("**/assets/frames/**", lambda route: route.abort())
    opened(page, origin + LESSON)
    button(page, "下一步").click()
    at_step(page, 1, 6)
    expect(page.locator("#ring")).to_have_attribute("python", "ready")
    watch.messages.clear()
