"""Rules of accessibility, told by axe."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.conftest import ROOT

AXE = ROOT / "node_modules/axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
_RUN = """async ([include, tags]) => {
    const found = await axe.run(include, {runOnly: tags});
    return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`);
}"""


def violations(page: Page, *selectors: str) -> list[str]:
    """What is broken within ``selectors``, or on the whole page: rule and elements."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(AXE.read_text(encoding="utf-8"))  # a script tag would break the page's policy
    include = {"include": [[s] for s in selectors or ("html",)]}
    return page.evaluate(_RUN, [include, RULES])
