"""The Content-Security-Policy of built pages: nothing but the site's own files runs or loads.

A page carries it as ``<meta>``, so it holds on hosts that send no headers. A host that does send
them says the same with :func:`header`, which covers the workers too. The theme's few inline
scripts are named by their hashes. Under ``mkdocs serve`` there is none: its live reload is an
inline script that changes with every build.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

RULES = {
    "default-src": "'none'",
    # Python is WebAssembly, which browsers compile only where this is said.
    "script-src": "'self' 'wasm-unsafe-eval'",
    "style-src": "'self'",
    "img-src": "'self' data:",  # the theme's icons
    "connect-src": "'self'",
    "worker-src": "'self'",
    "manifest-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
FRAMED = "frame-ancestors 'self'"  # browsers take it from a header only

_SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.S)
_INERT = re.compile(r"""\bsrc=|\btype=["']?application/json""")
_CHARSET = re.compile(r"<meta charset=[^>]*>")


def hashes(html: str) -> set[str]:
    """The inline scripts of a page, as a policy names them; data and files are none."""
    inline = (body for attributes, body in _SCRIPT.findall(html) if not _INERT.search(attributes))
    return {f"'sha256-{b64encode(sha256(body.encode()).digest()).decode()}'" for body in inline}


def policy(allowed: Iterable[str]) -> str:
    """The policy with the inline scripts that :func:`hashes` named."""
    rules = RULES | {"script-src": " ".join([RULES["script-src"], *sorted(allowed)])}
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def header(pages: Iterable[str]) -> str:
    """The policy of a host for all pages, given their HTML."""
    return f"{policy(set().union(*map(hashes, pages)))}; {FRAMED}"


def guarded(html: str) -> str:
    """A page with its policy, which holds from there on: nothing stands before it but the
    encoding."""
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy(hashes(html))}">'
    return _CHARSET.sub(lambda m: f"{m[0]}\n      {meta}", html, count=1)
