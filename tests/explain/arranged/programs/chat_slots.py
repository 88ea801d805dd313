# SPDX-License-Identifier: MIT
"""Serve several conversations at once: one decoder with a fixed cache of keys and values for each slot."""
import argparse
import os
import time

import jax
import jax.numpy as jnp

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
WIDTH, DEPTH, HEADS, KV_HEADS = 2048, 16, 32, 8


def log(message):
    print(time.strftime("%Y-%m-%dT%H:%M:%S"), message, flush=True)


def make_weights():
    columns = 10 * WIDTH + 2 * KV_HEADS * (WIDTH // HEADS)
    make = jax.jit(lambda n: jax.random.normal(jax.random.PRNGKey(n), (WIDTH, columns), jnp.bfloat16))
    return [make(n) for n in range(DEPTH)]


@jax.jit
def decode(weights, keys, values, x, position):
    head = WIDTH // HEADS
    for n, matrix in enumerate(weights):
        y = x @ matrix[:, :WIDTH + 2 * KV_HEADS * head]
        k = y[:, WIDTH:WIDTH + KV_HEADS * head].reshape(-1, 1, KV_HEADS, head)
        keys = keys.at[n, :, position].set(k[:, 0])
        values = values.at[n, :, position].set(k[:, 0])
        x = jnp.tanh(y[:, :WIDTH] + x)
    return keys, values, x


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--context", type=int, default=4096)
    parser.add_argument("--prompt", type=int, default=16, help="tokens of the first prompt")
    args = parser.parse_args()
    weights = make_weights()
    log(f"weights {sum(matrix.nbytes for matrix in weights) / 2**20:.0f} MiB on {jax.devices()[0].device_kind}")
    if args.prompt > args.context:
        raise ValueError(f"a prompt of {args.prompt} tokens does not fit the context of {args.context}")
    shape = (DEPTH, args.slots, args.context, KV_HEADS, WIDTH // HEADS)
    mib = 2 * DEPTH * args.slots * args.context * KV_HEADS * (WIDTH // HEADS) * 2 // 2**20
    log(f"cache of keys and values for {args.slots} slots x {args.context} tokens: {mib} MiB")
    keys = jnp.zeros(shape, jnp.bfloat16)
    values = jnp.zeros(shape, jnp.bfloat16)
    step = jax.jit(decode, donate_argnums=(1, 2))
    x = jnp.zeros((args.slots, WIDTH), jnp.bfloat16)
    for position in range(args.prompt):
        keys, values, x = step(weights, keys, values, x, position)
    log(f"ready, {jax.block_until_ready(x).shape[0]} slots")


if __name__ == "__main__":
    main()
