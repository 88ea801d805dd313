# SPDX-License-Identifier: MIT
"""Keep satellite tiles on the GPU and join them into a mosaic of the whole scene."""
import argparse
import logging

import jax
import jax.numpy as jnp

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")
log = logging.getLogger("mosaic")


class TileCache:
    """Tiles by number; when it is full, half of them make room."""

    def __init__(self, share, evict):
        self.device = jax.devices()[0]
        self.limit = int(share * self.device.memory_stats()["bytes_limit"])
        self.evict = evict
        self.tiles = {}

    def load(self, number, side):
        if sum(tile.nbytes for tile in self.tiles.values()) + side * side * 4 > self.limit:
            return False
        self.tiles[number] = jnp.ones((side, side))
        return True

    def make_room(self):
        numbers = sorted(self.tiles)
        old = numbers[:len(numbers) // 2] if self.evict == "oldest" else [n for n in numbers if n % 2]
        for number in old:
            del self.tiles[number]

    def report(self, when):
        stats = self.device.memory_stats()
        used, limit = stats["bytes_in_use"] / 2**30, stats["bytes_limit"] / 2**30
        log.info("%s: %d tiles, %.2f of %.2f GiB in use", when, len(self.tiles), used, limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tile", type=int, default=4096)
    parser.add_argument("--cache-share", type=float, default=0.92)
    parser.add_argument("--evict", choices=["checker", "oldest"], default="checker")
    parser.add_argument("--mosaic", type=float, default=0.3, help="share of the memory that the mosaic takes")
    args = parser.parse_args()
    cache = TileCache(args.cache_share, args.evict)
    number = 0
    while cache.load(number, args.tile):
        number += 1
    cache.report("loaded")
    cache.make_room()
    cache.report("made room")
    rows = int(args.mosaic * cache.device.memory_stats()["bytes_limit"]) // (4 * args.tile)
    log.info("mosaic of %d x %d pixels, %.2f GiB", rows, args.tile, rows * args.tile / 2**28)
    mosaic = jnp.zeros((rows, args.tile))
    top = min(cache.tiles)
    mosaic = jax.jit(lambda whole, tile: whole.at[:tile.shape[0]].set(tile), donate_argnums=0)(mosaic, cache.tiles[top])
    log.info("mean brightness %.3f", float(mosaic[:64].mean()))


if __name__ == "__main__":
    main()
