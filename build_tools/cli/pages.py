"""Commands about the pages: their figures, what must be mended, a new lesson."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from build_tools.cli.given import bytes_of, called, check_data
from build_tools.cli.shell import Answer, AsJson, Record, app
from build_tools.cli.text import table
from py_core.errors import LessonError, UnknownName

if TYPE_CHECKING:
    from build_tools.lint import Finding

CHANGED, FINDINGS = 1, 1  # exit statuses
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


# ── lesson numbers ──────────────────────────────────────────────────────────────────────


@app.command()
def numbers(
    old: Annotated[
        str | None,
        typer.Option("--diff", metavar="OLD.json", help="Say what changed since this file."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="With --diff: exit 1 if anything changed.")
    ] = False,
    as_json: AsJson = False,
) -> Answer:
    """List the figures, facts and claims of all pages, and where each stands."""
    check_data()
    from build_tools import pages

    if old is None:
        if strict:
            raise LessonError("--strict", "alone", "--diff OLD.json with it")
        return Answer(pages.document(ROOT), _numbers_text, as_json)
    from build_tools import changes

    before = changes.parsed(bytes_of(old), called(old))
    record = changes.compare(before, pages.document(ROOT))
    return Answer(record, _changes_text, as_json, CHANGED if strict and any(record.values()) else 0)


def _numbers_text(r: Record) -> list[str]:
    rows: list[tuple[str, str, str]] = []
    counts = []
    for kind in ("figures", "facts", "claims"):
        entries = [entry for entry in r[kind] if entry["used"]]
        counts.append(_counted(len(entries), kind.removesuffix("s")))
        for entry in entries:
            verdict = "true" if entry.get("holds") else "FALSE"
            shown, name = "", entry["key"]
            for use in entry["used"]:
                display = use.get("display", verdict)
                rows.append((display if display != shown else "", name, _place(use)))
                shown, name = display, ""
    return [*(table(rows, right=(0,)) if rows else []), "", ", ".join(counts)]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _place(use: Record) -> str:
    return f"docs/{use['page']}:{use['line']}:{use['column']}"


def _changes_text(r: Record) -> list[str]:
    lines = [f"docs/data/{name} changed" for name in r["data"]]
    if lines:
        lines.append("")
    rows: list[tuple[str, ...]] = []
    for change in r["changes"]:
        first, *others = change["used"]
        told = [text for text in (change["old"], change["new"]) if text is not None]
        versions = " → ".join(dict.fromkeys(told))
        rows.append((_place(first), change["how"], change["key"], versions))
        rows += [(_place(use), "", "", "") for use in others]
    counted = len(r["changes"])
    total = _counted(counted, "change") if counted else "no figure changed"
    return [*lines, *(table(rows) if rows else []), *([""] if rows else []), total]


# ── lesson facts ────────────────────────────────────────────────────────────────────────


@app.command(name="facts")
def facts(
    prefix: Annotated[
        str | None,
        typer.Argument(help="Only ids that begin so, such as dsv3.", show_default=False),
    ] = None,
    unused: Annotated[
        bool, typer.Option("--unused", help="Only facts and sources that no page rests on.")
    ] = False,
    as_json: AsJson = False,
) -> Answer:
    """List what papers printed, and which pages rest on it."""
    check_data()
    from build_tools import pages
    from py_core import facts as papers

    known = papers.ids()
    wanted = [name for name in known if name.startswith(prefix or "")]
    if not wanted:
        groups = {name.split(".")[0] for name in known}
        raise UnknownName("prefix", str(prefix), groups)
    used = pages.facts_used(ROOT)
    record = {
        "facts": [
            {
                "id": fact.id,
                "value": fact.value,
                "unit": fact.unit,
                "says": fact.says,
                "source": fact.paper.id,
                "where": fact.where,
                "quotable": fact.quotable,
                "pages": used.facts.get(fact.id, []),
            }
            for fact in map(papers.fact, wanted)
        ],
        "sources": [
            {"id": name, "title": papers.paper(name).title, "pages": used.sources.get(name, [])}
            for name in papers.paper_ids()
            if not prefix or name in {papers.fact(fact).paper.id for fact in wanted}
        ],
    }
    if unused:
        record = {k: [entry for entry in v if not entry["pages"]] for k, v in record.items()}
    return Answer(record, _facts_text, as_json)


def _facts_text(r: Record) -> list[str]:
    rows = [(f["id"], _stated(f), ", ".join(f["pages"]) or "—", f["says"]) for f in r["facts"]]
    titles = [(s["id"], ", ".join(s["pages"]) or "—", s["title"]) for s in r["sources"]]
    return [
        *table([("fact", "as printed", "pages", ""), *rows]),
        "",
        *table([("source", "pages", ""), *titles]),
        "",
        f"{_counted(len(rows), 'fact')}, {_counted(len(titles), 'source')}",
    ]


def _stated(fact: Record) -> str:
    value = fact["value"]
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return f"{text} {fact['unit'] or ''}".strip()


# ── lesson new ──────────────────────────────────────────────────────────────────────────


@app.command()
def new(
    name: Annotated[
        str, typer.Argument(help="Its address, such as tensor-parallel.", show_default=False)
    ],
    title: Annotated[str, typer.Option(help="As readers see it.", show_default=False)] = "",
    as_json: AsJson = False,
) -> Answer:
    """Write the skeleton of a lesson and enter it in the navigation."""
    from build_tools.new import lesson

    page = lesson(name, title, ROOT)
    record = {"page": page.relative_to(ROOT).as_posix(), "navigation": "mkdocs.yml"}
    return Answer(record, _new_text, as_json)


def _new_text(r: Record) -> list[str]:
    return [f"{r['page']} written, and entered in {r['navigation']}; `make serve` shows it"]


# ── lesson check ────────────────────────────────────────────────────────────────────────


@app.command()
def check(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Markdown files or folders of them; all of docs/ if left out.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> Answer:
    """Find figures typed by hand and half-open claims in the pages."""
    check_data()
    pages = [page for place in files or [str(DOCS)] for page in _pages(Path(place))]
    findings = [
        {"path": _shown_path(page), **asdict(finding)}
        for page in dict.fromkeys(pages)
        for finding in _findings(page)
    ]
    record = {"files": len(dict.fromkeys(pages)), "findings": findings}
    return Answer(record, _check_text, as_json, FINDINGS if findings else 0)


def _pages(place: Path) -> list[Path]:
    if place.is_dir():
        return sorted(place.rglob("*.md"))
    return [place]


def _shown_path(page: Path) -> str:
    """As seen from here, or from the repository."""
    whole_path = page.resolve()
    for base in (Path.cwd(), ROOT):
        if whole_path.is_relative_to(base):
            return whole_path.relative_to(base).as_posix()
    return page.as_posix()


def _findings(page: Path) -> list[Finding]:
    """What must be mended in one file, in its order."""
    from build_tools import problems
    from build_tools.pages import convert_text
    from build_tools.source import Source

    try:
        # Line ends as they are: columns are counted in the file's own text.
        text = page.read_bytes().decode("utf-8")
    except OSError as error:
        raise LessonError(str(page), error.strerror, "a file that can be read") from None
    except UnicodeDecodeError as error:
        raise LessonError(str(page), str(error), "a file in UTF-8") from None
    return problems.find(convert_text(text, page.name), Source(text))


def _check_text(r: Record) -> list[str]:
    listed = [
        f"{f['path']}:{f['line']}:{f['column']}: {' '.join(f['text'].split())}: {f['says']}"
        for f in r["findings"]
    ]
    pages = _counted(r["files"], "file")
    wrong = {f["path"] for f in r["findings"]}
    if not listed:
        return [f"{pages} checked, nothing to mend"]
    return [*listed, f"{pages} checked, {len(listed)} to mend in {len(wrong)}"]
