"""Python in Pyodide, without a browser: the pack of this checkout booted under Node."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from build_tools import pack

ROOT = Path(__file__).resolve().parent.parent

BOOT = """
import { pathToFileURL } from "node:url";
const [options, code] = JSON.parse(process.argv[1]);
const { loadPyodide } = await import(pathToFileURL(options.pyodide).href);
const { pyodide, ...boot } = options;
const python = await loadPyodide(boot);
process.stdout.write(python.runPython(code));
"""


def options(packs: pack.Packs, site: Path) -> dict[str, Any]:
    """What ``loadPyodide`` takes under Node, for a pack published into ``site``."""
    boot = pack.publish(packs, site)
    names = ("pyodide", "indexURL", "stdLibURL", "lockFileURL", "packageBaseUrl")
    return {name: f"{site}/{boot[name]}" for name in names} | {"packages": boot["packages"]}


def run(code: str, boot: dict[str, Any], timeout: int = 120) -> Any:
    """Run ``code``, whose last expression is a JSON text, and return what that says."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", BOOT, json.dumps([boot, code])],
        cwd=boot["indexURL"],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Pyodide under Node failed:\n{done.stderr}")
    return json.loads(done.stdout)
