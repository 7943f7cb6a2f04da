"""MkDocs events, wired to the code that does the work. Nothing else lives here.

MkDocs does not reload what a hook has imported. So every build starts by forgetting our
packages, if one of their files has changed, and the modules are imported inside the events;
then an edit in py_core shows at once under ``mkdocs serve``.
"""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from jinja2 import FileSystemBytecodeCache
from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from watchdog.observers.polling import PollingObserver

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("py_core", "widgets", "build_tools", "docs/data")
# Only loggers below "mkdocs." count for --strict.
log = logging.getLogger("mkdocs.hooks.lesson")

_build = SimpleNamespace()  # what one build hands from event to event


def _forget() -> None:
    """Forget our packages, unless nothing of them or their data was edited since."""
    found = (f for folder in SOURCES for f in (ROOT / folder).rglob("*") if f.is_file())
    stamps = {f: f.stat().st_mtime_ns for f in found if "__pycache__" not in f.parts}
    if stamps == getattr(_build, "stamps", None):
        return
    _build.stamps = stamps
    for name in list(sys.modules):
        if name.split(".")[0] in ("py_core", "widgets", "build_tools") and name != __name__:
            del sys.modules[name]


def on_startup(command: str, dirty: bool) -> None:
    _build.serving = command == "serve"
    # The Chinese word list, for search: its cache stays in the checkout, its notes unsaid.
    import jieba

    jieba.setLogLevel(logging.WARNING)
    jieba.dt.tmp_dir = str(ROOT / ".cache")
    (ROOT / ".cache").mkdir(exist_ok=True)


def on_serve(server: Any, config: MkDocsConfig, builder: Any) -> Any:
    """Look for edits ten times a second; MkDocs' own twice would be a third of an author's wait."""
    watched = list(server._watched_paths)
    for path in watched:
        server.unwatch(path)
    server.observer = PollingObserver(timeout=0.1)
    for path in watched:
        server.watch(path)
    return server


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    _forget()
    if str(ROOT) not in sys.path:
        sys.path.insert(0, str(ROOT))
    _build.problems, _build.broken, _build.unreadable = 0, "", {}
    try:
        _prepare(config)
    except Exception as error:
        from build_tools.faults import told

        if not _build.serving:
            raise PluginError(told(error)) from error
        # An author is at work: say it in every page until it is mended.
        _build.broken = told(error)
        log.error(_build.broken)
    return config


def _prepare(config: MkDocsConfig) -> None:
    from py_core import facts
    from py_core.model import ANCHOR, load_model

    # Data that cannot be read is said once, not by every figure.
    _ = load_model(ANCHOR).inventory
    facts.ids()
    from build_tools import assets, pack
    from build_tools.numbers import Numbers
    from build_tools.prose import LessonExtension
    from py_core.claims import claims
    from py_core.quantity import names

    names(), claims()  # a module of figures that cannot be imported, likewise
    _build.assets = assets.collect(ROOT)
    _build.packs = pack.make(ROOT, ROOT / ".cache")
    manifest = assets.manifest(_build.assets, pack.boot(_build.packs))
    # The requirements name the version of the template engine.
    frames = assets.frames_folder(ROOT, (*SOURCES, "requirements.txt"))
    _build.extension = LessonExtension(manifest, frames)
    _build.page_assets = {}
    _build.numbers = Numbers()
    config.markdown_extensions.append(_build.extension)
    config.extra_css.append(_build.assets.style)
    for path in _build.assets.scripts:
        script = ExtraScriptValue(path)
        script.defer = True
        config.extra_javascript.append(script)


def on_page_read_source(page: Page, config: MkDocsConfig) -> str | None:
    """A page that is not UTF-8 is told like any other mistake, and does not stop ``serve``."""
    content = Path(str(page.file.abs_src_path)).read_bytes()
    try:
        content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        says = f"{line}:{column}: not UTF-8; save the file in that encoding"
        _build.unreadable[page.file.src_uri] = says
        return content.decode("utf-8", "replace")
    return None


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    if _build.broken:
        return markdown
    from build_tools import prose

    depth = page.url.count("/")
    _build.extension.page = prose.Page(path=page.file.src_uri, base="../" * depth)
    return markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    from build_tools import banner

    if _build.broken:
        return banner.of_everything(_build.broken) + html
    from build_tools import problems
    from build_tools.source import Source

    made = _build.extension.page
    _build.page_assets.update(made.assets)
    # MkDocs looks for ids in the Markdown only, and links may lead to a widget, or into one.
    page.present_anchor_ids = (page.present_anchor_ids or set()) | set(_ID.findall(html))
    where = f"{Path(config.docs_dir).name}/{made.path}"
    if made.path in _build.unreadable:
        messages = [f"{where}:{_build.unreadable[made.path]}"]
    else:
        # The hook is given the text without its front matter; the file has the true lines.
        source = Source(Path(str(page.file.abs_src_path)).read_text(encoding="utf-8-sig"))
        _build.numbers.add(made, source)
        messages = [f"{where}:{finding}" for finding in problems.find(made, source)]
    if not messages:
        return html
    for message in messages:
        log.error(message)
    _build.problems += len(messages)
    return banner.html(messages) + html


def on_env(env: Any, config: MkDocsConfig, files: Files) -> Any:
    """All pages are converted: now stop, having shown the problems of every page, or fill in
    what rests on all of them."""
    # MkDocs reads the theme's templates anew in every build.
    compiled = ROOT / ".cache" / "templates"
    compiled.mkdir(parents=True, exist_ok=True)
    env.bytecode_cache = FileSystemBytecodeCache(str(compiled))
    if _build.broken:
        return env
    if _build.problems and not _build.serving:
        raise PluginError(f"{_build.problems} problem(s) in the pages, see above")
    _build.document = _build.numbers.document()
    pages = [file.page for file in files.documentation_pages() if file.page]
    _build.aside = {}
    for page in pages:
        page.content = _UNSEARCHED.sub(_put_aside, page.content or "")
    _list_figures(pages)
    return env


_ID = re.compile(r'\bid="([^"]+)"')

# What search leaves out, yet would read tag by tag: most of a page's HTML.
_UNSEARCHED = re.compile(
    r'<lesson-widget\b.*?</lesson-widget>|<section class="panels" .*?</section>', re.S
)


def _put_aside(m: re.Match[str]) -> str:
    mark = f"<!-- aside {len(_build.aside)} -->"
    _build.aside[mark] = m[0]
    return mark


def on_page_context(context: Any, page: Page, config: MkDocsConfig, nav: Any) -> Any:
    """Search, a plugin and so before us, has read the page: put back what was set aside."""
    if not _build.broken:
        page.content = _ASIDE.sub(lambda m: _build.aside[m[0]], page.content or "")
    return context


_ASIDE = re.compile(r"<!-- aside \d+ -->")


def _list_figures(pages: list[Page]) -> None:
    from build_tools import figures_page, prose

    for page in pages:
        if page.content and prose.ALL_FIGURES in page.content:
            targets = {
                other.file.src_uri: figures_page.Target(
                    str(other.title), other.file.url_relative_to(page.file)
                )
                for other in pages
                if "robots" not in other.meta  # not for readers: the authors' guide
            }
            listed = figures_page.html(_build.document, targets, "../" * page.url.count("/"))
            mark = f"<!-- aside {len(_build.aside)} -->"
            _build.aside[mark] = listed
            page.content = page.content.replace(prose.ALL_FIGURES, mark)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    return _finished(output)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    return _finished(output)


def _finished(html: str) -> str:
    """Under ``serve`` neither policy nor service worker: its live reload would not run."""
    from build_tools import theme_html

    html = theme_html.mended(html)
    if _build.serving or _build.broken:
        return html
    from build_tools import csp, offline

    return csp.guarded(offline.marked(html))


def on_post_build(config: MkDocsConfig) -> None:
    if _build.broken:
        return
    from build_tools import hosting, numbers, offline, pack, theme_files

    site = Path(config.site_dir)
    published = numbers.published(_build.document)
    for path, content in {**_build.assets.files, **_build.page_assets, **published}.items():
        target = site / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    pack.publish(_build.packs, site)
    theme_files.remove_unused(site, config.plugins["material/search"].config.lang)
    if not _build.serving:
        offline.publish(site, ROOT / offline.SOURCE)
        hosting.write_headers(site)
