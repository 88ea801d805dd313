# SPDX-License-Identifier: MIT
"""The characters that a terminal shows, as Unicode's own tables have them: a second opinion on src/base/text.c."""
from __future__ import annotations

import re
import unicodedata

# Letters and marks that have no glyph; the categories below have the other characters that are not shown.
NO_GLYPH = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" + "".join(chr(c) for c in [*range(0x180B, 0x1810), *range(0xFE00, 0xFE10)])
OURS = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K")  # colours; the line of progress is written anew


def is_shown(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs") and character not in NO_GLYPH


def hidden_in(text: str) -> str | None:
    """The first line with a character that is not shown, and it."""
    for line in OURS.sub("", text).split("\n"):
        for character in line:
            if not is_shown(character):
                return f"has {character!a}: {line!a}"
    return None
