"""In place of Pyodide's package loader, which needs shutil, tempfile and zipfile: the worker
unpacks wheels before Python starts. What is left is what ``loadPyodide`` asks for."""


class Folder:
    def __init__(self, path: str) -> None:
        self._path = path

    def __str__(self) -> str:
        return self._path


SITE_PACKAGES = Folder("/lib/python3.13/site-packages")
DSO_DIR = Folder("/usr/lib")


def init_loaded_packages() -> None:
    pass
