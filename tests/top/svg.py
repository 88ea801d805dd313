# SPDX-License-Identifier: MIT
"""A screen of tmux, with its colours, as SVG."""
from __future__ import annotations

import re
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN = 8.4, 18, 14, 12
FRONT, BACK = "#d4d4d4", "#1e1e1e"
COLOURS = ["#1e1e1e", "#f14c4c", "#23d18b", "#e5c07b", "#3b8eea", "#d670d6", "#29b8db", "#d4d4d4"]
PIECE = re.compile(r"\033\[([0-9;]*)m|\033\([A-Z0-9]|[\x0e\x0f]|([^\033\x0e\x0f]+)")


class Look:
    def __init__(self) -> None:
        self.front, self.is_bold, self.is_dim, self.is_reversed, self.is_underlined = "", False, False, False, False

    def change(self, numbers: list[int]) -> None:
        for number in numbers or [0]:
            if number == 0:
                self.__init__()
            elif number in (1, 2, 4, 7):
                name = {1: "is_bold", 2: "is_dim", 4: "is_underlined", 7: "is_reversed"}[number]
                setattr(self, name, True)
            elif number == 22:
                self.is_bold = self.is_dim = False
            elif number == 24:
                self.is_underlined = False
            elif number == 27:
                self.is_reversed = False
            elif 30 <= number <= 37:
                self.front = COLOURS[number - 30]
            elif number == 39:
                self.front = ""

    def colours(self) -> tuple[str, str]:
        front = self.front or FRONT
        return (BACK, front) if self.is_reversed else (front, "")


def width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in text)


def run(text: str, look: Look, column: int, line: int) -> list[str]:
    """One piece of a line that looks the same."""
    front, back = look.colours()
    x, y, n = MARGIN + column * CELL_WIDTH, MARGIN + line * LINE_HEIGHT, width(text)
    parts = []
    if back:
        parts.append(f'<rect x="{x:.1f}" y="{y}" width="{n * CELL_WIDTH:.1f}" height="{LINE_HEIGHT}" fill="{back}"/>')
    if text.strip():
        style = (' font-weight="bold"' if look.is_bold else "") + (' opacity="0.6"' if look.is_dim else "")
        style += ' text-decoration="underline"' if look.is_underlined else ""
        parts.append(f'<text x="{x:.1f}" y="{y + 14}" textLength="{n * CELL_WIDTH:.1f}" fill="{front}"{style}>{escape(text)}</text>')
    return parts


def render(screen: str, columns: int, title: str) -> str:
    """screen: what `tmux capture-pane -e -p` prints."""
    lines = screen.rstrip("\n").split("\n")
    look, parts = Look(), []
    for number, line in enumerate(lines):
        column = 0
        for found in PIECE.finditer(line):
            if found[1] is not None:
                look.change([int(word) for word in found[1].split(";") if word])
            elif found[2]:
                parts += run(found[2], look, column, number)
                column += width(found[2])
    size = f"{2 * MARGIN + columns * CELL_WIDTH:.0f}", f"{2 * MARGIN + len(lines) * LINE_HEIGHT}"
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}" '
            f'role="img" font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_SIZE}" xml:space="preserve">')
    frame = f'<rect width="100%" height="100%" rx="6" fill="{BACK}"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", frame, *parts, "</svg>"]) + "\n"
