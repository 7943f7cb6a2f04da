"""The panel in which readers choose their own model and cluster, for every lesson page.

It needs a script in any case, so it comes in one: pages stay light.
"""

from __future__ import annotations

import json

from markupsafe import Markup

from widgets import frame, widget
from widgets.environment import environment

ID = "yours"


def script(base: str, runtime: str) -> bytes:
    """What sets ``lessonYours``, the panel's HTML, for pages that ``base`` leads up from."""
    module = widget(ID)
    element = frame.element(module, "", ID, base, runtime, "")
    html = environment().get_template("yours/panel.html").render(widget=Markup(element))
    return f"globalThis.lessonYours = {json.dumps(html, ensure_ascii=False)};\n".encode()


OPENER = (
    '<button type="button" class="yours-open" data-yours hidden>换成你的模型</button>'
    '<script defer src="{src}"></script>'
)
