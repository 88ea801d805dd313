# SPDX-License-Identifier: MIT
"""
Make a large snapshot of PyTorch's memory: trace_make.py STEPS OUT. The same bytes every time.

A training loop of steps that resemble each other, as PyTorch 2.15 writes it: a list of frames for each allocation and each
return, of frames that are shared. Blocks come from a cache that takes segments as PyTorch's does; a replay has to meet every one of them.
"""
import bisect
import itertools
import pickle
import random
import sys

MIB = 1 << 20
LAYERS, DEPTH = 48, 24  # DEPTH: frames of a stack
BASE = 0x7f0000000000
START_US = 1795409213410037


class Cache:
    """Segments and blocks: the smallest free one that is large enough, split, and merged with its neighbours."""

    def __init__(self, entries):
        self.entries, self.clock_us, self.top = entries, START_US, BASE
        self.free = {True: [], False: []}  # (bytes, address), by whether the pool is small
        self.blocks = {}  # address: [bytes, requested bytes or None, segment, address before]
        self.segments = {}

    def write(self, action, address, size, frames):
        self.clock_us += 3
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.clock_us, "compile_context": "N/A",
                             "user_metadata": "", "pool_id": (0, 0), "frames": frames})

    def grow(self, size, frames):
        is_small = size <= MIB
        room = 2 * MIB if is_small else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        address, self.top = self.top, self.top + room
        self.segments[address] = (room, is_small)
        self.blocks[address] = [room, None, address, None]
        self.write("segment_alloc", address, room, frames)
        return room, address

    def take(self, requested, frames):
        size = -(-requested // 512) * 512
        is_small = size <= MIB
        free = self.free[is_small]
        at = bisect.bisect_left(free, (size, 0))
        room, address = free.pop(at) if at < len(free) else self.grow(size, frames)
        block = self.blocks[address]
        if room - size >= 512 if is_small else room - size > MIB:
            rest = address + size
            self.blocks[rest] = [room - size, None, block[2], address]
            bisect.insort(free, (room - size, rest))
            self.link(rest)
            block[0] = size
        block[1] = requested
        self.write("alloc", address, requested, frames)
        return address

    def link(self, address):
        """Tell the block behind this one which is before it."""
        block = self.blocks[address]
        end = address + block[0]
        if end in self.blocks and self.blocks[end][2] == block[2]:
            self.blocks[end][3] = address

    def give(self, address, frames):
        block, stack = self.blocks[address], list(frames)
        for action in ("free_requested", "free_completed"):
            self.write(action, address, block[1], stack)
        block[1] = None
        free = self.free[self.segments[block[2]][1]]
        end = address + block[0]
        if end in self.blocks and self.blocks[end][2] == block[2] and self.blocks[end][1] is None:
            free.remove((self.blocks[end][0], end))
            block[0] += self.blocks.pop(end)[0]
        before = block[3]
        if before is not None and self.blocks[before][1] is None:
            free.remove((self.blocks[before][0], before))
            self.blocks[before][0] += self.blocks.pop(address)[0]
            address = before
        self.link(address)
        bisect.insort(free, (self.blocks[address][0], address))

    def listed(self):
        blocks = {}
        for address, (size, requested, segment, _) in sorted(self.blocks.items()):
            blocks.setdefault(segment, []).append({"address": address, "size": size, "requested_size": requested or 0, "frames": [],
                                                   "state": "inactive" if requested is None else "active_allocated"})
        for address, (room, is_small) in sorted(self.segments.items()):
            used = sum(block["size"] for block in blocks[address] if block["state"] != "inactive")
            yield {"device": 0, "address": address, "total_size": room, "allocated_size": used, "active_size": used, "requested_size": used,
                   "stream": 0, "segment_type": "small" if is_small else "large", "segment_pool_id": (0, 0), "is_expandable": False,
                   "frames": [], "blocks": blocks[address]}


def stacks():
    """The frames of each of some hundred lines, and PyTorch's own within them."""
    own = [{"name": name, "filename": f"/venv/lib/python3.11/site-packages/torch/nn/modules/{name}.py", "line": 10 + i}
           for i, name in enumerate(["linear", "module", "functional", "container"] * 4)]
    outer = [{"name": f"call_{i}", "filename": "/home/ada/train.py", "line": 300 + i} for i in range(DEPTH)]
    for layer in range(LAYERS):
        for line in range(6):
            layers = {"name": f"layer_{layer}", "filename": "/home/ada/model.py", "line": 20 * layer + line}
            yield own[line:line + 10] + [layers] + outer[:DEPTH - 11]


def train(cache, steps):
    dice, lines = random.Random(1), list(stacks())
    sizes = [dice.choice([dice.randint(512, MIB), dice.randint(MIB, 10 * MIB), dice.randint(10 * MIB, 60 * MIB)]) for _ in lines]
    for size, frames in zip(sizes, lines):
        cache.take(size, frames)  # the weights stay
    for _ in range(steps):
        stretch, held = 0.8 + 0.4 * dice.random(), []
        for size, frames in itertools.chain(zip(sizes, lines), zip(reversed(sizes), lines)):
            held.append((cache.take(int(size * stretch) + 1, list(frames)), frames))
            if dice.random() < 0.4:
                cache.give(*held.pop(dice.randrange(len(held))))
        for address, frames in reversed(held):
            cache.give(address, frames)


def main(steps, path):
    entries = []
    cache = Cache(entries)
    train(cache, int(steps))
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": False,
                "roundup_power2_divisions": {str(1 << i): 0 for i in range(16)}}
    with open(path, "wb") as file:
        pickle.dump({"segments": list(cache.listed()), "device_traces": [entries], "allocator_settings": settings, "external_annotations": []},
                    file, protocol=4)


if __name__ == "__main__":
    main(*sys.argv[1:])
