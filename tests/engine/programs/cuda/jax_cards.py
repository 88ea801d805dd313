# SPDX-License-Identifier: MIT
"""Data parallel training on all cards, sharded by JAX."""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

mesh = Mesh(np.array(jax.devices()), ("data",))
weights = jax.device_put(jnp.ones((512, 512)), NamedSharding(mesh, PartitionSpec()))
batch = jax.device_put(jnp.ones((256, 512)), NamedSharding(mesh, PartitionSpec("data")))


@jax.jit
def step(weights, batch):
    return weights - 0.1 * jax.grad(lambda w: (jnp.tanh(batch @ w) ** 2).mean())(weights)


for _ in range(4):
    weights = step(weights, batch)
weights.block_until_ready()
print("cards:", len(weights.sharding.device_set))
