"""Reading what a frame says, for tests without a browser."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl

import widgets
from build_tools.pack import node


def full(html: str) -> dict[str, str]:
    """The state that a frame says it shows."""
    found = re.search(r'data-full="([^"]*)"', html)
    assert found
    return dict(parse_qsl(found[1].replace("&amp;", "&")))


def ids(*frames: str) -> list[str]:
    """Every id in the frames, in order."""
    seen: list[str] = []

    class Ids(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.extend(value for key, value in attrs if key == "id" and value)

    for frame in frames:
        Ids().feed(frame)
    return seen


def same_in_pyodide(name: str, more: list[str], boot: dict[str, Any]) -> None:
    """The widget's walk and ``more`` queries give the same bytes in the browser's Python."""
    queries = [*widgets.widget(name).walk(), *more]
    code = f"import json, widgets; json.dumps([widgets.render({name!r}, q) for q in {queries!r}])"
    assert node.run(code, boot) == [widgets.render(name, query) for query in queries]
