"""nginx with its Brotli module: the machine's own, or Debian's packages unpacked into .cache."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from build_tools import compress
from tests.conftest import ROOT
from tests.site.project import lesson

PACKAGES = ("nginx", "nginx-common", "libnginx-mod-http-brotli-static")
MODULE = "usr/lib/nginx/modules/ngx_http_brotli_static_module.so"
CACHE = ROOT / ".cache/nginx"

MAIN = """
daemon off;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
load_module {module};
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  include {folder}/lesson.conf;
}}
"""


@dataclass(frozen=True)
class Nginx:
    """The program's path, and the folder below which the rest of its packages lies."""

    program: str
    root: Path


def installed() -> Nginx:
    """Skips the test where there is none and none can be had."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program and Path("/", MODULE).is_file():
        return Nginx(program, Path("/"))
    if not (CACHE / MODULE).is_file():
        _unpack()
    return Nginx(str(CACHE / "usr/sbin/nginx"), CACHE)


def _unpack() -> None:
    advice = f"no nginx here: install Debian's packages {', '.join(PACKAGES)}"
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        pytest.skip(advice)
    CACHE.mkdir(parents=True, exist_ok=True)
    download = ["apt-get", "download", "-q", *PACKAGES]
    commands = [download] if os.geteuid() else [download, ["apt-get", "update", "-q"], download]
    for command in commands:
        run = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, check=False)
        if command == download and run.returncode == 0:
            break
    else:
        pytest.skip(f"{advice} ({run.stderr.strip()})")
    for package in CACHE.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, CACHE], check=True)
        package.unlink()


@contextmanager
def serving(nginx: Nginx, config: str, folder: Path) -> Iterator[str]:
    """Run nginx with ``config``, as `lesson nginx` prints it; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = config.replace("listen 80;", f"listen 127.0.0.1:{port};")
    config = config.replace("listen [::]:80;", "").replace("/etc/", f"{nginx.root}/etc/")
    (folder / "lesson.conf").write_text(config, encoding="utf-8")
    user = "" if os.geteuid() else "user root;"  # pytest's folders are its user's alone
    main = MAIN.format(folder=folder, user=user, module=nginx.root / MODULE)
    (folder / "nginx.conf").write_text(main, encoding="utf-8")
    command = [nginx.program, "-c", folder / "nginx.conf", "-p", folder, "-e", folder / "error.log"]
    server = subprocess.Popen(command)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert server.poll() is None, (folder / "error.log").read_text()
            time.sleep(0.05)
        assert (folder / "error.log").read_text() == ""  # nothing in the configuration is odd
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


@contextmanager
def hosting(
    site: Path, folder: Path, at: str, methods: dict[str, Callable[[bytes], bytes]]
) -> Iterator[str]:
    """nginx with the configuration that `lesson nginx` prints, a copy of the site and its
    compressed siblings below ``at``; gives the host's address."""
    program = installed()
    hosted = folder / at.strip("/")
    shutil.copytree(site, hosted)
    compress.siblings(hosted, folder / "compressed", methods)
    printed = lesson(ROOT, "nginx", "--site", str(site), "--root", str(folder), "--at", at)
    assert printed.returncode == 0, printed.stderr
    with serving(program, printed.stdout, folder) as address:
        yield address
