"""Headless Chromium, spoken to in its own protocol over two pipes, so that nothing but the browser is needed.

https://chromedevtools.github.io/devtools-protocol/, --remote-debugging-pipe: messages are JSON that a null byte ends.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def browser() -> str | None:
    """Where one is installed."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


class Page:
    """One page, and what went wrong in it."""

    def __init__(self, reader: int, writer: int) -> None:
        self._reader, self._writer = reader, writer
        self._buffer, self._number = b"", 0
        self._session: str | None = None
        self._site = "file:"
        self.problems: list[str] = []
        """Console errors and warnings, uncaught exceptions, refused content and requests for anything but the page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._writer, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._reader], [], [], 60)[0], "the browser is silent"
            chunk = os.read(self._reader, 1 << 20)
            assert chunk, "the browser is gone"
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, message: dict[str, Any]) -> None:
        what, told = message.get("method"), message.get("params", {})
        if what == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(told["exceptionDetails"]))
        elif what == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.problems.append(json.dumps(told["args"]))
        elif what == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.problems.append(told["entry"]["text"])
        elif what == "Network.requestWillBeSent" and not told["request"]["url"].startswith(
            (self._site, "about:", "blob:")
        ):
            self.problems.append(f"request for {told['request']['url']}")

    def open(self, file: Path) -> None:
        """Show ``file`` until its script has run and it is painted."""
        self.visit(file.as_uri(), "file:")

    def visit(self, url: str, site: str) -> None:
        """The same for a page at ``url``, which may request what begins with ``site``."""
        self._site = site
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && document.documentElement?.dataset.ready === 'true'")
        self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def wait(self, condition: str) -> None:
        """Until ``condition`` is true in the page."""
        for _ in range(6000):
            if self.run(condition):
                return
            time.sleep(0.01)
        raise AssertionError(f"not {condition}: {self.problems}")

    def drag(self, element: str, by: int) -> None:
        """Drag the handle of the slider that ``element`` selects by so many pixels, as a mouse does."""
        x, y = self.run(
            f"(() => {{ const slider = document.querySelector({json.dumps(element)});"
            "slider.scrollIntoView({block: 'center'}); const box = slider.getBoundingClientRect();"
            "const part = (slider.value - slider.min) / (slider.max - slider.min);"
            "return [box.x + 8 + part * (box.width - 16), box.y + box.height / 2] })()"
        )
        steps = [("mousePressed", 0.0), *(("mouseMoved", part / 8) for part in range(1, 9)), ("mouseReleased", 1.0)]
        for kind, part in steps:
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x + by * part, y=y, button="left", buttons=1, clickCount=1
            )

    def press(self, key: str, modifiers: int = 0) -> None:
        """A key by its name: Tab, Enter, ArrowRight, z; ``modifiers`` 2 is Ctrl."""
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowRight": 39}
        text = {"text": "\r"} if key == "Enter" else {}
        pressed = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())), "modifiers": modifiers}
        self.call("Input.dispatchKeyEvent", type="keyDown", **pressed, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **pressed)

    def run(self, script: str) -> Any:
        """What ``script`` comes to, as JSON; a promise is waited for."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def look(self, file: Path, *, width: int = 1280, height: int | None = None, dark: bool = False) -> None:
        """A picture of the whole page, or of what a window of that ``height`` shows of it."""
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height or 900, deviceScaleFactor=1, mobile=False
        )
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=height is None)
        file.write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def opened_browser() -> Iterator[Page]:
    """A browser of one's own, with a profile that nobody else has."""
    path = browser()
    assert path is not None
    # Chromium reads from its descriptor 3 and writes to 4.
    to_child, to_browser = os.pipe()
    from_browser, from_child = os.pipe()
    script = 'exec 3<&"$0" 4>&"$1"; shift; exec "$@"'
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
        ]
        command = ["bash", "-c", script, str(to_child), str(from_child), path, *options]
        with subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(to_child, from_child),
        ) as process:
            os.close(to_child)
            os.close(from_child)
            try:
                yield Page(from_browser, to_browser)
            finally:
                os.close(to_browser)
                os.close(from_browser)
                process.terminate()
                try:
                    process.wait(timeout=30)
                finally:
                    process.kill()
