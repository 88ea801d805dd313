# SPDX-License-Identifier: MIT
"""Fit a radiance field to photos of a flat, so that it can be walked through (JAX)."""
import argparse
import os

os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import optax  # noqa: E402
from jax.sharding import AxisType, NamedSharding, PartitionSpec  # noqa: E402
from tqdm import tqdm  # noqa: E402

BANDS = 10


def encode(points):
    waves = points[..., None, :] * 2.0 ** jnp.arange(BANDS)[:, None]
    waves = waves.reshape(*points.shape[:-1], -1)
    return jnp.concatenate([jnp.sin(waves), jnp.cos(waves)], -1)


def make_field(key, width, depth):
    sizes = [6 * BANDS] + depth * [width] + [4]
    return [jax.random.normal(jax.random.fold_in(key, i), pair) * pair[0]**-0.5 for i, pair in enumerate(zip(sizes, sizes[1:]))]


def render(field, origins, directions, samples):
    depths = jnp.linspace(0.1, 6.0, samples)
    x = encode(origins[:, None] + depths[:, None] * directions[:, None])
    for weight in field[:-1]:
        x = jax.nn.relu(x @ weight)
    x = x @ field[-1]
    opacity = 1 - jnp.exp(-jax.nn.softplus(x[..., 3]))
    through = jnp.cumprod(1 - opacity + 1e-10, axis=1)
    return jnp.sum((through * opacity)[..., None] * jax.nn.sigmoid(x[..., :3]), axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rays", type=int, default=1024, help="rays of a step")
    parser.add_argument("--samples", type=int, default=128, help="points along a ray")
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--devices", type=int, default=1)
    args = parser.parse_args()
    print(f"devices: {jax.devices()}")
    limit = jax.devices()[0].memory_stats()["bytes_limit"]
    print(f"memory for JAX: {limit / 2**30:.2f} GiB; {args.rays} rays x {args.samples} samples, width {args.width}")
    mesh = jax.make_mesh((args.devices,), ("rays",), axis_types=(AxisType.Auto,))
    by_ray = NamedSharding(mesh, PartitionSpec("rays"))
    field = make_field(jax.random.PRNGKey(0), args.width, 8)
    optimizer = optax.adam(5e-4)
    state = optimizer.init(field)

    @jax.jit
    def step(field, state, origins, directions, colours):
        def loss_of(field):
            return jnp.mean((render(field, origins, directions, args.samples) - colours) ** 2)
        loss, gradient = jax.value_and_grad(loss_of)(field)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(field, updates), state, loss

    rng = np.random.default_rng(0)
    with tqdm(total=args.steps, ncols=80, desc="fit") as bar:
        for _ in range(args.steps):
            rays = [jax.device_put(rng.random((args.rays, 3), np.float32), by_ray) for _ in range(3)]
            field, state, loss = step(field, state, *rays)
            bar.set_postfix(mse=f"{float(loss):.4f}")
            bar.update()
    print("field fitted")


if __name__ == "__main__":
    main()
