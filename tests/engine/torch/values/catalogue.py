# SPDX-License-Identifier: MIT
"""Every expression of the suite, drawn with a seed: operations and idioms, in an order that does not change."""

from __future__ import annotations

import re

import idiom
from draw import Case
from operations import (
    casts,
    constants,
    copies,
    creation,
    elementwise,
    foreach,
    indexing,
    random_numbers,
    reductions,
    scans,
    selection,
    softmax,
    sorting,
)

ROOMS = (
    elementwise,
    casts,
    creation,
    constants,
    copies,
    reductions,
    scans,
    selection,
    sorting,
    indexing,
    softmax,
    foreach,
    random_numbers,
    idiom,
)


def cases(seed: int, only: str = "") -> list[Case]:
    """Those whose line matches the regular expression."""
    wanted = re.compile(only)
    made = {str(case): case for room in ROOMS for case in room.cases(seed)}  # two draws may be the same
    return [case for line, case in made.items() if wanted.search(line)]
