"""What an author sees in the page under ``mkdocs serve`` while something is wrong with it."""

from __future__ import annotations

from html import escape


def html(messages: list[str]) -> str:
    """A banner that lists ``messages``, each naming file, line and column."""
    items = "".join(f"<li><code>{escape(message)}</code></li>" for message in messages)
    return (
        f'<div class="problems" role="alert"><p>这一页有 {len(messages)} 处要改，'
        f"改好后会自动刷新：</p><ol>{items}</ol></div>\n"
    )
