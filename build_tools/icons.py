"""The icons of the installed site, drawn from its SVG by a browser.

    python -m build_tools.icons     # after a change of docs/assets/favicon.svg

They are committed, so that a build needs no browser; a test draws them again and compares.
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
DRAWING = ROOT / "docs/assets/favicon.svg"
FOLDER = ROOT / "docs/assets/icons"
PAPER = "#fbfaf7"


class Icon(NamedTuple):
    """``part``: how much of its width the drawing takes; systems cut maskable ones to a shape,
    a circle of four fifths at the least, and want them opaque."""

    name: str
    size: int  # px
    part: float
    paper: str


ICONS = (
    Icon("icon-192.png", 192, 1, "transparent"),
    Icon("icon-512.png", 512, 1, "transparent"),
    Icon("maskable-192.png", 192, 0.6, PAPER),
    Icon("maskable-512.png", 512, 0.6, PAPER),
)


def drawn(browser: Browser, icon: Icon) -> bytes:
    """One icon as PNG."""
    source = f"data:image/svg+xml;base64,{b64encode(DRAWING.read_bytes()).decode()}"
    side, edge = icon.size * icon.part, icon.size * (1 - icon.part) / 2
    page = browser.new_page(viewport={"width": icon.size, "height": icon.size})
    page.set_content(
        f'<body style="margin:0;background:{icon.paper}">'
        f'<img src="{source}" style="position:absolute;left:{edge}px;top:{edge}px;width:{side}px">'
    )
    png = page.screenshot(omit_background=True)
    page.close()
    return png


def main() -> None:
    from playwright.sync_api import sync_playwright

    executable = (ROOT / ".cache/browser").read_text().strip()
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        for icon in ICONS:
            (FOLDER / icon.name).write_bytes(drawn(browser, icon))
        browser.close()


if __name__ == "__main__":
    main()
