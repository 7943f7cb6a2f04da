"""How fast things are: ``make bench``. Prints medians and ratios; never fails on a time.

    python tests/bench.py boot page    # only these sections

All in one run on one machine, so that the ratios mean something where the seconds do not.
The table is also written to ``.cache/bench.json``, and compared with what was there.
"""

from __future__ import annotations

import gc
import json
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for tests.*, when run as a script

from tests.site.project import copied  # noqa: E402

LESSON = Path(sys.executable).with_name("lesson")
CONFORMANCE = ROOT / ".cache" / "conformance" / "venv" / "bin" / "python"
RESULT = ROOT / ".cache" / "bench.json"
QUIET = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
DEEPSEEK = ROOT / "docs" / "data" / "models" / "deepseek-v3.json"

# The question of `lesson params`, asked of transformers: no weights, only shapes.
COUNT_WITH_TRANSFORMERS = """
import json, sys, torch
from transformers import AutoConfig, AutoModelForCausalLM
config = json.load(open(sys.argv[1]))["config"]
for key in ("auto_map", "quantization_config", "transformers_version"):
    config.pop(key, None)
with torch.device("meta"):
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
print(sum(p.numel() for p in model.parameters()))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement: the median of ``runs``, or their p95, in seconds, and what it is held
    against."""

    what: str
    seconds: float
    runs: int
    target: float | None = None  # seconds it should take at most
    baseline: str | None = None  # another row; the ratio is its seconds over these
    ratio: float | None = None
    at_least: float | None = None  # what the ratio should be
    of: str = "median"
    sent: bool = False  # not seconds, but bytes

    @property
    def verdict(self) -> str:
        """How it stands against its target: met or missed, and by what factor."""
        if self.sent and self.target is not None:
            missed = "" if self.seconds <= self.target else "  ← MISSED"
            return f"limit {_kb(self.target)}, {self.seconds / self.target:.0%} of it{missed}"
        if self.target is not None:
            return _judged(self.target / self.seconds, 1, f"target {_ms(self.target)}")
        if self.ratio is None:
            return ""
        if self.at_least is None:
            return f"{self.ratio:.1f} × {self.baseline}"
        return _judged(self.ratio, self.at_least, f"{self.baseline}: {self.at_least:g} × wanted")


def _judged(factor: float, wanted: float, what: str) -> str:
    return f"{what}, {factor:.1f} × faster{'' if factor >= wanted else '  ← MISSED'}"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"


def _kb(amount: float) -> str:
    return f"{amount / 1e3:,.0f} kB"


def measure(work: Callable[[], object], runs: int, warm: int = 1) -> float:
    """Median seconds of ``work()``; garbage is collected between runs, not during them."""
    for _ in range(warm):
        work()
    taken = []
    for _ in range(runs):
        gc.collect()
        gc.disable()
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
        gc.enable()
    return median(taken)


def process(*command: str | Path, runs: int, warm: int = 1) -> float:
    """Median seconds of a whole process, its start included."""

    def work() -> None:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"bench: {command[0]} failed:\n{done.stderr}")

    return measure(work, runs, warm)


def core() -> Iterator[Row]:
    """The core in this process."""
    from py_core import models
    from py_core.configs import parse_config
    from py_core.model import Model
    from py_core.quantity import at, names
    from py_core.scenario import DEFAULT

    text = DEEPSEEK.read_text(encoding="utf-8")
    config = parse_config(text)["config"]
    yield Row("addition loop, 10⁶ times (a yardstick)", measure(_yardstick, 5), 5)
    seconds = measure(lambda: models.inventory(config, "DeepSeek-V3").total, 101)
    yield Row("DeepSeek-V3: inventory and count", seconds, 101, target=0.003)
    yield Row("DeepSeek-V3: parse the config text", measure(lambda: parse_config(text), 101), 101)

    every = names()
    fresh = iter(range(2, 1_000))

    def new_scenario() -> None:
        _evaluate_all(at(DEFAULT.with_fields({"cards": next(fresh)})), every)

    def new_model() -> None:
        model = Model(f"bench-{next(fresh)}", "DeepSeek-V3", config)
        _evaluate_all(at(DEFAULT.with_fields({"model": model})), every)

    seconds = measure(new_scenario, 31)
    yield Row(f"all {len(every)} quantities, new cards", seconds, 31, target=0.020)
    yield Row("all quantities, new model (DeepSeek-V3)", measure(new_model, 31), 31, target=0.020)


def _yardstick() -> int:
    total = 0
    for number in range(1_000_000):
        total += number
    return total


def _evaluate_all(evaluation: object, every: list[str]) -> None:
    """Value and display of each; what this model does not have is asked for all the same."""
    from py_core.errors import LessonError
    from py_core.quantity import At

    assert isinstance(evaluation, At)
    for name in every:
        try:
            evaluation.quantity(name).display()
        except LessonError:
            continue


def frames() -> Iterator[Row]:
    """Widgets in this process: what the worker does for one click, Pyodide's slowness apart."""
    import widgets

    for n in (4, 16):
        steps = iter(range(10**6))

        def render(n: int = n, steps: Iterator[int] = steps) -> None:
            widgets.render("ring", f"n={n}&step={next(steps) % (2 * n - 1)}")

        yield Row(f"ring stepper: a frame, n = {n}", measure(render, 61), 61)
    for model, called in (("qwen3.8-27b", "the anchor"), ("deepseek-v3", "DeepSeek-V3")):
        tokens = iter(range(1_000, 10**6))

        def draw(model: str = model, tokens: Iterator[int] = tokens) -> None:
            query = f"guess=skip&model={model}&tokens={next(tokens)}"
            widgets.render("overlap", query)

        yield Row(f"overlap timeline: a frame, {called}", measure(draw, 31), 31)


def commands() -> Iterator[Row]:
    """Whole processes, from start to exit."""
    again = process("sh", "build_tools/setup.sh", "test", runs=5)
    yield Row("set-up with nothing to do", again, 5, target=0.5)
    start = process(sys.executable, "-c", "pass", runs=15)
    yield Row("python -c pass", start, 15)
    typer = process(sys.executable, "-c", "import typer, typer.testing", runs=15)
    yield Row("python importing Typer", typer, 15)
    seconds = process(LESSON, "params", DEEPSEEK, runs=15)
    if not CONFORMANCE.exists():
        yield Row("lesson params (DeepSeek-V3)", seconds, 15)
        print("bench: nothing to compare `lesson params` with: run `make conformance` once")
        return
    rival = process(CONFORMANCE, "-c", COUNT_WITH_TRANSFORMERS, DEEPSEEK, runs=3)
    yield Row(
        "lesson params (DeepSeek-V3)",
        seconds,
        15,
        baseline="transformers",
        ratio=rival / seconds,
        at_least=10,
    )
    yield Row("transformers on the meta device (the same)", rival, 3)


def site() -> Iterator[Row]:
    """The build as `make site` does it, against Material without us on the same text."""
    with tempfile.TemporaryDirectory() as folder:
        project = copied(Path(folder, "site"))
        yield from _against_plain(project, "the site", Path(folder, "plain"))
        written = _write_longest_page(project)
        longest = f"longest page, {written} figures"
        yield from _against_plain(project, longest, Path(folder, "plain-longest"))
        (project / "docs/longest.md").unlink()
        yield from _edits(project)


def _against_plain(project: Path, what: str, plain: Path) -> Iterator[Row]:
    """Builds in turn, so that whatever else the machine does hits both alike."""
    _write_plain(project, plain)
    ours, theirs = [], []
    for _ in range(5):
        ours.append(_built(project))
        theirs.append(_built(plain))
    row = Row(f"plain Material: {what}", median(theirs[1:]), 4)
    yield row
    seconds = median(ours[1:])
    yield Row(
        f"mkdocs build: {what}",
        seconds,
        4,
        baseline="plain Material",
        ratio=row.seconds / seconds,
        at_least=0.5,
    )


def _built(project: Path) -> float:
    command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", project / "out")
    begin = time.perf_counter()
    done = subprocess.run(
        command, cwd=project, env=QUIET, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"bench: mkdocs build failed:\n{done.stderr}")
    return time.perf_counter() - begin


def _write_longest_page(project: Path) -> int:
    """A page with every quantity there is, each in a section of its own; returns how many."""
    from py_core.errors import LessonError
    from py_core.quantity import evaluate, names

    sections = []
    for name in names():
        with suppress(LessonError):  # the anchor model has no experts
            says = evaluate(name).says  # as code: the linter refuses its figures in prose
            number = len(sections)
            sections.append(
                f'## 第 {number} 节 {{#s{number}}}\n\n`{says}`：{{{{ q("{name}") }}}}。\n'
            )
    page = project / "docs/longest.md"
    page.write_text("\n".join(["# 最长的一页 {#top}\n", *sections]), encoding="utf-8")
    config = project / "mkdocs.yml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text.replace("not_in_nav: |\n", "not_in_nav: |\n  /longest.md\n"))
    return len(sections)


def _write_plain(project: Path, plain: Path) -> None:
    """The same site for Material alone: every call is the text that it shows."""
    from build_tools.pages import convert

    for page in convert(project):
        shown = {s.written: s.display for s in (*page.page.shown, *page.page.quoted)}
        text = page.source.text
        for call in reversed(page.source.calls):
            end = call.offset + len(call.text)
            text = text[: call.offset] + shown.get(call.text, "") + text[end:]
        file = plain / "docs" / page.page.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(re.sub(r"\{%.*?%\}", "", text), encoding="utf-8")
    shutil.copytree(project / "docs/data", plain / "docs/data")
    shutil.copytree(project / "build_tools/theme", plain / "build_tools/theme")
    config = (project / "mkdocs.yml").read_text(encoding="utf-8")
    config = re.sub(r"^(hooks|watch):\n(  - .*\n)+", "", config, flags=re.M)
    (plain / "mkdocs.yml").write_text(config, encoding="utf-8")


def _edits(project: Path) -> Iterator[Row]:
    """From saving a page under `mkdocs serve` until the browser that has it open shows it."""
    page = project / "docs/data-parallel.md"
    text = page.read_text(encoding="utf-8")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = (sys.executable, "-m", "mkdocs", "serve", "--quiet", "-a", f"127.0.0.1:{port}")
    server = subprocess.Popen(
        command, cwd=project, env=QUIET, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}/data-parallel/"
    try:
        _until_served(address)
        with browser() as opened:
            opened.goto(address)
            taken = []
            for number in range(11):
                # Edits are looked for at a fixed beat: meet it at ten different moments.
                opened.wait_for_timeout(1_000 + 37 * number)
                mark = f"改了第 {number} 次。"
                begin = time.perf_counter()
                page.write_text(f"{text}\n\n{mark}\n", encoding="utf-8")
                opened.get_by_text(mark).wait_for(timeout=60_000)
                taken.append(time.perf_counter() - begin)
    finally:
        server.terminate()
        server.wait(20)
    yield Row("mkdocs serve: edit, until it is on screen", median(taken[1:]), 10, target=1.5)


def _until_served(address: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(address, timeout=30):
            return
        time.sleep(0.1)
    raise SystemExit(f"bench: {address} did not come")


@contextmanager
def browser() -> Iterator[Page]:
    """A page of the browser that the tests use."""
    executable = (ROOT / ".cache/browser").read_text().strip()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-background-networking", "--disable-sync"],
        )
        yield started.new_page(locale="zh-CN", viewport={"width": 1280, "height": 900})
        started.close()


IN_PYODIDE = """
import itertools, json, time
from statistics import median
import widgets
from py_core import LessonError, models, names
from py_core.configs import parse_config
from py_core.data import read
from py_core.quantity import at
from py_core.scenario import DEFAULT

def measured(work, runs):
    work()
    taken = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return median(taken)

config = parse_config(read("models/deepseek-v3.json"))["config"]
every, cards, steps = names(), itertools.count(2), itertools.count()
tokens = itertools.count(1000)

def timeline(model):
    return widgets.render("overlap", f"guess=skip&model={model}&tokens={next(tokens)}")

def new_scenario():
    evaluation = at(DEFAULT.with_fields({"cards": next(cards)}))
    for name in every:
        try:
            evaluation.quantity(name).display()
        except LessonError:
            continue

def refused(text):
    try:
        parse_config(text)
    except LessonError:
        return
    raise AssertionError("a bad config was taken")

json.dumps({
    "count": measured(lambda: models.inventory(config, "DeepSeek-V3").total, 51),
    "quantities": measured(new_scenario, 21),
    "frame": measured(lambda: widgets.render("ring", f"n=4&step={next(steps) % 7}"), 51),
    "wide": measured(lambda: widgets.render("ring", f"n=16&step={next(steps) % 31}"), 21),
    "timeline": measured(lambda: timeline("qwen3.8-27b"), 31),
    "deepseek": measured(lambda: timeline("deepseek-v3"), 31),
    "nesting": measured(lambda: refused("[" * (8 << 20)), 3),
})
"""


def in_pyodide() -> Iterator[Row]:
    """The browser's Python, under Node."""
    from build_tools import pack
    from build_tools.pack import node

    with tempfile.TemporaryDirectory() as folder:
        boot = node.options(pack.make(ROOT, ROOT / ".cache"), Path(folder))
        yield Row("boot, import and exit", measure(lambda: node.run("'0'", boot), 5), 5)
        seconds = node.run(IN_PYODIDE, boot)
    yield Row("DeepSeek-V3: inventory and count", seconds["count"], 51, target=0.010)
    yield Row("all quantities, new cards", seconds["quantities"], 21, target=0.060)
    yield Row("ring stepper: a frame, n = 4", seconds["frame"], 51)
    yield Row("ring stepper: a frame, n = 16", seconds["wide"], 21)
    yield Row("overlap timeline: a frame, the anchor", seconds["timeline"], 31)
    yield Row("overlap timeline: a frame, DeepSeek-V3", seconds["deepseek"], 31)
    yield Row("refuse 8 MiB of brackets", seconds["nesting"], 3, target=1.0)


# From the event that asks for a step until the document has changed, one step after another.
# Layout and paint are not in it; between two steps the page rests, as under a reader's hand.
STEPS = """async (wanted) => {
    const view = document.querySelector("#ring [data-view]");
    const taken = [];
    while (taken.length < wanted) {
        const next = document.querySelector("#ring-next");
        const ends = next.ariaDisabled === "true";
        await new Promise((resolve) => setTimeout(resolve, 60));
        const changed = new Promise((resolve) => {
            const watch = new MutationObserver(() => resolve(watch.disconnect()));
            watch.observe(view, {subtree: true, childList: true, attributes: true});
        });
        const begin = performance.now();
        (ends ? document.querySelector("#ring-first") : next).click();
        await changed;
        if (!ends) taken.push((performance.now() - begin) / 1000);
    }
    return taken;
}"""
# The same for a slider whose every place is asked of Python: until the timeline is another.
SLIDES = """async ([id, wanted]) => {
    const taken = [];
    for (let k = 1; k <= wanted; k++) {
        await new Promise((resolve) => setTimeout(resolve, 60));
        const input = document.getElementById(id);
        const changed = new Promise((resolve) => {
            const watch = new MutationObserver(() => resolve(watch.disconnect()));
            const drawn = document.querySelector("#overlap .overlap-picture");
            watch.observe(drawn, {subtree: true, childList: true, attributes: true});
        });
        input.value = String((Number(input.value) + 2) % (Number(input.max) + 1));
        const begin = performance.now();
        input.dispatchEvent(new Event("input", {bubbles: true}));
        await changed;
        taken.push((performance.now() - begin) / 1000);
    }
    return taken;
}"""
# From the choice of a model until every figure of the page is its own: another bandwidth each
# time, so that nothing is known before.
SWITCHES = """async ([model, wanted]) => {
    const widget = document.querySelector("#yours"), taken = [];
    const figure = [...document.querySelectorAll("article button.q[data-q=bandwidth]")]
        .find((figure) => !figure.dataset.set && !figure.closest("lesson-widget, .panel"));
    for (let k = 0; k < wanted; k++) {
        await new Promise((resolve) => setTimeout(resolve, 200));
        const query = {model, bandwidth: String(100 + k)};
        const changed = new Promise((resolve) => {
            const watch = new MutationObserver(() => {
                if (figure.textContent.startsWith(query.bandwidth)) resolve(watch.disconnect());
            });
            watch.observe(figure, {childList: true});
        });
        const begin = performance.now();
        widget.take(new URLSearchParams(query));
        await changed;
        taken.push((performance.now() - begin) / 1000);
    }
    return taken;
}"""
SWITCH_MODELS = (("qwen3.8-27b", "the anchor", 0.150), ("deepseek-v3", "DeepSeek-V3", 0.500))
SLIDE_MODELS = (("qwen3.8-27b", "the anchor", 0.050), ("deepseek-v3", "DeepSeek-V3", None))
STEP_TARGETS = ((4, "prerendered", 0.016), (8, "from Python", 0.033), (16, "from Python", 0.060))


def in_browser() -> Iterator[Row]:
    """A reader's step in Chromium."""
    from functools import partial
    from http.server import ThreadingHTTPServer
    from threading import Thread

    from playwright.sync_api import sync_playwright

    from tests.browser.conftest import QUIET as FLAGS
    from tests.browser.conftest import Handler
    from tests.browser.reader import LESSON as PAGE
    from tests.browser.reader import at_step, opened, ready, set_cards

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder)
        subprocess.run(command, cwd=ROOT, env=QUIET, check=True)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
        Thread(target=server.serve_forever, daemon=True).start()
        executable = (ROOT / ".cache/browser").read_text().strip()
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        page = opened(browser.new_page(), f"http://127.0.0.1:{server.server_port}{PAGE}")
        ready(page)
        for n, source, target in STEP_TARGETS:
            set_cards(page, n)
            at_step(page, 0, 2 * (n - 1))
            taken = sorted(page.evaluate(STEPS, 120))
            what = f"a step {source}, n = {n}"
            yield Row(what, median(taken), 120)
            yield Row(what, taken[len(taken) * 95 // 100], 120, target=target, of="p95")
        for model, called, limit in SLIDE_MODELS:
            page.evaluate(
                "query => document.getElementById('overlap').take(new URLSearchParams(query))",
                f"overlap.guess=skip&overlap.model={model}",
            )
            page.locator(f"#overlap [data-full*='model={model}&']").wait_for()
            taken = sorted(page.evaluate(SLIDES, ["overlap-bandwidth-slider", 120]))
            what = f"timeline: bandwidth slider, {called}"
            yield Row(what, median(taken), 120)
            yield Row(what, taken[len(taken) * 95 // 100], 120, target=limit, of="p95")
        for model, called, limit in SWITCH_MODELS:
            page.goto(f"http://127.0.0.1:{server.server_port}{PAGE}?model={model}&cards=9")
            page.wait_for_selector("html[data-scenario]")
            page.wait_for_timeout(2_000)
            taken = sorted(page.evaluate(SWITCHES, [model, 60]))
            what = f"all figures of the page for another Scenario, {called}"
            yield Row(what, median(taken), 60)
            yield Row(what, taken[len(taken) * 95 // 100], 60, target=limit, of="p95")
        browser.close()
        server.shutdown()


def boot() -> Iterator[Row]:
    """From intent to the first frame that Python rendered, against other ways to have Python."""
    from tests import boot_bench

    yield from boot_bench.rows(Row)


def page() -> Iterator[Row]:
    """What is fetched, and what the main thread has to bear."""
    from tests import page_bench

    with tempfile.TemporaryDirectory() as folder:
        command = (sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", folder)
        subprocess.run(command, cwd=ROOT, env=QUIET, check=True)
        for what, sent, limit in page_bench.bytes_sent(Path(folder)):
            yield Row(what, sent, 1, target=limit or None, sent=True)
        for what, seconds, runs in page_bench.main_thread(Path(folder)):
            limit = 0.1 if what.startswith("first") else 0.05 if what.endswith("ours") else None
            yield Row(what, max(seconds, 1e-4), runs, target=limit)


SECTIONS = {
    "boot": boot,
    "page": page,
    "core": core,
    "widgets": frames,
    "pyodide": in_pyodide,
    "browser": in_browser,
    "commands": commands,
    "site": site,
}


def main() -> None:
    machine = {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.process_cpu_count(),
    }
    print("bench: " + ", ".join(f"{key} {value}" for key, value in machine.items()))
    before = _last()
    results: dict[str, list[Row]] = {}
    for name in sys.argv[1:] or SECTIONS:
        print(f"\n{name}")
        results[name] = []
        for row in SECTIONS[name]():
            results[name].append(row)
            amount = _kb(row.seconds) if row.sent else _ms(row.seconds)
            times = f"{row.of:>6} of {row.runs:>3}"
            was = before.get((name, row.what, row.of, row.baseline))
            then = f"{row.seconds / was - 1:+6.0%}" if was else " " * 6
            line = f"  {row.what:<44}{amount:>10}  {times}  {then}  {row.verdict}"
            print(line.rstrip())
            sys.stdout.flush()
    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    written = {name: [asdict(row) for row in rows] for name, rows in results.items()}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(
        json.dumps(kept | {"machine": machine} | written, ensure_ascii=False, indent=2) + "\n"
    )
    print(f"\nbench: written to {RESULT.relative_to(ROOT)}; +n% is against what was there before")


def _last() -> dict[tuple[str, str, str, str | None], float]:
    """What every row came to the last time."""
    if not RESULT.exists():
        return {}
    return {
        (name, row["what"], row["of"], row["baseline"]): row["seconds"]
        for name, rows in json.loads(RESULT.read_text()).items()
        if name != "machine"
        for row in rows
    }


if __name__ == "__main__":
    main()
