# SPDX-License-Identifier: MIT
"""Continue a melody with a mixture-of-experts decoder over MIDI tokens, and print the bars."""
import argparse
import dataclasses
import os

from loguru import logger

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

TOKENS_PER_BAR = 32


@dataclasses.dataclass(frozen=True)
class Score:
    layers: int
    experts: int
    width: int
    inner: int
    tokens: int = 1024

    def bytes_of_layer(self):
        return 2 * (4 * self.width**2 + self.experts * 2 * self.width * self.inner)


SIZES = {
    "solo": Score(8, 4, 768, 2048),
    "quartet": Score(24, 8, 1536, 4096),
    "orchestra": Score(32, 8, 2560, 6912),
    "opera": Score(40, 8, 3072, 8192),
}


def make_layer(key, score):
    keys = jax.random.split(key, 3)
    normal = jax.jit(jax.random.normal, static_argnums=(1, 2))
    return {
        "mix": normal(keys[0], (4, score.width, score.width), jnp.bfloat16),
        "up": normal(keys[1], (score.experts, score.width, score.inner), jnp.bfloat16),
        "down": normal(keys[2], (score.experts, score.inner, score.width), jnp.bfloat16),
    }


@jax.jit
def apply_layer(layer, x):
    q, k, v, out = (x @ layer["mix"][i] for i in range(4))
    scores = jax.nn.softmax(jnp.tril(q @ k.T) * x.shape[-1]**-0.5)
    x = x + scores @ v + 0.1 * out
    expert = jnp.argmax(jnp.sum(x, axis=0)) % layer["up"].shape[0]
    return x + jax.nn.silu(x @ layer["up"][expert]) @ layer["down"][expert]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="quartet")
    parser.add_argument("--bars", type=int, default=4)
    parser.add_argument("--tempo", type=int, default=96)
    args = parser.parse_args()
    score = SIZES[args.size]
    device = jax.devices()[0]
    logger.info("{} on {}, {} bars at {} bpm", args.size, device.device_kind, args.bars, args.tempo)
    logger.info("experts: {} in each of {} layers, {:.0f} MiB a layer in bfloat16", score.experts, score.layers,
                score.bytes_of_layer() / 2**20)
    key = jax.random.PRNGKey(args.tempo)
    table = jnp.zeros((score.tokens, score.width), jnp.bfloat16)
    layers = []
    for n in range(score.layers):
        layers.append(jax.block_until_ready(make_layer(jax.random.fold_in(key, n), score)))
        if n % 4 == 3:
            logger.debug("weights of layers 0..{} made: {:.2f} GiB", n, (n + 1) * score.bytes_of_layer() / 2**30)
    melody = jnp.zeros(args.bars * TOKENS_PER_BAR, jnp.int32)
    x = table[melody]
    for layer in layers:
        x = apply_layer(layer, x)
    notes = jnp.argmax(x @ table.T, axis=-1).reshape(args.bars, TOKENS_PER_BAR)
    for bar in jax.device_get(notes)[:4]:
        logger.info("bar: {}", " ".join(str(note) for note in bar[:8]))
    logger.success("melody continued by {} bars", args.bars)


if __name__ == "__main__":
    main()
