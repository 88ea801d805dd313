# SPDX-License-Identifier: MIT
"""Estimate the local density of each galaxy of a catalogue from the distance to its k-th neighbour."""
import argparse
import os
import time

import jax
import jax.numpy as jnp

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")


def kth_distance(block, galaxies, k):
    squares = jnp.sum(block**2, axis=1)[:, None] + jnp.sum(galaxies**2, axis=1)[None] - 2 * block @ galaxies.T
    return jnp.sqrt(jnp.maximum(jnp.sort(squares, axis=1)[:, k], 0.0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--galaxies", type=int, default=20000)
    parser.add_argument("--block", type=int, default=0, help="galaxies at a time; 0 takes all at once")
    parser.add_argument("-k", type=int, default=5)
    args = parser.parse_args()
    print(f"jax {jax.__version__} on {jax.devices()[0]}")
    galaxies = jax.random.uniform(jax.random.PRNGKey(3), (args.galaxies, 3), maxval=250.0)
    block = args.block or args.galaxies
    print(f"{args.galaxies} galaxies, blocks of {block}; a distance matrix is {block} x {args.galaxies} float32")
    density_of = jax.jit(lambda some: args.k / (4.19 * kth_distance(some, galaxies, args.k) ** 3 + 1e-9))
    begin = time.time()
    found = []
    for start in range(0, args.galaxies, block):
        found.append(density_of(galaxies[start:start + block]))
    density = jax.block_until_ready(jnp.concatenate(found))
    print(f"median density {float(jnp.median(density)):.3g} per Mpc^3, {time.time() - begin:.1f} s")


if __name__ == "__main__":
    main()
