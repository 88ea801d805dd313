# SPDX-License-Identifier: MIT
"""Train a masked language model on protein sequences with Flax."""
import argparse
import logging
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false")
logging.basicConfig(level=logging.INFO, format="%(asctime)s | %(levelname)-7s | %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("protein")
AMINO_ACIDS = 25


class Block(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads)(y, y)
        y = nn.LayerNorm()(x)
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(4 * x.shape[-1])(y)))


class ProteinEncoder(nn.Module):
    width: int
    layers: int

    @nn.compact
    def __call__(self, residues):
        x = nn.Embed(AMINO_ACIDS, self.width)(residues)
        x = x + self.param("positions", nn.initializers.normal(0.02), (residues.shape[1], self.width))
        for _ in range(self.layers):
            x = Block(self.width // 64)(x)
        return nn.Dense(AMINO_ACIDS)(nn.LayerNorm()(x))


def masked_batches(rng, batch, length):
    while True:
        residues = rng.integers(1, AMINO_ACIDS, (batch, length))
        mask = rng.random((batch, length)) < 0.15
        yield np.where(mask, 0, residues), residues, mask


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=6)
    args = parser.parse_args()
    model = ProteinEncoder(args.width, args.layers)
    params = jax.jit(model.init)(jax.random.PRNGKey(0), jnp.zeros((1, args.length), jnp.int32))
    schedule = optax.warmup_cosine_decay_schedule(0.0, 4e-4, 2, args.steps)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    state = optimizer.init(params)
    count = sum(leaf.size for leaf in jax.tree.leaves(params))
    log.info("%s: %.1f M parameters, %d layers", jax.devices()[0].device_kind, count / 1e6, args.layers)
    log.info("batch %d x %d residues", args.batch, args.length)

    @jax.jit
    def train_step(params, state, residues, targets, mask):
        def loss_of(params):
            losses = optax.softmax_cross_entropy_with_integer_labels(model.apply(params, residues), targets)
            return jnp.sum(losses * mask) / jnp.maximum(mask.sum(), 1)

        loss, gradients = jax.value_and_grad(loss_of)(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    batches = masked_batches(np.random.default_rng(1), args.batch, args.length)
    for step, batch in zip(range(1, args.steps + 1), batches):
        begin = time.perf_counter()
        params, state, loss = train_step(params, state, *batch)
        log.info("step %d loss %.4f (%.2f s)", step, float(loss), time.perf_counter() - begin)
    log.info("done")


if __name__ == "__main__":
    main()
