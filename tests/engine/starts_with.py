#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Lay what Plimsoll says llama.cpp would start with beside what it starts with.

llama.cpp's own --fit is on by default and chooses the context, the layers on each GPU and the experts that stay on the
host. Here it does so on machines made up by chance, and the choice is compared with `would_start_with`.

    starts_with.py --plimsoll PROGRAM --probe PROGRAM --vgpu DIR --engine DIR --models-dir DIR [MODEL...] [-n N]

Exit status: 0 at least 99 % of the choices are the same, 1 fewer are, 77 the engine is not there (skipped).
"""
from __future__ import annotations

import argparse
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import engine

CHOICE = re.compile(r"^fit: status (\d+) -c (\d+) -ngl (-?\d+)((?: ts\d \d+)*) overrides (\d+)", re.MULTILINE)
CARDS_MIB = (4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152, 81920)
# What the driver and a context take before llama.cpp looks: Plimsoll's assumption, made true here.
CONTEXT_MIB = 256
CONTEXT_STEP = 256  # a context is a multiple of this, whatever --fit chose
MIN_SAME = 0.99
# llama-server's defaults, which the probe does not know
SERVER = "-np 4 --kv-unified --n-outputs-max 4 --no-swa-full".split()


def machine_of(rng: random.Random) -> tuple[list[int], list[str]]:
    """Memory of the GPUs, and flags that leave --fit something to choose."""
    cards = [rng.choice(CARDS_MIB) for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    flags = rng.choice(("", "", "", "-c 8192", "-c 65536", "-ub 2048 -b 2048", "-ctk q8_0 -ctv q8_0", "-fa off"))
    return cards, flags.split()


def engine_choice(options: argparse.Namespace, path: str, cards: list[int], flags: list[str]) -> dict | None:
    """None: --fit fails, or the model does not load at all."""
    devices = [f"{mib}:{mib - CONTEXT_MIB}" for mib in cards]
    context = [] if "-c" in flags else ["-c", "0"]
    said, _ = engine.run_engine(options, path, ["--fit", *SERVER, *context, *flags], devices)
    match = CHOICE.search(said)
    if not match or match.group(1) != "0":
        return None
    split = [int(word) for word in match.group(4).split()[1::2]][: len(cards)]
    return {
        "n_ctx": -(-int(match.group(2)) // CONTEXT_STEP) * CONTEXT_STEP,
        "n_gpu_layers": int(match.group(3)),
        "split": split if len(cards) > 1 and any(split) else [],
        "moved": int(match.group(5)),
    }


def our_choice(options: argparse.Namespace, path: str, cards: list[int], flags: list[str]) -> dict:
    budgets = [word for mib in cards for word in ("--budget", f"{mib}MiB")]
    answer = engine.run_fit(options, path, ["--client", "server", "--ram", "16TiB", *budgets, *flags])
    found = answer["would_start_with"]
    if not found:  # it starts with what was asked for
        return {"n_ctx": answer["setup"]["n_ctx"], "n_gpu_layers": -1, "split": [], "moved": 0}
    return {
        "n_ctx": found["n_ctx"],
        "n_gpu_layers": found["n_gpu_layers"] if "-ngl" in found["flags"] else -1,
        "split": [int(share) for share in found["tensor_split"]],
        "moved": sum(part["n_layers"] for part in found["experts_on_cpu"]),
    }


def compare(options: argparse.Namespace, path: str) -> list[tuple[str, bool | None, str]]:
    """(model, same or None, in words) for each machine."""
    name = engine.name_of(path)
    rng = random.Random(f"{options.seed}/{name}")
    found = []
    for _ in range(options.n):
        cards, flags = machine_of(rng)
        theirs, ours = engine_choice(options, path, cards, flags), our_choice(options, path, cards, flags)
        where = f"{'+'.join(str(mib // 1024) for mib in cards)} GiB {' '.join(flags)}"
        found.append((name, None if theirs is None else theirs == ours, f"{where}: engine {theirs}, bill {ours}"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare would_start_with with llama.cpp's own --fit.")
    engine.add_arguments(parser)
    parser.add_argument("-n", type=int, default=2, help="machines for each model (default: 2)")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args()
    if not engine.is_there(options):
        return 77
    with ThreadPoolExecutor(options.jobs) as pool:
        found = [one for part in pool.map(lambda path: compare(options, path), engine.models(options)) for one in part]
    for name, is_same, words in found:
        if is_same is False or options.verbose:
            print(f"{'same' if is_same else 'not compared' if is_same is None else 'DIFFERENT'} {name} {words}")
    compared = [is_same for _, is_same, _ in found if is_same is not None]
    print(f"{len(found)} machines; llama.cpp's --fit settled on a setup on {len(compared)}: "
          f"{sum(compared)} as foretold, {len(compared) - sum(compared)} not")
    return 0 if compared and sum(compared) >= MIN_SAME * len(compared) else 1


if __name__ == "__main__":
    sys.exit(main())
