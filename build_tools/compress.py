"""Compressed siblings of a built site's files, for hosts that do not compress by themselves.

``page.html`` gets ``page.html.gz`` and ``page.html.br``, where they are worth it. Brotli at its
best takes half a minute for Python's WASM; so results are kept under their content's hash.

    python -m build_tools.compress site
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import brotli

CACHE = Path(".cache/compressed")
SUFFIXES = {".html", ".css", ".js", ".mjs", ".json", ".svg", ".ico", ".txt", ".webmanifest"}
SUFFIXES |= {".wasm", ".zip", ".whl"}
LEAST = 512  # bytes; what fits in a packet need not be smaller
WORTH = 0.95  # of the size: a sibling that hardly saves anything is left out

METHODS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": lambda content: gzip.compress(content, 9, mtime=0),
    ".br": lambda content: brotli.compress(content, quality=11, lgwin=24),
}


def siblings(
    site: Path, cache: Path = CACHE, methods: dict[str, Callable[[bytes], bytes]] = METHODS
) -> dict[str, int]:
    """Write the siblings of all files of ``site``; returns how many bytes each method leaves
    (files that it does not make smaller count as they are), and as ``""`` how many there are.
    What is in ``cache`` for files of former builds is deleted."""
    files = sorted(f for f in site.rglob("*") if f.is_file() and f.suffix in SUFFIXES)
    cache.mkdir(parents=True, exist_ok=True)
    jobs = [(file, suffix) for file in files for suffix in methods]

    def make(job: tuple[Path, str]) -> tuple[Path, int]:
        return _sibling(*job, cache, methods[job[1]])

    with ThreadPoolExecutor() as pool:  # both libraries let go of Python's lock
        made = list(pool.map(make, jobs))
    for old in cache.iterdir():
        if old not in {kept for kept, _ in made}:
            old.unlink()
    sizes = {"": sum(file.stat().st_size for file in files)}
    for (_, suffix), (_, size) in zip(jobs, made, strict=True):
        sizes[suffix] = sizes.get(suffix, 0) + size
    return sizes


def _sibling(
    file: Path, suffix: str, cache: Path, compress: Callable[[bytes], bytes]
) -> tuple[Path, int]:
    """Write one sibling; returns where it is kept, and the bytes that are sent."""
    content = file.read_bytes()
    kept = cache / f"{sha256(content).hexdigest()[:32]}{suffix}"
    sibling = file.with_name(file.name + suffix)
    sibling.unlink(missing_ok=True)
    if len(content) < LEAST:
        return kept, len(content)
    if not kept.is_file():
        draft = kept.with_name(f"{kept.name}.{id(file)}")  # whole or not at all
        draft.write_bytes(compress(content))
        draft.replace(kept)
    smaller = kept.read_bytes()
    if len(smaller) > WORTH * len(content):
        return kept, len(content)
    sibling.write_bytes(smaller)
    return kept, len(smaller)


def main() -> None:
    sizes = siblings(Path(sys.argv[1]))
    told = ", ".join(f"{size / 1e6:.1f} MB as {suffix}" for suffix, size in sizes.items() if suffix)
    print(f"site: {sizes[''] / 1e6:.1f} MB; compressed siblings beside it: {told}")


if __name__ == "__main__":
    main()
