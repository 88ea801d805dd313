# SPDX-License-Identifier: MIT
"""Train an acoustic model that labels speech frames with phonemes (Flax NNX)."""
import argparse
import os
import time

import jax
import jax.numpy as jnp
import optax
from flax import nnx
from loguru import logger

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_gpu_enable_triton_gemm=false")
PHONEMES = 48


class FrameLabeller(nnx.Module):
    def __init__(self, width, depth, rngs):
        self.front = nnx.Conv(80, width, kernel_size=(5,), rngs=rngs)
        self.body = nnx.List([nnx.Linear(width, width, rngs=rngs) for _ in range(depth)])
        self.head = nnx.Linear(width, PHONEMES, rngs=rngs)

    def __call__(self, mel):
        x = nnx.relu(self.front(mel))
        for layer in self.body:
            x = x + nnx.gelu(layer(x))
        return self.head(x)


@nnx.jit
def train_step(model, optimizer, mel, labels):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(mel), labels).mean()

    loss, gradients = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradients)
    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600, help="speech in one batch")
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    args = parser.parse_args()
    for name in sorted(os.environ):
        if name.startswith("XLA_PYTHON"):
            logger.info("{}={}", name, os.environ[name])
    device = jax.devices()[0]
    logger.info("{}: JAX may use {:.2f} GiB", device.device_kind, device.memory_stats()["bytes_limit"] / 2**30)
    model = FrameLabeller(args.width, args.depth, nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(3e-4), wrt=nnx.Param)
    frames = int(args.seconds * 100)
    mel = jnp.zeros((frames // 1000, 1000, 80))
    labels = jnp.zeros(mel.shape[:2], jnp.int32)
    logger.info("batch of {} s, {} frames", args.seconds, mel.shape[0] * mel.shape[1])
    for step in range(args.steps):
        begin = time.time()
        loss = float(train_step(model, optimizer, mel, labels))
        logger.success("step {}: loss {:.3f}, {:.1f} s", step, loss, time.time() - begin)


if __name__ == "__main__":
    main()
