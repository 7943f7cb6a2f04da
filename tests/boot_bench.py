"""From a reader's intent to the first frame that Python has rendered: ours, Pyodide as its own
manual has it, and PyScript; on the same bare page, with the same wheels, from the same server.

A run is a browser of its own: cold is its first visit, warm its second.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from statistics import median
from threading import Thread

from playwright.sync_api import sync_playwright

from build_tools import assets, pack
from tests.browser.conftest import QUIET, Handler

ROOT = Path(__file__).resolve().parent.parent
PYSCRIPT = "@pyscript/core@0.7.31"  # takes another Pyodide than its own, so ours of today
ROUNDS = 5
ASKED = "n=8"  # not among the prerendered frames
WAYS = ("stock Pyodide", "PyScript", "ours")

# Until something stands in the page's only element, seconds.
PAGE = """<!doctype html><meta charset="utf-8"><title>boot</title>
<link rel="icon" href="data:,"><div id="frame"></div>
<script>
  const shown = () => new Promise((resolve) => {{
    const frame = document.getElementById("frame");
    const begin = performance.now();
    new MutationObserver(() => resolve((performance.now() - begin) / 1000))
      .observe(frame, {{childList: true}});
  }});
</script>
{body}
"""
STOCK_PAGE = """<script>
  const boot = () => {
    const done = shown();
    const worker = new Worker("worker.mjs", {type: "module"});
    worker.onmessage = ({data}) => { document.getElementById("frame").innerHTML = data; };
    return done;
  };
</script>"""
STOCK_WORKER = f"""
import {{ loadPyodide }} from "./pyodide.mjs";
const python = await loadPyodide({{packages: ["py-core"]}});
postMessage(python.pyimport("widgets").render("ring", "{ASKED}"));
"""
PYSCRIPT_PAGE = f"""<py-config type="json">
{{"interpreter": "./pyodide.mjs", "packages": ["py-core"], "packages_cache": "passthrough"}}
</py-config><script type="module" src="../pyscript/core.js"></script><script>
  const boot = () => {{
    const done = shown();
    const tag = document.createElement("script");
    tag.type = "py";
    tag.textContent = `import js, widgets
js.document.getElementById("frame").innerHTML = widgets.render("ring", "{ASKED}")`;
    document.body.append(tag);
    return done;
  }};
</script>"""
OUR_PAGE = """<script src="../{script}"></script><script>
  const boot = async () => {{
    const done = shown();
    const asked = {{widget: "ring", query: "{asked}", id: "ring"}};
    const {{html}} = await lessonPython("../{manifest}").ask(asked);
    document.getElementById("frame").innerHTML = html;
    return done;
  }};
</script>"""


class Caching(Handler):
    """What has a name may be kept, as our hashed names may; for all three alike."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "max-age=31536000, immutable")
        super().end_headers()


def boots() -> Iterator[tuple[str, bool, list[float]]]:
    """Way, whether warm, and the seconds of every round. The ways take turns."""
    taken: dict[tuple[str, bool], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, _served(_site(Path(folder))) as origin:
        ways = [way for way in WAYS if (Path(folder) / _page(way)).is_file()]
        for _ in range(ROUNDS):
            for way in ways:
                for warm, seconds in enumerate(_visits(f"{origin}/{_page(way)}")):
                    taken.setdefault((way, bool(warm)), []).append(seconds)
    for (way, warm), seconds in sorted(taken.items(), key=lambda item: item[0][1]):
        yield way, warm, seconds


def _page(way: str) -> str:
    return {"stock Pyodide": "stock/index.html", "PyScript": "stock/pyscript.html"}.get(
        way, "ours/index.html"
    )


def _visits(address: str) -> Iterator[float]:
    executable = (ROOT / ".cache/browser").read_text().strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=QUIET)
        page = browser.new_page()
        for _ in range(2):
            page.goto(address, wait_until="networkidle")
            page.evaluate("boot().then((seconds) => { globalThis.taken = seconds; })")
            yield page.wait_for_function("globalThis.taken").json_value()
            page.wait_for_timeout(1_500)  # what is to be cached, compiled code too, is by then
        browser.close()


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Caching, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def _site(site: Path) -> Path:
    """Pages and files of all three ways."""
    packs = pack.make(ROOT, ROOT / ".cache")
    _write_ours(site, packs)
    _write_stock(site / "stock", packs)
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", PYSCRIPT]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            print("bench: PyScript is left out: npm could not fetch it")
            return site
        shutil.copytree(Path(folder, "node_modules/@pyscript/core/dist"), site / "pyscript")
    (site / "stock/pyscript.html").write_text(PAGE.format(body=PYSCRIPT_PAGE), encoding="utf-8")
    return site


def _write_ours(site: Path, packs: pack.Packs) -> None:
    pack.publish(packs, site)
    made = assets.collect(ROOT)
    manifest = assets.manifest(made, pack.boot(packs))
    for path, content in made.files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_bytes(content)
    (script,) = (path for path in made.scripts if "/runtime." in path)
    body = OUR_PAGE.format(script=script, manifest=manifest, asked=ASKED)
    (site / "ours").mkdir()
    (site / "ours/index.html").write_text(PAGE.format(body=body), encoding="utf-8")


def _write_stock(stock: Path, packs: pack.Packs) -> None:
    """Pyodide's own files, and our lock file and wheels where it looks for them."""
    stock.mkdir()
    for name in (*pack.PYODIDE_FILES, pack.LIBRARY):
        shutil.copy(ROOT / pack.PYODIDE / name, stock)
    lock = json.loads((packs.core / pack.LOCK).read_bytes())
    for package in lock["packages"].values():
        file = packs.core / package["file_name"]
        shutil.copy(file, stock)
        package["file_name"] = file.name
    (stock / pack.LOCK).write_text(json.dumps(lock))
    (stock / "worker.mjs").write_text(STOCK_WORKER)
    (stock / "index.html").write_text(PAGE.format(body=STOCK_PAGE), encoding="utf-8")


def rows(row: Callable[..., object]) -> Iterator[object]:
    """The rows of ``make bench``: ours against each of the others."""
    wanted = {False: 4, True: 3}
    measured = {(way, warm): seconds for way, warm, seconds in boots()}
    for (way, warm), seconds in measured.items():
        what = f"{'warm' if warm else 'cold'}: {way}"
        if way == "ours":
            continue
        yield row(what, median(seconds), len(seconds))
    for warm in (False, True):
        ours = measured["ours", warm]
        for way in WAYS[:-1]:
            if (way, warm) not in measured:
                continue
            yield row(
                f"{'warm' if warm else 'cold'}: ours",
                median(ours),
                len(ours),
                baseline=way,
                ratio=median(measured[way, warm]) / median(ours),
                at_least=wanted[warm] if way == "stock Pyodide" else None,
            )
