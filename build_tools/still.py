"""What readers without JavaScript see of widgets, made lighter: nothing to press, which would do
nothing, and no panel twice; a figure opens the one that the page, or a frame above, has."""

from __future__ import annotations

import re

_STILL = re.compile(r"<noscript>.*?</noscript>", re.S)
_PRESSED = re.compile(
    r"<input\b[^>]*>|<(label|select)\b.*?</\1>"
    r'|<button\b(?![^>]*\bclass="(?:q|panel-close)\b).*?</button>'
    r"|<(\w+)\b[^>]* data-press\b.*?</\2>",
    re.S,
)
_PANEL = re.compile(r'<div popover class="panel" id="([^"]+)".*?\n</div>\n', re.S)
_OPENS = re.compile(r'popovertarget="([^"]+)"')
# What is not the figure's own: ids, and what a frame, made without its page, cannot know.
_NAMES = re.compile(r' (?:id|aria-labelledby|popovertarget)="[^"]*"')
_OF_PAGE = re.compile(r'<p class="panel-(?:fixed|uses)">.*?</p>')


def panels_of(html: str) -> dict[str, str]:
    """What each panel in ``html`` says, and the id of the first that says it."""
    said: dict[str, str] = {}
    for m in _PANEL.finditer(html):
        said.setdefault(_says(m[0]), m[1])
    return said


def lightened(widget: str, said: dict[str, str]) -> str:
    """``widget``, an element, without the panels that are ``said`` before; notes its own there."""

    def lighten(still: re.Match[str]) -> str:
        shown = _PRESSED.sub("", still[0])
        own = {m[1]: said.setdefault(_says(m[0]), m[1]) for m in _PANEL.finditer(shown)}
        kept = _PANEL.sub(lambda m: m[0] if own[m[1]] == m[1] else "", shown)
        return _OPENS.sub(lambda m: f'popovertarget="{own.get(m[1], m[1])}"', kept)

    return _STILL.sub(lighten, widget)


def _says(panel: str) -> str:
    return re.sub(r"\s+", " ", _NAMES.sub("", _OF_PAGE.sub("", panel)))
