"""The page that lists every figure of the site, filled in once all pages are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import Any

from widgets.environment import math

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Target:
    """A page that readers see: its title, and where it lies from the listing page."""

    title: str
    url: str


def html(document: Record, pages: Mapping[str, Target], base: str) -> str:
    """Two tables, of figures and of facts. What stands only on pages that ``pages`` does not
    hold is left out; ``base`` leads from this page to the site's root."""
    figures = [row for f in document["figures"] if (row := _row(_figure(f), f["used"], pages))]
    papers = {paper["key"]: paper for paper in document["papers"]}
    facts = [row for f in document["facts"] if (row := _row(_fact(f, papers), f["used"], pages))]
    cited = f"，引用 {len(facts)} 个论文里的数" if facts else ""
    parts = [
        '<div class="all-figures" data-search-exclude>',
        f"<p>一共算出 {len(figures)} 个数{cited}。"
        f'程序可以读同一份数据：<a href="{base}numbers.json">numbers.json</a>，'
        f'格式见 <a href="{base}numbers.schema.json">numbers.schema.json</a>。</p>',
        *_table("算出来的数", ("值", "是什么", "怎么算", "用在哪里"), figures),
        *(_table("论文里的数", ("值", "是什么", "出处", "用在哪里"), facts) if facts else ()),
        "</div>",
    ]
    return "\n".join(parts)


def _table(caption: str, heads: tuple[str, ...], rows: list[str]) -> list[str]:
    columns = "".join(f'<th scope="col">{head}</th>' for head in heads)
    return [
        f'<section class="all-figures-frame" tabindex="0" aria-label="{caption}">',
        f'<table class="all-figures-table"><caption>{caption}</caption>',
        f"<thead><tr>{columns}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody></table></section>",
    ]


def _row(cells: str, used: list[Record], pages: Mapping[str, Target]) -> str:
    """A row of the table; empty where no reader's page shows the figure."""
    places = [use for use in used if use["page"] in pages]
    if not places:
        return ""
    lines = []
    for page, uses in groupby(places, key=lambda use: str(use["page"])):
        links = "、".join(_link(use, pages[page]) for use in uses)
        lines.append(f"{escape(pages[page].title)}：{links}")
    return f"<tr>{cells}<td>{'<br>'.join(lines)}</td></tr>"


def _link(use: Record, page: Target) -> str:
    return f'<a href="{page.url}#{use["id"]}">{escape(use["heading"])}</a>'


def _figure(figure: Record) -> str:
    fixed = "，".join(f"{k} = {v}" for k, v in figure["set"].items())
    pinned = f"<br><small>固定在 {escape(fixed)}</small>" if fixed else ""
    inputs = figure["inputs"]
    alone = len(inputs) == 1 and figure["formula"] == inputs[0]["symbol"]
    if alone:
        how = escape(_ORIGINS[inputs[0]["kind"]])
    else:
        how = (
            f'<span class="all-figures-formula">{math(figure["formula"])}</span><br>'
            f"<small>= {escape(figure['substituted'])}</small>"
        )
    return (
        f'<th scope="row">{escape(figure["display"])}</th>'
        f"<td>{escape(figure['says'])}<br><code>{escape(figure['name'])}</code>{pinned}</td>"
        f"<td>{how}</td>"
    )


_ORIGINS = {
    "scenario": "设定",
    "config": "模型的配置",
    "inventory": "由模型的配置逐个张量数出",
    "fact": "论文里的数",
    "convention": "约定",
    "measured": "实测",
    "quantity": "另一个数",
}


def _fact(fact: Record, papers: Mapping[str, Record]) -> str:
    paper = papers[fact["paper"]]
    title = escape(paper["title"])
    if paper["link"]:
        title = f'<a href="{escape(paper["link"])}" rel="noopener">{title}</a>'
    displays = "、".join(dict.fromkeys(use["display"] for use in fact["used"]))
    return (
        f'<th scope="row">{escape(displays)}</th>'
        f"<td>{escape(fact['says'])}<br><code>{escape(fact['key'])}</code></td>"
        f"<td>{title}<br><small>{escape(fact['where'])}</small></td>"
    )
