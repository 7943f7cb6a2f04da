"""The runtime's bytes with brotli at its best, which takes half a minute."""

from __future__ import annotations

from pathlib import Path

import brotli

from tests import weight


def test_the_runtime_is_within_its_budget(site: Path) -> None:
    sent = {f.name: len(brotli.compress(f.read_bytes())) for f in weight.runtime(site)}
    assert sum(sent.values()) <= weight.RUNTIME_BROTLI, sent
