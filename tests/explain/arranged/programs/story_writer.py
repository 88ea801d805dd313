# SPDX-License-Identifier: MIT
"""Write the next words of a story with a decoder-only language model on one GPU."""
import argparse
import os
import sys

import jax
import jax.numpy as jnp

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
SIZES = {"1.3b": (2048, 24), "3b": (2560, 36), "7b": (4096, 32), "13b": (5120, 40)}
VOCABULARY = 32000


def make_layer(key, width):
    def matrix(rows, columns):
        return jax.random.normal(key, (rows, columns), jnp.bfloat16) * rows**-0.5

    return {"qkv": matrix(width, 3 * width), "out": matrix(width, width),
            "up": matrix(width, 4 * width), "down": matrix(4 * width, width)}


@jax.jit
def apply_layer(layer, x):
    q, k, v = jnp.split(x @ layer["qkv"], 3, axis=-1)
    weights = jax.nn.softmax((q @ k.T) * q.shape[-1]**-0.5)
    x = x + (weights @ v) @ layer["out"]
    return x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=sorted(SIZES), default="1.3b")
    parser.add_argument("--prompt-tokens", type=int, default=64)
    parser.add_argument("--new-tokens", type=int, default=4)
    args = parser.parse_args()
    width, depth = SIZES[args.size]
    count = depth * 12 * width**2 + VOCABULARY * width
    print(f"model {args.size}: {count / 1e9:.2f} billion parameters in bfloat16, {2 * count / 2**30:.1f} GiB")
    embedding = jax.random.normal(jax.random.PRNGKey(0), (VOCABULARY, width), jnp.bfloat16)
    make = jax.jit(make_layer, static_argnums=1)
    layers = []
    for number in range(depth):
        layers.append(jax.block_until_ready(make(jax.random.PRNGKey(number + 1), width)))
        print(f"\rlayer {number + 1}/{depth}", end="", file=sys.stderr)
    print(file=sys.stderr)
    tokens = jnp.zeros((args.prompt_tokens,), jnp.int32)
    for _ in range(args.new_tokens):
        x = embedding[tokens]
        for layer in layers:
            x = apply_layer(layer, x)
        tokens = jnp.append(tokens[1:], jnp.argmax(x[-1] @ embedding.T))
        print("token", int(tokens[-1]))


if __name__ == "__main__":
    main()
