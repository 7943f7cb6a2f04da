"""``{{ task("ring.naive") }}``: a link that leads to where a thing to try begins, and its tick.

The link is plain: without JavaScript it opens the page in that state. The runtime takes the
state in place instead, and shows the tick once the reader has seen what the task is about.
"""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode
from xml.etree.ElementTree import Element, SubElement

from markdown.util import AtomicString

import widgets
from build_tools.calls import Call
from py_core.errors import LessonError, UnknownName
from widgets.state import parse
from widgets.tasks import tasks_of

GO, SEEN = "带我去", "✓ 看到了"


def element(call: Call) -> Element:
    """The link and its tick. ``says`` replaces the link's words."""
    call.nothing_but("says")
    full = call.one_name("task")
    widget, _, name = full.partition(".")
    module = widgets.widget(widget)
    tasks = tasks_of(module)
    if name not in tasks:
        raise UnknownName("task", full, [f"{widget}.{known}" for known in tasks])
    start = tasks[name].start
    notices = parse(module.FIELDS, start).notices
    if notices:
        raise LessonError(f"{full}: {notices[0].field}", notices[0].typed, notices[0].accepted)
    # Every task asks for something, so that its link is one to a state.
    query = urlencode([(f"{widget}.{key}", value) for key, value in parse_qsl(start)])
    span = Element("span", {"class": "task"})
    # A place inside folded controls unfolds them: browsers see to that.
    place = f"{widget}-{tasks[name].at}" if tasks[name].at else widget
    link = SubElement(span, "a", {"href": f"?{query}#{place}"})
    link.text = AtomicString(call.text_option("says") or GO)
    link.tail = AtomicString(" ")
    tick = SubElement(span, "span", {"class": "task-seen", "data-ticks": full, "hidden": "hidden"})
    tick.text = AtomicString(SEEN)
    return span
