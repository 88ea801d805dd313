# SPDX-License-Identifier: MIT
"""Run an ensemble of shallow-water floods over a river basin on the CPU with JAX."""
import argparse
import resource

import jax
import jax.numpy as jnp


@jax.jit
def step(depth, bed):
    head = depth + bed
    flow = sum(jnp.roll(head, shift, axis) - head for axis in (1, 2) for shift in (1, -1))
    return jnp.maximum(depth + 0.05 * flow, 0.0)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--cells", type=int, default=1024)
    parser.add_argument("--hours", type=int, default=3)
    args = parser.parse_args()
    jax.config.update("jax_platforms", "cpu")
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    print("address space:", "unlimited" if soft == resource.RLIM_INFINITY else f"{soft / 2**30:.1f} GiB")
    print("backend:", jax.default_backend(), "| members:", args.members, "| basin:", f"{args.cells} x {args.cells}")
    bed = jnp.linspace(40.0, 0.0, args.cells)[None, :, None]
    depth = jnp.full((args.members, args.cells, args.cells), 0.4)
    print(f"state of the ensemble: {depth.nbytes / 2**30:.2f} GiB")
    for hour in range(args.hours):
        depth = step(depth, bed)
        print(f"hour {hour + 1}: wettest cell {float(depth.max()):.2f} m")


if __name__ == "__main__":
    main()
