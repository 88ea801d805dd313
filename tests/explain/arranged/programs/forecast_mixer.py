# SPDX-License-Identifier: MIT
"""Fit a wide mixer network that forecasts weather fields, in plain JAX with optax."""
import argparse
import json
import os
import pickle
import sys

import jax
import jax.numpy as jnp
import optax

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")
OPTIMIZERS = {"adam": optax.adam, "sgd": optax.sgd, "lion": optax.lion, "adafactor": optax.adafactor}


def say(**fields):
    print(json.dumps(fields), flush=True)


def gib(tree):
    return round(sum(leaf.nbytes for leaf in jax.tree.leaves(tree)) / 2**30, 2)


def make_params(key, width, hidden, layers):
    keys = jax.random.split(key, 2 * layers)
    return [{"up": jax.random.normal(keys[2 * i], (width, hidden)) * width**-0.5,
             "down": jax.random.normal(keys[2 * i + 1], (hidden, width)) * hidden**-0.5} for i in range(layers)]


def forecast(params, field):
    for layer in params:
        field = field + jax.nn.gelu(field @ layer["up"]) @ layer["down"]
    return field


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--hidden", type=int, default=16384)
    parser.add_argument("--layers", type=int, default=3)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--optimizer", choices=sorted(OPTIMIZERS), default="adam")
    parser.add_argument("--save", metavar="FILE")
    args = parser.parse_args()
    say(event="start", device=jax.devices()[0].device_kind, optimizer=args.optimizer, batch=args.batch)
    params = make_params(jax.random.PRNGKey(7), args.width, args.hidden, args.layers)
    say(event="parameters", gib=gib(params))
    optimizer = OPTIMIZERS[args.optimizer](1e-4)
    state = optimizer.init(params)
    jax.block_until_ready(state)
    say(event="optimizer", gib=gib(state))

    def train_step(params, state, now, later):
        loss, gradients = jax.value_and_grad(lambda p: jnp.mean((forecast(p, now) - later) ** 2))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss

    train_step = jax.jit(train_step, donate_argnums=(0, 1))
    now = jnp.ones((args.batch, args.width))
    for step in range(args.steps):
        params, state, loss = train_step(params, state, now, 0.5 * now)
        say(event="step", step=step, rmse=float(loss) ** 0.5)
    if args.save:
        with open(args.save, "wb") as file:
            pickle.dump(jax.device_get(params), file)
        say(event="saved", file=args.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())
