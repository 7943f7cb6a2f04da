"""Small faults in the HTML that theme and Markdown write, mended in every page."""

from __future__ import annotations

import re

_DIALOG = 'data-md-component="search" role="dialog"'
_TOGGLE = re.compile(r'(<input class="md-toggle" [^>]*type="checkbox" [^>]*?) autocomplete="off"')
_CONTENTS = '<nav class="md-nav md-nav--secondary" aria-label="目录">'


def mended(html: str) -> str:
    """The page with a name for its search, heads of columns that say so, and no attribute where
    HTML has no place for it."""
    html = html.replace(_DIALOG, f'{_DIALOG} aria-label="搜索"')
    html = _TOGGLE.sub(r"\1", html)
    if html.count(_CONTENTS) == 2:  # in the drawer and beside the text
        html = html.replace(_CONTENTS, _CONTENTS.replace("目录", "本页目录"), 1)
    html = html.replace("<th>", '<th scope="col">')  # Markdown's tables have no other heads
    if 'id="__toc"' not in html:  # a page outside the navigation has none in the drawer
        html = html.replace(' for="__toc"', "")
    return html
