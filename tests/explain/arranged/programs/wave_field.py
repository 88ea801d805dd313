# SPDX-License-Identifier: MIT
"""Propagate an acoustic wave through a 3-D velocity model by finite differences."""
import argparse
import sys
from functools import partial

import jax
import jax.numpy as jnp


@partial(jax.jit, donate_argnums=(0, 1))
def advance(before, now, velocity):
    curvature = -6.0 * now
    for axis in range(3):
        curvature = curvature + jnp.roll(now, 1, axis) + jnp.roll(now, -1, axis)
    return now, 2.0 * now - before + velocity**2 * 1e-6 * curvature


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--grid", type=int, default=256)
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    shape = (args.grid,) * 3
    print("grid", "x".join(map(str, shape)), "dt 1.0e-3 s", "device", jax.devices()[0].device_kind, file=sys.stderr)
    velocity = jnp.full(shape, 2500.0)
    before, now = jnp.zeros(shape), jnp.zeros(shape).at[args.grid // 2, args.grid // 2, 4].set(1.0)
    for step in range(args.steps):
        before, now = advance(before, now, velocity)
        if step % 5 == 0:
            print(f"t={step * 1e-3:.3f} s  peak pressure {float(jnp.abs(now).max()):.3e}", file=sys.stderr)
    print("finished", file=sys.stderr)


if __name__ == "__main__":
    main()
