# SPDX-License-Identifier: MIT
"""
The setups the engine is asked about.

Flags are llama.cpp's own and go to the engine and to Plimsoll unchanged; HALF and THIRD stand for a share of the
model's layers. `cards` is the number of the machine's GPUs, all of one size.
"""
from __future__ import annotations

from dataclasses import dataclass

BIG_CARD_MIB = 16 << 20  # 16 TiB: what is measured is what is allocated, not what fits


@dataclass(frozen=True)
class Setup:
    name: str
    flags: str
    cards: int = 1

    def flags_for(self, n_layer: int) -> list[str]:
        shares = {"HALF": str(n_layer // 2), "THIRD": str(n_layer // 3)}
        return [shares.get(word, word) for word in self.flags.split()]


SETUPS = [
    Setup("8k", "-c 8192"),
    Setup("server", "-c 16384 -np 4 --kv-unified --n-outputs-max 4"),
    Setup("64k", "-c 65536"),
    Setup("ub2048", "-c 32768 -b 2048 -ub 2048"),
    Setup("ub64", "-c 2048 -b 256 -ub 64"),
    Setup("slots", "-c 16384 -np 4"),
    Setup("no-fa", "-c 8192 -fa off"),
    Setup("q8-kv", "-c 16384 -ctk q8_0 -ctv q8_0"),
    Setup("half", "-c 8192 -ngl HALF"),
    Setup("third-no-fa", "-c 4096 -ngl THIRD -fa off"),
    Setup("cpu", "-c 4096 -ngl 0"),
    Setup("nkvo", "-c 8192 -nkvo"),
    Setup("2cards", "-c 8192", cards=2),
    Setup("2cards-ts", "-c 16384 -ts 3,1 -ub 1024 -ngl HALF", cards=2),
    Setup("cmoe", "-c 8192 -cmoe"),
]
