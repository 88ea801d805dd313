# SPDX-License-Identifier: MIT
"""
Chromium without a window, driven over its debugging pipe: JSON with a NUL behind each message, file descriptors 3 and 4
(https://chromedevtools.github.io/devtools-protocol/). Nothing but the standard library, and no port is opened.
"""
from __future__ import annotations

import base64
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import time

NAMES = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"]
FLAGS = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--no-default-browser-check", "--disable-gpu", "--hide-scrollbars",
         "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--disable-sync", "--mute-audio",
         "--force-color-profile=srgb", "--font-render-hinting=none"]
TIMEOUT_S = 60


class Failed(Exception):
    """The browser, or the page in it, did something else than asked."""


def find() -> str | None:
    named = os.environ.get("CHROMIUM")
    return named or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, program: str):
        self.folder = tempfile.mkdtemp(prefix="plimsoll-browser-")
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{commands} 4>&{answers}', "sh", program, *FLAGS, *sandbox, f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(commands, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder})
        os.close(commands)
        os.close(answers)
        self._wait = selectors.DefaultSelector()
        self._wait.register(self._from, selectors.EVENT_READ)
        self._rest, self._last, self.pages = b"", 0, {}

    def __enter__(self) -> "Browser":
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.ask("Browser.close")
        except (Failed, OSError):
            self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _messages(self, until: float):
        while True:
            message, end, rest = self._rest.partition(b"\0")
            if end:
                self._rest = rest
                yield json.loads(message)
                continue
            if not self._wait.select(max(until - time.monotonic(), 0)):
                raise Failed("the browser does not answer")
            piece = os.read(self._from, 1 << 20)
            if not piece:
                raise Failed("the browser has gone")
            self._rest += piece

    def ask(self, method: str, session: str | None = None, **parameters: object) -> dict:
        self._last += 1
        number = self._last
        message = {"id": number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data):]
        for answer in self._messages(time.monotonic() + TIMEOUT_S):
            if answer.get("id") == number:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if answer.get("sessionId") in self.pages:
                self.pages[answer["sessionId"]].note(answer["method"], answer["params"])
        raise Failed("unreachable")

    def page(self, width: int, height: int, scale: float = 1, is_dark: bool = False) -> "Page":
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.ask(f"{domain}.enable")
        page.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=False)
        page.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])
        return page


class Page:
    """One page; what went wrong in it and what it asked a network for are kept."""

    def __init__(self, browser: Browser, session: str):
        self._browser, self._session = browser, session
        self.complaints, self.requests, self.is_loaded = [], [], False

    def note(self, event: str, parameters: dict) -> None:
        if event == "Page.loadEventFired":
            self.is_loaded = True
        elif event == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([argument.get("value") for argument in parameters["args"]]))
        elif event == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif event == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def ask(self, method: str, **parameters: object) -> dict:
        return self._browser.ask(method, self._session, **parameters)

    def open(self, path: str) -> float:
        """Milliseconds until the page has been drawn for the first time."""
        self.is_loaded = False
        self.ask("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + TIMEOUT_S
        while not self.is_loaded:
            if time.monotonic() > end:
                raise Failed("the page does not load")
            self.evaluate("0")
            time.sleep(0.005)
        return self.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))")

    def evaluate(self, expression: str) -> object:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def settle(self) -> None:
        """Until what was asked for has been drawn."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        self.mouse("mouseMoved", x, y)
        self.drag(x, y, x, y)

    def drag(self, x: float, y: float, to_x: float, to_y: float) -> None:
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", to_x, to_y, button="left")
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        self.settle()

    def press(self, key: str, text: str = "") -> None:
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, text=text or (key if len(key) == 1 else ""))
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def box(self, selector: str) -> tuple[float, float, float, float]:
        """Left, top, width and height of an element that is in view."""
        return tuple(self.evaluate(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{block: 'nearest'}});"
                                   " const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()"))

    def screenshot(self, path: str) -> None:
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=False)["data"]))
