# SPDX-License-Identifier: MIT
"""Segment cells in microscope images with a small U-shaped network."""
import argparse
import os

import tensorflow as tf
from tensorflow import keras


def network(side, width):
    inputs = keras.Input((side, side, 1))
    down = keras.layers.Conv2D(width, 3, padding="same", activation="relu")(inputs)
    deep = keras.layers.Conv2D(width * 2, 3, padding="same", activation="relu")(keras.layers.MaxPooling2D()(down))
    up = keras.layers.Concatenate()([keras.layers.UpSampling2D()(deep), down])
    return keras.Model(inputs, keras.layers.Conv2D(1, 1, activation="sigmoid")(up), name="cells")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--steps", type=int, default=2)
    args = parser.parse_args()
    keras.utils.set_random_seed(4)
    model = network(args.side, args.width)
    model.compile("adam", "binary_crossentropy")
    print(f"pid {os.getpid()}, {model.count_params()} parameters, batch {args.batch} of {args.side} x {args.side}")
    images = tf.random.uniform((args.batch * args.steps, args.side, args.side, 1))
    masks = tf.cast(images > 0.7, tf.float32)
    history = model.fit(images, masks, batch_size=args.batch, epochs=1, verbose=2)
    print("loss", round(history.history["loss"][-1], 4))


if __name__ == "__main__":
    main()
