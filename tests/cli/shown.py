# SPDX-License-Identifier: MIT
"""The characters that a terminal shows, as Unicode's own tables have them: a second opinion on src/base/text.c."""
from __future__ import annotations

import re
import unicodedata

# Letters and marks that have no glyph, and places that Unicode keeps for more of them.
NO_GLYPH = {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0,
            *range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)}
# Of the category of controls, with a glyph: signs of Arabic, Syriac, Kaithi and Egyptian scripts.
GLYPH = {*range(0x0600, 0x0606), 0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD, *range(0x13430, 0x13440)}
OURS = re.compile(r"\x1b\[[0-9;]*m|\r\x1b\[K")  # colours; the line of progress is written anew


def is_shown(character: str) -> bool:
    code = ord(character)
    return code in GLYPH or (unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp", "Cs") and code not in NO_GLYPH)


def hidden_in(text: str) -> str | None:
    """The first line with a character that is not shown, and it."""
    for line in OURS.sub("", text).split("\n"):
        for character in line:
            if not is_shown(character):
                return f"has {character!a}: {line!a}"
    return None
