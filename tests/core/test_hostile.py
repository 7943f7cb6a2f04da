"""A query is data: whatever it holds, a frame has the elements and attributes of its template."""

from __future__ import annotations

import json
import re
from urllib.parse import urlencode

import pytest

import widgets
from py_core.data import model_slugs
from py_core.model import load_model
from tests.hostile import CORPUS, dealt
from widgets.models import COUNTS
from widgets.state import parse

ELEMENT = re.compile(r"<([a-zA-Z][^\s/>]*)((?:\s+[^\s=>]+(?:=\"[^\"]*\")?)*)\s*/?>")
ATTRIBUTE = re.compile(r"\s([^\s=>\"]+)=?(?:\"([^\"]*)\")?")
# Where an address may stand, and what ours look like: within the site, or a paper's.
ADDRESSES = {"href", "src", "action", "formaction", "xlink:href", "poster", "data", "srcset"}
OURS = re.compile(r"(\.\./|#|\?|https://(arxiv\.org|github\.com|doi\.org)/|$)")


def odd(html: str) -> list[str]:
    """What no template of ours writes."""
    found = []
    for name, attributes in ELEMENT.findall(html):
        if name.lower() in {"script", "style", "iframe", "object", "embed", "base", "link", "meta"}:
            found.append(name)
        for key, value in ATTRIBUTE.findall(attributes):
            handler = key.lower().startswith("on") or key.lower() == "style"
            elsewhere = key.lower() in ADDRESSES and not OURS.match(value)
            if handler or elsewhere:
                found.append(f"{name} {key}={value}")
    # Everything else that begins a tag is text, and escaped.
    rest = re.sub(r"</[a-zA-Z][\w-]*>", "", ELEMENT.sub("", html))
    return found + re.findall(r"<.{0,40}", rest, re.S)


def test_there_is_enough_of_it() -> None:
    assert len(set(CORPUS)) >= 60
    for text in ('<p style="x">', "<b onclick=x>", '<a href="javascript:x">', "<script>", "<b"):
        assert odd(text), text
    assert odd('<a href="../x">&lt;b</a>') == []


@pytest.mark.parametrize("name", widgets.NAMES)
def test_in_every_field(name: str) -> None:
    fields = widgets.widget(name).FIELDS
    # Beside the fields: what they were, a button's several fields, and one that does not exist.
    names = [*(f.name for f in fields), "was", "nothing"]
    assert odd(widgets.render(name, base="../")) == []
    for number, given in enumerate(dealt(names)):
        query = urlencode({**given, given["nothing"]: "1"})
        assert odd(widgets.render(name, query, base="../")) == [], query
        whole = {f.name: given[f.name] for f in fields}
        assert odd(widgets.render(name, urlencode({"go": urlencode(whole)}), base="../")) == []
        # Nothing of it becomes a value, which would reach formulas, files and links.
        values = parse(fields, urlencode(whole)).values
        assert not [n for n, v in values.items() if v and v == whole[n]], number


@pytest.mark.parametrize("text", CORPUS)
def test_as_a_config(text: str) -> None:
    """Pasted instead of a config, and within one: as its name, its type, a number."""
    config = load_model("qwen3-8b").config
    for given in (text, *(json.dumps(config | {k: text}) for k in ("model_type", "hidden_size"))):
        answer = json.loads(widgets.answer(json.dumps({"config": given})))
        assert set(answer) == {"error"}
        assert set(answer["error"]) == {"field", "says", "unknown"}
    for key in COUNTS:
        typed = {"total": "8B", "trained": "", "largest_tensor": ""} | {key: text}
        answer = json.loads(widgets.answer(json.dumps({"counts": typed})))
        assert set(answer) == {"error"}
    assert text not in model_slugs()
