# SPDX-License-Identifier: MIT
"""Score insurance claims with the graph of the old pricing system (sessions of TensorFlow 1, kept alive by tf.compat.v1)."""
import argparse
import configparser
import logging

import numpy as np
import tensorflow.compat.v1 as tf

SETTINGS = """
[gpu]
fraction = {fraction}
[batch]
claims = {claims}
"""


def read_settings(path):
    settings = configparser.ConfigParser()
    settings.read(path)
    return settings


def build(shape):
    claims = tf.placeholder(tf.float32, shape, "claims")
    width = shape[-1]
    state = claims
    for n in range(3):
        kernel = tf.get_variable(f"kernel{n}", (width, width))
        mixed = tf.tensordot(state, kernel, 1)
        weights = tf.nn.softmax(tf.matmul(mixed, state, transpose_b=True) / width**0.5, name=f"weights{n}")
        state = state + tf.matmul(weights, mixed)
    return claims, tf.reduce_mean(state, axis=(1, 2), name="score")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu-fraction", default="0.5")
    parser.add_argument("--claims", type=int, default=64, help="claims of a batch")
    parser.add_argument("--history", type=int, default=512, help="events of a claim")
    parser.add_argument("--batches", type=int, default=3)
    args = parser.parse_args()
    with open("claims.ini", "w", encoding="utf-8") as file:
        file.write(SETTINGS.format(fraction=args.gpu_fraction, claims=args.claims))
    settings = read_settings("claims.ini")
    logging.basicConfig(level=logging.INFO, format="claims-graph: %(message)s")
    fraction = settings.getfloat("gpu", "fraction")
    logging.info("claims.ini: per_process_gpu_memory_fraction=%s, claims=%s", fraction, settings["batch"]["claims"])
    tf.disable_eager_execution()
    shape = (settings.getint("batch", "claims"), args.history, 128)
    claims, score = build(shape)
    options = tf.GPUOptions(per_process_gpu_memory_fraction=fraction)
    with tf.Session(config=tf.ConfigProto(gpu_options=options)) as session:
        session.run(tf.global_variables_initializer())
        for batch in range(args.batches):
            scores = session.run(score, {claims: np.zeros(shape, np.float32)})
            logging.info("batch %d: %d scores", batch, len(scores))
    logging.info("all claims scored")


if __name__ == "__main__":
    main()
