"""Terms that a reader can have explained: ``{{ term("all-reduce") }}``.

A term is a button like a figure; its panel says what it means. The words are in
``docs/data/glossary.json``.
"""

from __future__ import annotations

import json
from functools import cache
from xml.etree.ElementTree import Element

from markdown.util import AtomicString
from markupsafe import Markup

from build_tools.calls import Call
from py_core import data
from py_core.errors import UnknownName
from widgets.environment import environment

FILE = "glossary.json"


@cache
def entries() -> dict[str, dict[str, str]]:
    """Each term's id with ``term``, as its panel heads it, and ``says``."""
    loaded: dict[str, dict[str, str]] = json.loads(data.read(FILE))
    return loaded


def element(terms: dict[str, str], call: Call) -> Element:
    """The button of a term, noted in ``terms``; ``says`` is how the sentence spells it."""
    call.nothing_but("says")
    name = call.one_name("term")
    known = entries()
    if name not in known:
        raise UnknownName("term", name, {k: " ".join(v.values()) for k, v in known.items()})
    panel = terms.setdefault(name, f"term-{name}")
    button = Element("button", {"type": "button", "class": "q term", "popovertarget": panel})
    button.set("aria-describedby", f"{panel}-says")
    button.text = AtomicString(call.text_option("says") or name)
    return button


def panels(terms: dict[str, str]) -> Markup:
    """What the terms of a page mean, each in a panel of its own."""
    if not terms:
        return Markup("")
    template = environment().from_string(_PANELS)
    listed = [(panel, entries()[name]) for name, panel in terms.items()]
    return Markup(template.render(terms=listed))


_PANELS = """<section class="panels" data-search-exclude>
<p class="panels-title">本页的词</p>
{% for id, t in terms %}
<div popover class="panel" id="{{ id }}" role="dialog" aria-labelledby="{{ id }}-name" aria-describedby="{{ id }}-says" tabindex="-1">
<p class="panel-head"><strong id="{{ id }}-name">{{ t.term }}</strong></p>
<p id="{{ id }}-says">{{ t.says }}</p>
<button type="button" class="panel-close" popovertarget="{{ id }}" popovertargetaction="hide">关闭</button>
</div>
{% endfor %}
</section>
"""  # noqa: E501
