# SPDX-License-Identifier: MIT
"""Train a deep Q-learning agent for an arcade game; its replay memory lives on the GPU."""
import argparse
import collections
import logging

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn

logging.basicConfig(format="%(relativeCreated)8d ms  %(message)s", level=logging.INFO)


class Critic(nn.Module):
    @nn.compact
    def __call__(self, frames):
        x = frames.astype(jnp.float32) / 255
        for width in (256, 128):
            x = nn.relu(nn.Dense(width)(x.reshape(x.shape[0], -1)))
        return nn.Dense(6)(x)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--capacity", type=int, default=0, help="episodes in the replay memory; 0 keeps all")
    parser.add_argument("--episodes", type=int, default=120)
    parser.add_argument("--frames", type=int, default=1000, help="frames of an episode")
    args = parser.parse_args()
    critic = Critic()
    params = critic.init(jax.random.PRNGKey(0), jnp.zeros((1, 84, 84, 4), jnp.uint8))
    optimizer = optax.rmsprop(2.5e-4)
    state = optimizer.init(params)

    @jax.jit
    def learn(params, state, frames):
        loss, gradients = jax.value_and_grad(lambda p: jnp.mean(jnp.square(1.0 - critic.apply(p, frames).max(axis=1))))(params)
        updates, state = optimizer.update(gradients, state)
        return optax.apply_updates(params, updates), state, loss

    replay = collections.deque(maxlen=args.capacity or None)
    for episode in range(1, args.episodes + 1):
        replay.append(jnp.full((args.frames, 84, 84, 4), episode % 255, jnp.uint8))
        params, state, loss = learn(params, state, replay[episode % len(replay)][:32])
        loss = float(loss)
        if episode % 10 == 0:
            logging.info("episode %d  replay %d  epsilon %.2f  loss %.4f", episode, len(replay), 0.99**episode, loss)
    logging.info("trained")


if __name__ == "__main__":
    main()
