# SPDX-License-Identifier: MIT
"""Score a library of molecules against a target with a message-passing network, in batches that fit."""
import argparse
import os
import sys

import jax
import jax.numpy as jnp

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")


def make_score(key, width):
    weight = jax.random.normal(key, (width, width)) * width**-0.5

    @jax.jit
    def score(atoms, bonds):
        for _ in range(3):
            atoms = jax.nn.relu(jnp.sort(bonds @ atoms @ weight, axis=1))
        return atoms.sum(axis=(1, 2))

    return score


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", type=int, default=65536, help="molecules")
    parser.add_argument("--batch", type=int, default=65536)
    parser.add_argument("--atoms", type=int, default=64)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--smallest", type=int, default=256)
    args = parser.parse_args()
    score = make_score(jax.random.PRNGKey(5), args.width)
    done, batch, best = 0, args.batch, 0.0
    while done < args.library:
        some = min(batch, args.library - done)
        try:
            scores = score(jnp.ones((some, args.atoms, args.width)), jnp.ones((some, args.atoms, args.atoms)))
            best = max(best, float(scores.max()))
        except jax.errors.JaxRuntimeError as error:
            if "RESOURCE_EXHAUSTED" not in str(error) or batch <= args.smallest:
                raise
            print(f"warning: {str(error).splitlines()[0]}", file=sys.stderr)
            batch //= 2
            print(f"warning: going on with batches of {batch}", file=sys.stderr)
            continue
        done += some
        print(f"{done}/{args.library} molecules, best score {best:.2f}")
    print("screening complete")


if __name__ == "__main__":
    main()
