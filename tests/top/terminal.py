# SPDX-License-Identifier: MIT
"""A real terminal for tests: tmux, with a socket of its own. Nothing sleeps: screens are polled until they are there."""
from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable

TIMEOUT_S = 30


class Terminal:
    """A shell in a terminal of so many columns and lines."""

    def __init__(self, columns: int, lines: int, env: dict[str, str]):
        self.folder = tempfile.TemporaryDirectory(prefix="plimsoll-top-")  # a socket's path has to be short
        self.tmux = ["tmux", "-u", "-S", os.path.join(self.folder.name, "s"), "-f", "/dev/null"]
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "HOME": self.folder.name}
        shell = ["env", "PS1=ready> ", "ENV=", *[f"{name}={value}" for name, value in env.items()], "sh"]
        self.call("new-session", "-d", "-x", str(columns), "-y", str(lines), shlex.join(shell))
        self.until("ready>")

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self.tmux, "kill-server"], env=self.environment, check=False, capture_output=True)
        self.folder.cleanup()

    def call(self, *words: str) -> str:
        done = subprocess.run([*self.tmux, *words], env=self.environment, check=True, capture_output=True, timeout=TIMEOUT_S)
        return done.stdout.decode()

    def keys(self, *names: str) -> None:
        """As tmux names them: "Enter", "F9", "C-c", or characters."""
        self.call("send-keys", *names)

    def type(self, text: str) -> None:
        self.call("send-keys", "-l", text)

    def run(self, command: str) -> None:
        self.type(command)
        self.keys("Enter")

    def resize(self, columns: int, lines: int) -> None:
        self.call("resize-window", "-x", str(columns), "-y", str(lines))

    def screen(self, *options: str) -> str:
        return self.call("capture-pane", "-p", *options)

    def lines(self) -> list[str]:
        return self.screen().splitlines()

    def state(self) -> tuple[bool, bool]:
        """The alternate screen is on; the cursor is shown."""
        alternate, cursor = self.call("display-message", "-p", "#{alternate_on} #{cursor_flag}").split()
        return alternate == "1", cursor == "1"

    def until_true(self, what: str, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + TIMEOUT_S
        while not condition():
            if time.monotonic() > end:
                raise AssertionError(f"{what}; the screen is\n{self.screen()}")
            time.sleep(0.02)

    def until(self, *texts: str, without: tuple[str, ...] = ()) -> str:
        """Wait for a screen that has all these texts, and none of the others; returns it."""
        seen = ""

        def is_there() -> bool:
            nonlocal seen
            seen = self.screen()
            return all(text in seen for text in texts) and not any(text in seen for text in without)

        self.until_true(f"waited for {texts} without {without}", is_there)
        return seen
