"""What is wrong with a page: calls that cannot be computed, and what the linter finds."""

from __future__ import annotations

from build_tools import lint
from build_tools.prose import HALF_CLAIM, Page, locate
from build_tools.source import Source


def find(page: Page, source: Source) -> list[lint.Finding]:
    """All problems of a converted ``page`` whose Markdown file is ``source``, in its order.

    Both sides see half a claim or a ``lit`` without a reason; a place is reported once.
    Where claims go wrong, the file knows better than the page what goes with what.
    """
    told = [p for p in page.problems if not (source.faults and p.says == HALF_CLAIM)]
    found = {
        (line, column): lint.Finding(line, column, problem.written, "page", problem.says)
        for line, column, problem in reversed(locate(told, source))
    }
    for finding in lint.check(source):
        found.setdefault((finding.line, finding.column), finding)
    return [found[place] for place in sorted(found)]
