"""What makes the site work without a network: its service worker, told what there is to keep.

The worker (``widgets/runtime/service-worker.js``) keeps one version of the site: every file with
its SHA-256. First what reading takes; the rest, Python above all, when a page asks for it. Pages
carry the version they belong to, so that a page knows whether a newer one is at hand; where they
carry none, as under ``mkdocs serve``, the runtime removes a worker that an earlier visit left.
"""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

from build_tools.assets import served

WORKER = "service-worker.js"
SOURCE = f"widgets/runtime/{WORKER}"
# No page needs them: addresses for search engines, the page for addresses that do not exist.
NEVER = ("404.html", "sitemap.xml", "sitemap.xml.gz", "_headers", WORKER)
LATER = ("assets/py/", "authors/", "data/", "numbers.")

_VERSION = "@version@"
META = f'<meta name="lesson-version" content="{_VERSION}">'


def marked(html: str) -> str:
    """A page that says which version of the site it belongs to, once :func:`publish` knows."""
    return html.replace("</head>", f"  {META}\n  </head>", 1)


def publish(site: Path, source: Path) -> None:
    """Give the built ``site`` its version and the worker made from the script ``source``."""
    files = {f.relative_to(site).as_posix(): f for f in sorted(site.rglob("*")) if f.is_file()}
    files = {path: file for path, file in files.items() if path not in NEVER}
    contents = {path: file.read_bytes() for path, file in files.items()}
    version = _version(contents)
    for page in site.rglob("*.html"):
        html = page.read_text(encoding="utf-8").replace(_VERSION, version)
        page.write_text(html, encoding="utf-8", newline="\n")
    entries = [[_address(path), _digest(file.read_bytes())] for path, file in files.items()]
    kept = {
        "version": version,
        "first": [entry for entry in entries if not entry[0].startswith(LATER)],
        "later": [entry for entry in entries if entry[0].startswith(LATER)],
    }
    script = f"self.lessonKept = {json.dumps(kept, separators=(',', ':'))};\n"
    (site / WORKER).write_bytes(script.encode() + served(source))


def _version(contents: dict[str, bytes]) -> str:
    total = sha256()
    for path, content in contents.items():
        total.update(f"{path}\0".encode() + sha256(content).digest())
    return total.hexdigest()[:12]


def _digest(content: bytes) -> str:
    return b64encode(sha256(content).digest()).decode()


def _address(path: str) -> str:
    """Pages are known by the folders they stand in."""
    return path.removesuffix("index.html") if f"/{path}".endswith("/index.html") else path
