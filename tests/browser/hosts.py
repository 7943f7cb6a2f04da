"""Static hosts as they are found: one folder at the root and below a path, types and headers of
their own, a folder that another deployment replaces."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SUB_PATH = "/a/b/"


@dataclass
class Host:
    """``types``: what the host says of a suffix, None for nothing; ``headers`` go along with
    every answer; ``folder`` may change while it runs."""

    folder: Path
    types: dict[str, str | None] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    origin: str = ""
    asked: list[str] = field(default_factory=list)
    """Paths below the host's root or ``SUB_PATH``, queries included."""
    ill: bool = False
    fault: int | None = None
    """While it is ill: the status it answers with, or None for silence."""


@contextmanager
def started(host: Host) -> Iterator[Host]:
    class Handler(SimpleHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def translate_path(self, path: str) -> str:
            self.directory = str(host.folder)
            return super().translate_path("/" + path.removeprefix(SUB_PATH))

        def guess_type(self, path: str) -> str:
            suffix = Path(path).suffix
            said = host.types.get(suffix) if suffix in host.types else super().guess_type(path)
            return said or ""

        def send_header(self, keyword: str, value: str) -> None:
            if keyword != "Content-type" or value:
                super().send_header(keyword, value)

        def end_headers(self) -> None:
            for name, value in host.headers.items():
                self.send_header(name, value)
            super().end_headers()

        def log_message(self, *_args: object) -> None:
            pass

        def do_GET(self) -> None:
            host.asked.append(self.path.removeprefix(SUB_PATH).removeprefix("/"))
            if not host.ill:
                super().do_GET()
            elif host.fault:
                self.send_error(host.fault)
            else:
                while host.ill:
                    time.sleep(0.05)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    host.origin = f"http://127.0.0.1:{server.server_port}"
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
