# SPDX-License-Identifier: MIT
"""
The setups the engine is asked about.

Flags are llama.cpp's own and go to the engine and to Plimsoll unchanged; HALF and THIRD stand for a share of the
model's layers. `cards` is the number of the machine's GPUs, all of one size.
"""
from __future__ import annotations

import random
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

# What chance does not find: settings at the border of a rule, each of a model that the rule is for.
BORDERS = {
    "gemma-4-12b-Q4_K_M": [Setup("border-transposed", "-c 8192 -fa off")],
    "gemma-2-9b-Q4_K_M": [
        Setup("border-streams", "-c 65536 -np 3 -fa on -ctk bf16 -ctv bf16 -ngl THIRD -nkvo --no-swa-full"),
    ],
    "gemma-3-4b-Q4_K_M": [Setup("border-window", "-c 32768 -np 5 --kv-unified --no-swa-full")],
    "bitnet-b1.58-3b-Q4_K_M": [Setup("border-heads", "-c 8192")],  # of 100 numbers
    "arctic-Q4_K_M": [Setup("border-experts", "-c 4096 -cmoe")],  # whose norm has the name of experts
    "kimi-linear-48b-a3b-Q4_K_M": [Setup("border-one-sequence", "-c 8192 -np 8")],
    "minimax-text-01-Q4_K_M": [Setup("border-one-sequence", "-c 8192 -np 8")],
}


def random_setups(seed: str, n: int) -> list[Setup]:
    """n setups no one has thought of, the same for the same seed."""
    rng = random.Random(seed)
    return [Setup(f"random{i}", random_flags(rng), cards=rng.choice((1, 1, 2, 3))) for i in range(n)]


def random_flags(rng: random.Random) -> str:
    words = [f"-c {rng.choice((rng.randrange(1, 4096), 8192, 20000, 32768, 131072, rng.randrange(4096, 300000)))}"]

    def maybe(chance: float, *texts: str) -> None:
        if rng.random() < chance:
            words.append(rng.choice(texts))

    n_ubatch = rng.choice((1, 16, 31, 32, 100, 256, 512, 1024, 4096))
    if rng.random() < 0.6:
        words.append(f"-b {n_ubatch * rng.choice((1, 1, 2, 4))} -ub {n_ubatch}")
    maybe(0.4, "-np 2", "-np 3", "-np 8", "-np 4 --kv-unified", "-np 5 --kv-unified --n-outputs-max 5")
    maybe(0.3, "-fa off", "-fa on")
    maybe(0.3, "-ctk q8_0 -ctv q8_0", "-ctk q4_0 -ctv q4_0", "-ctk bf16 -ctv bf16", "-ctk q8_0", "-ctk f32 -ctv f32",
          "-ctk q5_1 -ctv q5_1", "-ctk q8_0 -ctv q4_0")
    maybe(0.5, "-ngl 0", "-ngl 1", "-ngl HALF", "-ngl THIRD", "-ngl 99", f"-ngl {rng.randrange(0, 60)}")
    maybe(0.15, "-nkvo")
    maybe(0.15, "--no-mmap")
    maybe(0.15, "--no-op-offload")
    maybe(0.2, "--swa-full", "--no-swa-full")
    maybe(0.2, "-cmoe", f"-ncmoe {rng.randrange(1, 30)}", "-ot ffn_.*=CPU", "-ot blk\\.[0-9]\\.attn=CPU",
          "-ot blk\\..*\\.ffn_down=CPU", "-ot output=CPU", "-ot token_embd=CUDA0", "-ot token_embd=CPU")
    maybe(0.2, "-ts 3,1", "-ts 1,2", "-ts 1,0", "-ts 5,3,2")
    maybe(0.1, "-sm none", "-sm none -mg 0")
    return " ".join(words)
