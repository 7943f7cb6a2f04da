"""What a host may say about the site: policy, caching, types; for nginx and for static hosts.

None of it is needed. A site that is served plainly works; told this, its host sends less and
forbids more. Files with their content's hash in their names are kept by browsers for ever, all
others are asked for again.
"""

from __future__ import annotations

from pathlib import Path

from build_tools import csp
from py_core.errors import LessonError

FOREVER = "public, max-age=31536000, immutable"
HEADERS = "_headers"  # how Cloudflare Pages, Netlify and others are told
TEMPLATE = Path(__file__).with_name("nginx.conf")
# Folders in which every name carries a hash. (The theme's scripts do too, its search words not.)
HASHED = ("assets/lesson/", "assets/frames/", "assets/py/", "assets/stylesheets/")


def policy(site: Path) -> str:
    """The Content-Security-Policy of the pages of the built ``site``, as a header's value."""
    return csp.header(page.read_text(encoding="utf-8") for page in sorted(site.rglob("*.html")))


def always(site: Path) -> dict[str, str]:
    """The headers of every answer."""
    return {
        "Content-Security-Policy": policy(site),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
    }


def write_headers(site: Path) -> None:
    """Leave the file from which static hosts that know of it take their headers."""
    rules = [("/*", always(site))]  # such hosts have everything asked for again by themselves
    rules += [(f"/{folder}*", {"Cache-Control": FOREVER}) for folder in HASHED]
    lines = []
    for path, headers in rules:
        lines.append(path)
        lines += [f"  {name}: {value}" for name, value in headers.items()]
    (site / HEADERS).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def nginx(site: Path, root: str, at: str) -> str:
    """A configuration of nginx for the built ``site``, which lies at ``root`` + ``at``.

    ``at`` is the path of its address, such as ``/`` or ``/course/``. Raises LessonError.
    """
    if not (site / "index.html").is_file():
        raise LessonError("site", str(site), "a built site (`make site` makes it)")
    if not (at.startswith("/") and at.endswith("/")) or set(at) & set("\"'{};$\\ \t\n"):
        raise LessonError("--at", at, "a path such as / or /course/")
    if not root.startswith("/") or set(root) & set("\"'{};$\\\n"):
        raise LessonError("--root", root, "an absolute path, such as /srv/www")
    headers = "\n".join(f'  add_header {k} "{v}" always;' for k, v in always(site).items())
    text = TEMPLATE.read_text(encoding="utf-8")
    for mark, value in {"root": root, "at": at, "headers": headers}.items():
        text = text.replace(f"@{mark}@", value)
    return text
