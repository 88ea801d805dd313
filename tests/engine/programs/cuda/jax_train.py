# SPDX-License-Identifier: MIT
"""A convolutional network with flax and optax, trained for some steps by JAX."""
import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(32, (3, 3))(x)).mean((1, 2))
        return nn.Dense(10)(x)


network, rule = Network(), optax.adamw(1e-3)
images, labels = jnp.ones((16, 32, 32, 3)), jnp.zeros((16,), jnp.int32)
parameters = network.init(jax.random.PRNGKey(0), images)
state = rule.init(parameters)


@jax.jit
def step(parameters, state, images, labels):
    def loss_of(parameters):
        logits = network.apply(parameters, images)
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    updates, state = rule.update(gradients, state, parameters)
    return optax.apply_updates(parameters, updates), state, loss


for _ in range(6):
    parameters, state, loss = step(parameters, state, images, labels)
loss.block_until_ready()
print("steps: 6 on", jax.default_backend())
