"""What an author sees in the page under ``mkdocs serve`` while something is wrong with it."""

from __future__ import annotations

from html import escape

# For pages that have no style sheet of ours, since what makes it is what is broken.
_STYLE = (
    "<style>.problems{margin:0 0 1rem;padding:.2rem 1rem;border:2px solid #d62839;"
    "border-radius:.5rem;background:#fff;color:#1f2430}</style>"
)


def of_everything(message: str) -> str:
    """The banner of every page while nothing can be computed at all."""
    return (
        f'{_STYLE}<div class="problems" role="alert"><p>现在什么都算不出来，这一页只有原文。'
        f"改好后会自动刷新：</p><p><code>{escape(message)}</code></p></div>\n"
    )


def html(messages: list[str]) -> str:
    """A banner that lists ``messages``, each naming file, line and column."""
    items = "".join(f"<li><code>{escape(message)}</code></li>" for message in messages)
    return (
        f'<div class="problems" role="alert"><p>这一页有 {len(messages)} 处要改，'
        f"改好后会自动刷新：</p><ol>{items}</ol></div>\n"
    )
