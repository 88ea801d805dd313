# SPDX-License-Identifier: MIT
"""Screen plates of a drug assay on the GPU: images of wells of each plate are stacked, poor plates dropped, the rest compared."""
import argparse
import logging
import random

import jax
import jax.numpy as jnp

log = logging.getLogger("assay")


@jax.jit
def sharpness(plate):
    return jnp.mean(jnp.abs(plate[:, 1:] - plate[:, :-1]))


def load_plate(wells, side):
    return jnp.zeros((wells, side, side), jnp.uint8)


def report(when, plates):
    stats = jax.devices()[0].memory_stats() or {}
    held = sum(plate.nbytes for plate in plates.values())
    names = [name for name in ("bytes_in_use", "bytes_limit", "largest_free_block_bytes") if name in stats]
    text = ", ".join(f"{name.replace('_', ' ')} {stats[name] / 2**20:.0f}" for name in names)
    log.info("%s: %d plates, %.0f MiB [MiB: %s]", when, len(plates), held / 2**20, text or "no statistics")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plates", type=int, default=60)
    parser.add_argument("--side", type=int, default=640)
    parser.add_argument("--poor", type=float, default=0.5, help="share of plates that the microscopist marked as poor")
    parser.add_argument("--atlas", type=int, default=2000, help="MiB of the atlas of reference compounds")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(relativeCreated)8d ms | %(name)s | %(message)s")
    choice = random.Random(args.seed)
    plates = {}
    for number in range(args.plates):
        plates[f"P{number:03d}"] = load_plate(choice.choice([240, 288, 336, 384]), args.side)
    report("plates loaded", plates)
    poor = choice.sample(sorted(plates), int(args.poor * len(plates)))
    for name in poor:
        float(sharpness(plates[name][:4]))
        plates.pop(name).delete()
    report(f"{len(poor)} poor plates dropped", plates)
    atlas = jax.block_until_ready(jnp.zeros((args.atlas, 1024, 1024), jnp.uint8))
    log.info("atlas of reference compounds: %s, %.0f MiB", atlas.shape, atlas.nbytes / 2**20)
    for name, plate in sorted(plates.items())[:3]:
        log.info("%s: sharpness %.3f", name, float(sharpness(plate[:8])))
    log.info("screening done")


if __name__ == "__main__":
    main()
