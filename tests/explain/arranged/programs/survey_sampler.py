# SPDX-License-Identifier: MIT
"""Sample the posterior of an item response model for a large survey with Langevin dynamics."""
import argparse

import jax
import jax.numpy as jnp
from tqdm import tqdm


def log_posterior(abilities, answers):
    return -0.5 * jnp.sum(abilities**2) + jnp.sum(jax.nn.log_sigmoid(abilities * answers))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=500_000)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--keep", choices=["draws", "summary"], default="draws")
    parser.add_argument("--report", type=int, default=10)
    args = parser.parse_args()
    device = jax.devices()[0]
    answers = jnp.ones((args.people,))

    @jax.jit
    def move(key, abilities):
        gradient = jax.vmap(jax.grad(log_posterior), in_axes=(0, None))(abilities, answers)
        return abilities + 5e-4 * gradient + 0.03 * jax.random.normal(key, abilities.shape)

    key = jax.random.PRNGKey(11)
    abilities = jnp.zeros((args.chains, args.people))
    trace, mean = [], jnp.zeros_like(abilities)
    progress = tqdm(range(1, args.draws + 1), unit="draw", mininterval=1.0)
    for draw in progress:
        key, now = jax.random.split(key)
        abilities = move(now, abilities)
        if args.keep == "draws":
            trace.append(abilities)
        mean = mean + (abilities - mean) / draw
        if draw % args.report == 0:
            used = device.memory_stats()["bytes_in_use"]
            progress.write(f"draw {draw:4d}: acceptance 1.00, {len(trace)} kept, device memory in use {used / 2**20:,.0f} MiB")
    spread = float(jnp.std(mean))
    print(f"posterior means of {args.people} people: spread {spread:.4f}")


if __name__ == "__main__":
    main()
