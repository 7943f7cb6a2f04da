"""The pages of a checkout converted without a build: quick, for the author's commands."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from markdown import Markdown

from build_tools.numbers import Numbers
from build_tools.problems import find
from build_tools.prose import LessonExtension, Page
from build_tools.source import Source
from py_core.errors import LessonError

ROOT = Path(__file__).resolve().parent.parent
_BUILT_IN = ("toc", "tables", "fenced_code")  # MkDocs has these always


class BrokenPages(LessonError):
    """Pages that cannot be converted as they are; ``str`` tells the first problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("docs", problems[0], "pages without problems")
        self.problems = problems

    def __str__(self) -> str:
        more = len(self.problems) - 1
        return self.problems[0] + (f" (and {more} more)" if more else "")


class Converted(NamedTuple):
    """A page: its whole file, and what converting it made."""

    source: Source
    page: Page


def convert(root: Path = ROOT) -> Iterator[Converted]:
    """Every page below ``docs/``, by path, converted with the extensions of ``mkdocs.yml``."""
    docs = root / "docs"
    if not docs.is_dir():
        raise LessonError(str(docs), "absent", "a checkout with the pages in docs/")
    for file in sorted(docs.rglob("*.md")):
        text = file.read_text(encoding="utf-8-sig")
        yield Converted(Source(text), convert_text(text, file.relative_to(docs).as_posix(), root))


def convert_text(text: str, path: str, root: Path = ROOT) -> Page:
    """What converting one page makes; ``text`` is its whole Markdown file."""
    from mkdocs.utils import meta

    names, configs = _extensions(root)
    extension = LessonExtension()
    extension.page = Page(path=path)
    body = meta.get_data(text.removeprefix("\ufeff"))[0]
    Markdown(extensions=[*names, extension], extension_configs=configs).convert(body)
    return extension.page


def document(root: Path = ROOT) -> dict[str, Any]:
    """What ``numbers.json`` says of the pages as they are. Raises BrokenPages."""
    numbers, wrong = Numbers(), []
    for converted in convert(root):
        numbers.add(converted.page, converted.source)
        path = f"docs/{converted.page.path}"
        wrong += [f"{path}:{finding}" for finding in find(converted.page, converted.source)]
    if wrong:
        raise BrokenPages(wrong)
    return numbers.document()


class FactsUsed(NamedTuple):
    """Ids of facts and sources, each with the pages that show, cite or compute with them."""

    facts: dict[str, list[str]]
    sources: dict[str, list[str]]


def facts_used(root: Path = ROOT) -> FactsUsed:
    """Which facts and sources the pages rest on, as the pages are."""
    used = FactsUsed({}, {})
    for converted in convert(root):
        numbers, page = Numbers(), converted.page
        numbers.add(page, converted.source)
        for fact in numbers.facts:
            used.facts.setdefault(fact, []).append(page.path)
        for source in {*numbers.papers, *page.references.papers}:
            used.sources.setdefault(source, []).append(page.path)
    return used


@cache
def _extensions(root: Path) -> tuple[list[str], dict[str, dict[str, Any]]]:
    from mkdocs.utils.yaml import yaml_load

    file = root / "mkdocs.yml"
    try:
        with file.open("rb") as opened:
            listed = yaml_load(opened)["markdown_extensions"]
    except OSError as error:
        raise LessonError(str(file), error.strerror, "a checkout with its mkdocs.yml") from None
    configs: dict[str, dict[str, Any]] = {}
    for entry in listed:
        configs |= entry if isinstance(entry, dict) else {entry: {}}
    configs = {name: options or {} for name, options in configs.items()}
    return list(dict.fromkeys([*_BUILT_IN, *configs])), configs
