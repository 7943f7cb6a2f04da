"""What the theme copies into every site and ours does not use: about a megabyte and a half."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

SCRIPTS = "assets/javascripts"
STEMMER = "lunr.stemmer.support.min.js"  # what every language but English rests on


def remove_unused(site: Path, languages: Iterable[str]) -> None:
    """Delete the search languages other than ``languages``, segmenters of Japanese and Thai,
    and the maps from the theme's scripts to sources that nobody here has."""
    used = {STEMMER, *(f"lunr.{language}.min.js" for language in languages)}
    if len(used) > 2:
        used.add("lunr.multi.min.js")
    for file in (site / SCRIPTS / "lunr").rglob("*.js"):
        if file.name not in used:
            file.unlink()
    for source_map in (site / "assets").rglob("*.min.*.map"):
        source_map.unlink()
