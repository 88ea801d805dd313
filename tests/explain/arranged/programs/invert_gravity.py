# SPDX-License-Identifier: MIT
"""Invert gravity readings for the density of the ground below, with L-BFGS (optax)."""
import argparse
import os

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import optax  # noqa: E402


def size(tree):
    return f"{sum(leaf.nbytes for leaf in jax.tree.leaves(tree)) / 1e9:.2f} GB"


def misfit(density, readings, decay):
    felt = jnp.tensordot(decay, density, 1)
    rough = jnp.mean(jnp.square(density[1:] - density[:-1]))
    return jnp.mean(jnp.square(felt[:readings.shape[0], :readings.shape[1]] - readings)) + 1e-3 * rough


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=256, help="cells of the survey area, each way")
    parser.add_argument("--depths", type=int, default=64)
    parser.add_argument("--stations", type=int, default=200, help="lines of stations, each way")
    parser.add_argument("--memory", type=int, default=10, help="pairs of steps and gradients that L-BFGS remembers")
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--show-change", action="store_true", help="say how far the densities are from where they began")
    args = parser.parse_args()
    print("gravity inversion on", jax.devices()[0].device_kind)
    begin = density = jnp.zeros((args.depths, args.cells, args.cells))
    readings = jnp.ones((args.stations, args.stations))
    decay = 1.0 / (1.0 + jnp.arange(args.depths)) ** 2
    print(f"  densities   {density.shape} {size(density)}")
    print(f"  readings    {readings.shape} {size(readings)}")
    solver = optax.lbfgs(learning_rate=0.5, memory_size=args.memory, linesearch=None)
    state = jax.jit(solver.init)(density)
    jax.block_until_ready(state)
    print(f"  L-BFGS      memory of {args.memory} pairs, {size(state)}", flush=True)

    def iterate(density, state, readings, decay):
        value, gradient = jax.value_and_grad(misfit)(density, readings, decay)
        updates, state = solver.update(gradient, state, density)
        return optax.apply_updates(density, updates), state, value

    iterate = jax.jit(iterate, donate_argnums=(0, 1))
    for n in range(args.iterations):
        density, state, value = iterate(density, state, readings, decay)
        print(f"  iteration {n}: misfit {float(value):.6f}")
    stats = jax.devices()[0].memory_stats()
    used, peak, limit = (stats[name] / 1e9 for name in ("bytes_in_use", "peak_bytes_in_use", "bytes_limit"))
    print(f"memory: in use {used:.2f} GB, peak {peak:.2f} GB, limit {limit:.2f} GB")
    if args.show_change:
        print(f"largest change of a density: {float(jnp.max(jnp.abs(density - begin))):.4f}")
    print("densities.npz written")


if __name__ == "__main__":
    main()
