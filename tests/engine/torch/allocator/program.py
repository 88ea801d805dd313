#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
A seeded program that gives PyTorch's allocator work, records its history, and dumps it.

    program.py KIND SEED OUT [--room MIB] [--fraction F] [--ring ENTRIES]

Runs on the virtual GPU, where it is started by record.py. OUT is a pickle: the snapshot and what PyTorch itself says of
its peaks. --room leaves that much of the card to the allocator.
"""
import argparse
import ctypes
import pickle
import random

import torch

MIB = 1 << 20
KEPT: list = []  # until the snapshot is taken


def size(dice: random.Random, largest: int) -> int:
    kind = dice.random()
    if kind < 0.5:
        return dice.randint(1, MIB)
    if kind < 0.8:
        return dice.randint(MIB, 10 * MIB)
    return dice.randint(10 * MIB, largest)


def take(n: int) -> torch.Tensor:
    return torch.empty(n, dtype=torch.uint8, device="cuda")


def try_take(held: list, n: int) -> bool:
    """What a program does that survives: it lets go of something."""
    try:
        held.append(take(n))
        return True
    except torch.cuda.OutOfMemoryError:
        del held[: len(held) // 3]
        return False


def work_random(dice: random.Random, held: list, n: int = 220, largest: int = 120 * MIB) -> None:
    for _ in range(n):
        if held and dice.random() < 0.46:
            held.pop(dice.randrange(len(held)))
        else:
            try_take(held, size(dice, largest))
        if dice.random() < 0.01:
            torch.cuda.empty_cache()


def work_waves(dice: random.Random, held: list) -> None:
    """Steps that resemble each other, each a little larger: what fragments a cache."""
    for step in range(6):
        mine = [held]
        sizes = [int(size(dice, 60 * MIB) * (1 + 0.07 * step)) for _ in range(24)]
        for n in sizes:
            try_take(mine[0], n)
        keep = [t for t in held if dice.random() < 0.1]
        held.clear()
        held.extend(keep)


def work_streams(dice: random.Random, held: list) -> None:
    streams = [torch.cuda.current_stream()] + [torch.cuda.Stream() for _ in range(3)]
    for _ in range(200):
        if held and dice.random() < 0.45:
            tensor = held.pop(dice.randrange(len(held)))
            if dice.random() < 0.4:
                tensor.record_stream(dice.choice(streams))
            del tensor
        else:
            with torch.cuda.stream(dice.choice(streams)):
                try_take(held, size(dice, 50 * MIB))
        if dice.random() < 0.02:
            torch.cuda.synchronize()
        if dice.random() < 0.01:
            torch.cuda.empty_cache()


def work_graphs(dice: random.Random, held: list) -> None:
    graphs = []
    side = torch.cuda.Stream()
    for _ in range(5):
        work_random(dice, held, 30, 40 * MIB)
        graph = torch.cuda.CUDAGraph()
        inputs = [torch.zeros(dice.randint(1000, 3 * MIB), device="cuda") for _ in range(3)]
        torch.cuda.synchronize()
        share = {"pool": graphs[-1][0].pool()} if graphs and dice.random() < 0.4 else {}
        with torch.cuda.graph(graph, stream=side, **share):
            outputs = [(x + 1) * 2 for x in inputs]
            for _ in range(4):
                outputs.append(outputs[dice.randrange(len(outputs))] * 3)
                if len(outputs) > 4:
                    outputs.pop(0)
        graphs.append((graph, outputs))
        graph.replay()
        if len(graphs) > 2 and dice.random() < 0.5:
            del graphs[0]
            if dice.random() < 0.6:
                torch.cuda.empty_cache()


def work_pools(dice: random.Random, held: list) -> None:
    pools = [torch.cuda.MemPool() for _ in range(2)]
    theirs = [[], []]
    for _ in range(14):
        which = dice.randrange(2)
        with torch.cuda.use_mem_pool(pools[which]):
            for _ in range(8):
                if theirs[which] and dice.random() < 0.4:
                    theirs[which].pop(dice.randrange(len(theirs[which])))
                else:
                    theirs[which].append(take(size(dice, 30 * MIB)))
        work_random(dice, held, 10, 40 * MIB)
    theirs[0].clear()
    del pools[0]
    work_random(dice, held, 30, 40 * MIB)
    torch.cuda.empty_cache()
    work_random(dice, held, 30, 40 * MIB)


def work_tight_pools(dice: random.Random, held: list) -> None:
    """Requests that fail in a pool, where nothing is given back to the driver, and beside it, where it is."""
    pools = [torch.cuda.MemPool() for _ in range(2)]
    KEPT.extend(pools)
    theirs: list = [[], []]
    for _ in range(16):
        which = dice.randrange(2)
        work_random(dice, held, 8, 40 * MIB)
        with torch.cuda.use_mem_pool(pools[which]):
            for _ in range(6):
                if theirs[which] and dice.random() < 0.4:
                    theirs[which].pop(dice.randrange(len(theirs[which])))
                else:
                    try_take(theirs[which], size(dice, 50 * MIB))
    KEPT.extend(theirs)


def work_model(dice: random.Random, held: list) -> None:
    width, layers = dice.choice([256, 384, 512]), dice.choice([2, 3])
    model = torch.nn.Sequential(
        torch.nn.Embedding(2000, width),
        *[torch.nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True) for _ in range(layers)],
        torch.nn.Linear(width, 2000)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(2):
        tokens = torch.randint(0, 2000, (dice.randint(2, 6), dice.choice([64, 128, 200])), device="cuda")
        loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def leave(room_bytes: int) -> None:
    """Take all but that much of the card, not through PyTorch."""
    torch.cuda.init()
    torch.empty(1, device="cuda")
    torch.cuda.empty_cache()
    ballast = ctypes.c_uint64()
    over = torch.cuda.mem_get_info()[0] // (2 * MIB) * 2 * MIB - room_bytes
    if ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(ballast), ctypes.c_size_t(over)):
        raise SystemExit("no room for the ballast")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind")
    parser.add_argument("seed", type=int)
    parser.add_argument("out")
    parser.add_argument("--room", type=int, default=0)
    parser.add_argument("--fraction", type=float, default=0)
    parser.add_argument("--ring", type=int, default=1000000)
    options = parser.parse_args()
    torch.cuda.init()
    if options.fraction:
        torch.cuda.set_per_process_memory_fraction(options.fraction)
    if options.room:
        leave(options.room * MIB)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    torch.cuda.reset_accumulated_memory_stats()
    torch.cuda.memory._record_memory_history(max_entries=options.ring)
    room = torch.cuda.mem_get_info()
    held: list = []
    globals()["work_" + options.kind](random.Random(options.seed), held)
    stats = torch.cuda.memory_stats()
    with open(options.out, "wb") as file:
        pickle.dump({"snapshot": torch.cuda.memory._snapshot(), "stats": stats, "room": room, "torch": str(torch.__version__),
                     "fraction": options.fraction}, file)


main()
