# SPDX-License-Identifier: MIT
"""
The table of results in docs/accuracy.md: by kind of model, how many runs of the engine allocate what the bill says.
"""
from __future__ import annotations

import os
import re
import sys
from collections import defaultdict

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gguf"))

from case import Case, activations, wrong_buffers
from zoo import ZOO

BEGIN, END = "<!-- accuracy:begin -->", "<!-- accuracy:end -->"

# The kind of a model follows from the module of the zoo that makes it.
KINDS = {
    "dense": "dense",
    "older": "dense",
    "vision": "dense",
    "diffusion": "diffusion",
    "swa": "sliding windows",
    "moe": "mixtures of experts",
    "sparse": "mixtures of experts",
    "mla": "MLA and sparse attention",
    "hybrid": "hybrid: attention and recurrent",
    "recurrent": "recurrent",
    "encoders": "encoders",
}


def kind_of(case: Case) -> str:
    entry = ZOO[next(name for name in sorted(ZOO, key=len, reverse=True) if case.model.startswith(name + "-"))]
    return KINDS.get(entry.family.__module__, "other")


def row(kind: str, cases: list[Case]) -> str:
    found = [a for case in cases for a in activations(case)]
    worst = max((abs(a.bytes - a.truth) for a in found), default=0.0)
    cells = [
        kind,
        str(len({case.arch for case in cases})),
        str(len({case.model for case in cases})),
        str(len(cases)),
        f"{sum(not wrong_buffers(case) for case in cases)} of {len(cases)}",
        f"{sum(a.is_equal for a in found)} of {len(found)}",
        f"{worst:.2f} MiB",
    ]
    return f"| {' | '.join(cells)} |"


def write(path: str, cases: list[Case]) -> None:
    """Put the table between the markers of a file."""
    by_kind: dict = defaultdict(list)
    ran = [case for case in cases if not case.refused]
    for case in ran:
        by_kind[kind_of(case)].append(case)
    rows = [row(kind, by_kind[kind]) for kind in dict.fromkeys(KINDS.values()) if by_kind[kind]]
    table = [
        f"Receipts of llama.cpp v0.5.0, stock CUDA build: {len({case.setup for case in ran})} setups (contexts, "
        "micro-batches, slots, flash",
        "attention on and off, cache types, partial and no offload, two cards, experts on the host) of each model.",
        "*Exact* are the runs in which weights, KV cache, recurrent state and outputs are what the engine prints, to its",
        "0.01 MiB, on every device; compute buffers are counted one by one. "
        "`tests/engine/receipts.py --page docs/accuracy.md` writes this table.",
        "",
        "| kind | architectures | models | runs | exact | compute buffers equal | largest difference |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *rows,
        row("**all**", ran),
    ]
    with open(path, encoding="utf-8") as file:
        text = file.read()
    pattern = re.compile(re.escape(BEGIN) + ".*?" + re.escape(END), re.DOTALL)
    with open(path, "w", encoding="utf-8") as file:
        file.write(pattern.sub(lambda _: "\n".join([BEGIN, *table, END]), text))
