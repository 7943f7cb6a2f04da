"""The panel in which readers choose their own model and cluster, for every lesson page.

It needs a script in any case, so it comes in one, and only when it is wanted.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

from markupsafe import Markup

from build_tools.assets import served
from widgets import frame, widget
from widgets.environment import environment
from widgets.models import COUNTS

ID = "yours"
HINTS = {"total": "比如 72B", "trained": "空着：全部", "largest_tensor": "空着：不知道"}
RUNTIME = Path(__file__).parent.parent / "widgets/runtime/yours.js"


@lru_cache(maxsize=8)  # ``runtime`` carries the hash of all that the panel is made of
def script(base: str, runtime: str) -> bytes:
    """The panel and what it does, for pages that ``base`` leads up from."""
    module = widget(ID)
    element = frame.element(module, "", ID, base, runtime, "")
    template = environment().get_template("yours/panel.html")
    counts = [(key, label, HINTS[key]) for key, label in COUNTS.items()]
    html = template.render(widget=Markup(element), counts=counts)
    panel = f"globalThis.lessonYoursPanel = {json.dumps(html, ensure_ascii=False)};\n"
    return panel.encode() + served(RUNTIME)


OPENER = '<button type="button" class="yours-open" data-yours="{src}" hidden>换成你的模型</button>'
