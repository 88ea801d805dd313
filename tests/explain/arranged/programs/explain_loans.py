# SPDX-License-Identifier: MIT
"""Explain a bank's decisions on loans: integrated gradients for each application, averaged for the yearly report."""
import argparse
import datetime

import numpy as np
import tensorflow as tf


def stamp(text):
    print(f"[{datetime.datetime.now():%Y-%m-%d %H:%M:%S}] {text}")


def make_scorer(columns, width):
    dense = tf.keras.layers.Dense
    return tf.keras.Sequential([tf.keras.Input((columns,)), dense(width, "relu"), dense(width, "relu"), dense(1)], name="scorer")


@tf.function(jit_compile=False)
def attribute(model, applications, alphas):
    points = alphas[:, None, None] * applications[None]
    flat = tf.reshape(points, (-1, applications.shape[1]))
    with tf.GradientTape() as tape:
        tape.watch(flat)
        score = model(flat)
    return applications[None] * tf.reshape(tape.gradient(score, flat), points.shape)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--branches", type=int, default=120)
    parser.add_argument("--applications", type=int, default=2048, help="applications of a branch")
    parser.add_argument("--columns", type=int, default=400)
    parser.add_argument("--points", type=int, default=32, help="points on the path from the baseline")
    parser.add_argument("--report", choices=["full", "mean"], default="mean", help="full: the whole path of each application")
    args = parser.parse_args()
    card = tf.config.list_physical_devices("GPU")[0]
    tf.config.experimental.set_memory_growth(card, True)
    model = make_scorer(args.columns, 512)
    alphas = tf.constant(np.linspace(0.0, 1.0, args.points, dtype=np.float32))
    paths = []
    for branch in range(args.branches):
        applications = tf.zeros((args.applications, args.columns))
        path = attribute(model, applications, alphas)
        paths.append(path if args.report == "full" else tf.reduce_mean(path, (0, 1)))
        if branch % 5 == 0:
            used = tf.config.experimental.get_memory_info("GPU:0")
            now, peak = used["current"] / 1e6, used["peak"] / 1e6
            stamp(f"branch {branch + 1:3d} of {args.branches}: now {now:7.0f} MB, peak {peak:7.0f} MB")
    means = tf.stack([tf.reduce_mean(path, (0, 1)) if args.report == "full" else path for path in paths])
    stamp(f"report of {means.shape[0]} branches x {means.shape[1]} columns")


if __name__ == "__main__":
    main()
