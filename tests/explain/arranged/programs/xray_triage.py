# SPDX-License-Identifier: MIT
"""Rank chest X-rays of the night shift by urgency with an ensemble of convolutional networks."""
import argparse
import datetime

import keras
import numpy as np
import tensorflow as tf


def note(text):
    print(f"[{datetime.datetime.now():%H:%M:%S}] {text}", flush=True)


def make_member(seed, side):
    keras.utils.set_random_seed(seed)
    x = image = keras.Input((side, side, 1))
    for filters in (32, 64, 128, 256):
        x = keras.layers.SeparableConv2D(filters, 3, padding="same", activation="relu")(x)
        x = keras.layers.MaxPooling2D()(x)
    return keras.Model(image, keras.layers.Dense(1, "sigmoid")(keras.layers.GlobalMaxPooling2D()(x)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--side", type=int, default=1024)
    parser.add_argument("--members", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16)
    args = parser.parse_args()
    for card in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)
        note(f"using {tf.config.experimental.get_device_details(card).get('device_name')}")
    images = np.zeros((args.images, args.side, args.side, 1), "float32")
    note(f"{args.images} images of {args.side} x {args.side}, {images.nbytes / 2**30:.2f} GiB")
    urgency = np.zeros(args.images)
    for member in range(args.members):
        model = make_member(member, args.side)
        model.compile(jit_compile=False)
        urgency += model.predict(images, batch_size=args.batch, verbose=0)[:, 0] / args.members
        note(f"member {member + 1} of {args.members}: mean urgency {urgency.mean():.3f}")
    note(f"first in line: image {int(urgency.argmax())}")


if __name__ == "__main__":
    main()
