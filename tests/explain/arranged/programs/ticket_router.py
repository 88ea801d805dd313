# SPDX-License-Identifier: MIT
"""Route support tickets to teams: a text classifier in Keras, on a part of the GPU that the host's users agreed on."""
import argparse
import logging

import keras
import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("router")


def take_part(mib):
    card = tf.config.list_physical_devices("GPU")[0]
    tf.config.set_logical_device_configuration(card, [tf.config.LogicalDeviceConfiguration(memory_limit=mib)])
    log.info("our part of the GPU: %d MiB", mib)


def make_classifier(words, length, width, teams):
    text = keras.Input((length,), dtype="int32")
    x = keras.layers.Embedding(words, width)(text)
    for _ in range(2):
        x = x + keras.layers.MultiHeadAttention(8, width // 8)(x, x)
        x = keras.layers.LayerNormalization()(x)
    return keras.Model(text, keras.layers.Dense(teams)(keras.layers.GlobalAveragePooling1D()(x)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpu-mib", type=int, default=6000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--teams", type=int, default=14)
    parser.add_argument("--label-columns", type=int, default=1, help="columns of labels in the export")
    args = parser.parse_args()
    take_part(args.gpu_mib)
    model = make_classifier(30000, args.length, 256, args.teams)
    model.compile("adamw", keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    log.info("%.1f M parameters, batches of %d tickets with %d tokens", model.count_params() / 1e6, args.batch, args.length)
    tickets = np.zeros((2 * args.batch, args.length), "int32")
    labels = np.zeros((2 * args.batch, args.label_columns), "int32")
    model.fit(tickets, labels, batch_size=args.batch, verbose=2)
    info = tf.config.experimental.get_memory_info("GPU:0")
    log.info("peak of the GPU memory: %.0f MiB", info["peak"] / 2**20)


if __name__ == "__main__":
    main()
