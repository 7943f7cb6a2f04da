"""Browsers of three engines, all asked for the same few things.

Playwright drives Chromium only: of the other two it wants builds of its own. Firefox is spoken to
over Marionette, which geckodriver would put into HTTP; WebKitGTK brings its driver along. Both
take WebDriver's commands.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pytest
from playwright.sync_api import Page

from build_tools import setup
from tests.browser.conftest import EXPECTED

KEYS = {"Enter": "\ue007", "ArrowRight": "\ue014"}
PATIENCE = 60  # seconds, for a whole browser to start and for what it is asked


class Engine(Protocol):
    """A browser with one page."""

    def go(self, address: str) -> None: ...

    def click(self, selector: str) -> None: ...

    def choose(self, selector: str, value: str) -> None:
        """Of a ``select``."""

    def type(self, selector: str, text: str, key: str) -> None:
        """In place of what stands there, and then a key."""

    def read(self, expression: str) -> Any:
        """What a JavaScript expression is in the page."""

    def complaints(self) -> list[str]:
        """Errors and warnings of the page, its scripts, its policy, as far as the engine tells."""


class Chromium:
    def __init__(self, page: Page) -> None:
        self._page = page
        self._said: list[str] = []
        page.on("console", lambda m: self._said.append(f"{m.type}: {m.text}"))
        page.on("pageerror", lambda e: self._said.append(f"error: {e}"))

    def go(self, address: str) -> None:
        self._page.goto(address)

    def click(self, selector: str) -> None:
        self._page.locator(selector).first.click()

    def choose(self, selector: str, value: str) -> None:
        self._page.locator(selector).select_option(value)

    def type(self, selector: str, text: str, key: str) -> None:
        self._page.locator(selector).select_text()
        self._page.keyboard.insert_text(text)
        self._page.keyboard.press(key)

    def read(self, expression: str) -> Any:
        return self._page.evaluate(expression)

    def complaints(self) -> list[str]:
        self._page.wait_for_timeout(50)  # what was said comes while Playwright waits
        return [said for said in self._said if said not in EXPECTED]


class _WebDriver:
    """What the two have in common."""

    def _send(self, command: str, **parameters: Any) -> Any:
        raise NotImplementedError

    def _element(self, selector: str) -> str:
        found = self._send("FindElement", using="css selector", value=selector)
        return str(*found.values())

    def go(self, address: str) -> None:
        self._send("Navigate", url=address)

    def click(self, selector: str) -> None:
        self._send("ElementClick", id=self._element(selector))

    def choose(self, selector: str, value: str) -> None:
        self.click(f'{selector} option[value="{value}"]')

    def type(self, selector: str, text: str, key: str) -> None:
        self.read(f"document.querySelector({json.dumps(selector)}).select()")
        self._send("ElementSendKeys", id=self._element(selector), text=text + KEYS[key])

    def read(self, expression: str) -> Any:
        return self._send("ExecuteScript", script=f"return {expression}", args=[])


# What Firefox has to say of the theme's tabs, and of Pyodide.
OF_OTHERS = ("Empty string passed to getElementById()", "WebAssembly exception handling 'try'")


class Firefox(_WebDriver):
    def __init__(self, wire: BinaryIO) -> None:
        self._wire = wire
        self._count = 0
        self._receive()  # a greeting
        self._send("NewSession")

    def _send(self, command: str, **parameters: Any) -> Any:
        self._count += 1
        name = command if ":" in command else f"WebDriver:{command}"
        message = json.dumps([0, self._count, name, parameters]).encode()
        self._wire.write(b"%d:%s" % (len(message), message))
        self._wire.flush()
        _, _, error, result = self._receive()
        assert error is None, error
        return result.get("value")

    def _receive(self) -> Any:
        length = b""
        while (byte := self._wire.read(1)) != b":":
            assert byte, "Firefox is gone"
            length += byte
        return json.loads(self._wire.read(int(length)))

    def complaints(self) -> list[str]:
        """Of all that Firefox's console holds, what comes from files of a site."""
        self._send("Marionette:SetContext", value="chrome")
        said = self.read("Services.console.getMessageArray().map(m => m.message)")
        logged = self.read(
            """Cc["@mozilla.org/consoleAPI-storage;1"].getService(Ci.nsIConsoleAPIStorage)
                .getEvents().map(e => `${e.level} ${e.arguments} {file: "${e.filename}"}`)"""
        )
        self._send("Marionette:SetContext", value="content")
        return [
            message
            for message in said + logged
            if '{file: "http' in message and not any(text in message for text in OF_OTHERS)
        ]


PATHS = {
    "Navigate": "url",
    "FindElement": "element",
    "ElementClick": "element/{id}/click",
    "ElementSendKeys": "element/{id}/value",
    "ExecuteScript": "execute/sync",
}


# WebKit's driver does not tell what the console says: the page itself listens, once it is there.
LISTEN = """
    const complaints = document.complaints = [];
    const heard = ({type, message, reason, violatedDirective, target}) =>
        complaints.push(`${type}: ${message ?? reason ?? violatedDirective ?? target.outerHTML}`);
    for (const type of ["error", "unhandledrejection", "securitypolicyviolation"]) {
        addEventListener(type, heard, true);
    }
    for (const level of ["warn", "error"]) {
        console[level] = (...said) => complaints.push(`${level}: ${said.join(" ")}`);
    }
"""


class WebKit(_WebDriver):
    def __init__(self, port: int, browser: str) -> None:
        self._port = port
        options = {"binary": browser, "args": ["--automation"]}
        wanted = {"browserName": "MiniBrowser", "webkitgtk:browserOptions": options}
        session = self._post("/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{session['sessionId']}"

    def go(self, address: str) -> None:
        super().go(address)
        self._send("ExecuteScript", script=LISTEN, args=[])

    def _send(self, command: str, **parameters: Any) -> Any:
        path = PATHS[command].format_map(parameters)
        return self._post(f"{self._session}/{path}", parameters)

    def _post(self, path: str, body: Any) -> Any:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        value = json.loads(response.read())["value"]
        connection.close()
        assert response.status == 200, value
        return value

    def complaints(self) -> list[str]:
        return list(self.read("document.complaints"))


def _here(program: str | None, name: str) -> str:
    if not program:
        pytest.skip(f"no {name} here: install Debian's {' '.join(setup.ENGINE_PACKAGES)}")
    return program


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(*command: str | Path, **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(command, text=True, **options) as program:
        try:
            yield program
        finally:
            program.terminate()


def _connected(port: int) -> socket.socket:
    """To a program that is just starting."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.1)


@contextmanager
def firefox(folder: Path) -> Iterator[Engine]:
    program = _here(setup.firefox(), "Firefox")
    port = _free_port()
    (folder / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    # Access to the system is access to the console of all pages.
    arguments = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
    with (
        (folder / "log").open("w") as log,
        _running(
            *(program, *arguments, "--profile", folder),
            env=os.environ | {"HOME": str(folder)},
            stdout=log,
            stderr=log,
        ),
        _connected(port) as marionette,
        marionette.makefile("rwb") as wire,
    ):
        yield Firefox(wire)


@contextmanager
def webkit(folder: Path) -> Iterator[Engine]:
    driver = _here(shutil.which("WebKitWebDriver"), "WebKitGTK")
    screen = _here(shutil.which("Xvfb"), "Xvfb")
    browser = _here(setup.mini_browser(), "WebKitGTK")
    size = ("-screen", "0", "1280x1000x24")
    port = _free_port()
    environment = os.environ | {
        "HOME": str(folder),
        # Its sandbox asks for what containers do not grant.
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
    }
    with _running(screen, "-displayfd", "1", *size, stdout=subprocess.PIPE) as xvfb:
        assert xvfb.stdout
        environment["DISPLAY"] = f":{xvfb.stdout.readline().strip()}"
        with _running(driver, f"--port={port}", env=environment):
            _connected(port).close()
            yield WebKit(port, browser)
