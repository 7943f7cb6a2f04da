"""``lesson nginx``: what a host is told about the built site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from build_tools.cli.shell import Answer, AsJson, app


@app.command()
def nginx(
    site: Annotated[str, typer.Option(help="The folder that `make site` made.")] = "site",
    root: Annotated[
        str, typer.Option(help="Where nginx looks: the site lies at this folder plus --at.")
    ] = "/srv/www",
    at: Annotated[str, typer.Option(help="The path of the site's address.")] = "/",
    as_json: AsJson = False,
) -> Answer:
    """Print a configuration of nginx for the built site."""
    from build_tools import hosting

    record = {"config": hosting.nginx(Path(site), root, at)}
    return Answer(record, lambda r: r["config"].splitlines(), as_json)
