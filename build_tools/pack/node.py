"""The browser's Python without a browser: a pack booted under Node, as the worker boots it."""

from __future__ import annotations

import json
import subprocess
import zipfile
from pathlib import Path
from typing import Any

from build_tools import pack

BOOT = """
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
const { index, info, files, code } = JSON.parse(readFileSync(0, "utf8"));
try {
  const { loadPyodide } = await import(pathToFileURL(`${index}/pyodide.mjs`).href);
  const python = await loadPyodide({
    indexURL: index,
    lockFileContents: { info, packages: {} },
    packageBaseUrl: index,
    fsInit: async (FS, { sitePackages }) => {
      for (const [name, path] of Object.entries(files)) {
        FS.mkdirTree(dirname(`${sitePackages}/${name}`));
        FS.writeFile(`${sitePackages}/${name}`, readFileSync(path));
      }
    },
  });
  process.stdout.write(`\\n${python.runPython(code)}`);
} catch (error) {
  // Node would quote the line it comes from, which is the whole of Pyodide.
  process.stderr.write(String(error));
  process.exitCode = 1;
}
"""


def options(packs: pack.Packs, folder: Path) -> dict[str, Any]:
    """What :func:`run` boots; the wheels are unpacked into ``folder``, which stays in use."""
    boot = pack.publish(packs, folder)
    files = {}
    for wheel in boot["wheels"]:
        with zipfile.ZipFile(folder / wheel) as archive:
            for name in archive.namelist():
                if ".dist-info/" not in name:
                    files[name] = archive.extract(name, folder / "unpacked")
    return {"index": str(folder / boot["index"]), "info": boot["info"], "files": files}


def run(code: str, boot: dict[str, Any], timeout: int = 120) -> Any:
    """Run ``code``, whose last expression is a JSON text, and return what that says."""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", BOOT],
        input=json.dumps(boot | {"code": code}),
        cwd=boot["index"],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Pyodide under Node failed:\n{done.stderr}")
    return json.loads(done.stdout.rpartition("\n")[2])
