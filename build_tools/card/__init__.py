"""The picture that other sites show for a link to this one: ``make card`` takes it anew.

It is committed, since taking it needs a browser and a Chinese font. Beside it lies what it
shows, so that a test can tell when its figures have changed.
"""

from __future__ import annotations

import json
import math
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from py_core.quantity import evaluate
from py_core.scenario import DEFAULT

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
PICTURE = ROOT / "docs" / "assets" / "card.png"
SHOWN = HERE / "shown.json"
WIDTH, HEIGHT = 1200, 630
CARDS, WIDE = 8, 64


def figures() -> dict[str, str]:
    """What the picture shows, as it is today."""
    eight, wide = (DEFAULT.with_fields({"cards": cards}) for cards in (CARDS, WIDE))
    return {
        "cards": evaluate("cards", eight).display(),
        "wide_cards": evaluate("cards", wide).display(),
        "state": evaluate("state.bytes").display(),
        "memory": evaluate("card_memory").display(),
        "years": evaluate("dsv3.years_on_one_card").display(),
        "ring": evaluate("ring.sent_per_card", eight).display(),
        "wide_ring": evaluate("ring.sent_per_card", wide).display(),
        "wide_naive": evaluate("naive.received_by_card0", wide).display(),
    }


def html() -> str:
    """The page that is photographed; it stands alone."""
    env = Environment(loader=FileSystemLoader(HERE), undefined=StrictUndefined, autoescape=True)
    style = (ROOT / "build_tools" / "lesson.css").read_text(encoding="utf-8")
    around = [2 * math.pi * (card / CARDS - 0.25) for card in range(CARDS)]
    places = [(round(math.cos(a), 4), round(math.sin(a), 4)) for a in around]
    return env.get_template("card.html").render(
        figures=figures(), style=style, places=places, width=WIDTH, height=HEIGHT
    )


def shown(picture: bytes) -> dict[str, object]:
    """What is noted of a picture."""
    return {"figures": figures(), "sha256": sha256(picture).hexdigest()}


def take() -> None:
    """Photograph it with the browser that the tests use."""
    from playwright.sync_api import sync_playwright

    executable = (ROOT / ".cache" / "browser").read_text(encoding="utf-8").strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, locale="zh-CN")
        page.set_content(html())
        picture = page.screenshot(path=PICTURE)
        browser.close()
    SHOWN.write_text(json.dumps(shown(picture), ensure_ascii=False, indent=2) + "\n", "utf-8")
    print(f"card: {PICTURE.relative_to(ROOT)}, {len(picture) // 1000} kB")
