#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Patterns of use of PyTorch's allocator: patterns.py NAME prints its bytes at the peak. No pattern reads values, so a card
and a virtual one must agree to the byte. patterns.py --list prints the names.
"""
import json
import sys


def growing(torch):
    """A cache that grows by concatenation, as in generation."""
    cache = torch.empty(0, 1024, device="cuda", dtype=torch.float16)
    for _ in range(300):
        cache = torch.cat([cache, torch.empty(7, 1024, device="cuda", dtype=torch.float16)])


def sizes(torch):
    """Sizes around the allocator's own limits: 512 bytes, 1 MiB, 10 MiB, 20 MiB."""
    held = []
    for step, size in enumerate([1, 511, 512, 513, 1 << 20, (1 << 20) + 1, 10 << 20, (10 << 20) + 1, 20 << 20, 33 << 20] * 6):
        held.append(torch.empty(size, device="cuda", dtype=torch.uint8))
        if step % 3 == 2:
            del held[step // 3]


def mixture(torch):
    """A pseudo-random order of allocations and frees."""
    state, held = 12345, {}
    for _ in range(4000):
        state = (state * 1103515245 + 12345) % (1 << 31)
        slot = state % 97
        if slot in held:
            del held[slot]
        else:
            held[slot] = torch.empty((state >> 8) % (6 << 20) + 1, device="cuda", dtype=torch.uint8)


def training(torch):
    """Steps of a small network with AdamW."""
    net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    for _ in range(3):
        net(torch.zeros(64, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def streams(torch):
    """Memory that another stream uses: its block waits for an event."""
    side = torch.cuda.Stream()
    for _ in range(50):
        block = torch.empty(3 << 20, device="cuda", dtype=torch.uint8)
        block.record_stream(side)
        del block
        torch.cuda.synchronize()


def full(torch):
    """Until half of the card is taken, then once more after everything was given back."""
    torch.cuda.set_per_process_memory_fraction(0.5)
    for _ in range(2):
        held = []
        try:
            while True:
                held.append(torch.empty(100 << 20, device="cuda", dtype=torch.uint8))
        except torch.cuda.OutOfMemoryError:
            pass
        del held
        torch.cuda.empty_cache()


PATTERNS = {function.__name__: function for function in (growing, sizes, mixture, training, streams, full)}


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(PATTERNS))
        return
    import torch
    torch.cuda.init()
    torch.cuda.reset_peak_memory_stats()
    PATTERNS[sys.argv[1]](torch)
    for name, bytes_ in (("allocated", torch.cuda.max_memory_allocated()), ("reserved", torch.cuda.max_memory_reserved())):
        print(json.dumps({"step": name, "bytes": bytes_}))


if __name__ == "__main__":
    main()
