# SPDX-License-Identifier: MIT
"""Train a recurrent forecaster on ticks of a stock exchange with a loop of its own (TensorFlow)."""
import argparse
import json
import time

import tensorflow as tf


def out(**fields):
    print(json.dumps({"t": round(time.monotonic(), 2), **fields}), flush=True)


class Forecaster(tf.Module):
    def __init__(self, features, width):
        super().__init__()
        self.enter = tf.Variable(tf.random.normal((features + width, width), stddev=0.02))
        self.leave = tf.Variable(tf.random.normal((width, features), stddev=0.02))

    def __call__(self, ticks, state):
        for now in tf.unstack(ticks, axis=1):
            state = tf.tanh(tf.concat([now, state], 1) @ self.enter)
        return state @ self.leave, state


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--streams", type=int, default=8192)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--track", choices=["states", "loss"], default="states", help="what the report at the end is made of")
    args = parser.parse_args()
    card = tf.config.list_physical_devices("GPU")[0]
    tf.config.experimental.set_memory_growth(card, True)
    model = Forecaster(16, args.width)
    optimizer = tf.keras.optimizers.SGD(1e-2)
    ticks = tf.zeros((args.streams, 8, 16))
    state = tf.zeros((args.streams, args.width))
    tracked = []
    for step in range(1, args.steps + 1):
        with tf.GradientTape() as tape:
            forecast, state = model(ticks, tf.stop_gradient(state))
            loss = tf.reduce_mean(tf.square(forecast - ticks[:, -1]))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        tracked.append((loss, state) if args.track == "states" else (loss, tf.reduce_mean(state)))
        if step % 20 == 0:
            current = tf.config.experimental.get_memory_info("GPU:0")["current"]
            out(step=step, loss=float(loss), gpu_mb=current // 10**6)
    out(event="report", volatility=float(tf.add_n([tf.math.reduce_std(state) for _, state in tracked])) / len(tracked))


if __name__ == "__main__":
    main()
