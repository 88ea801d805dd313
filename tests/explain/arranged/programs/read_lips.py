# SPDX-License-Identifier: MIT
"""Train a lip reader on short clips of faces: convolutions in space and time (Keras)."""
import argparse
import resource

import keras
import numpy as np
import tensorflow as tf
from keras import layers


class Shards:
    """Shards of the clip collection, each an open file that clips are read from."""

    def __init__(self, n):
        self.files = [open(f"clips-{i:04d}.bin", "w+b") for i in range(n)]
        for file in self.files:
            file.truncate(1 << 16)


def build(frames, side, words):
    clip = keras.Input((frames, side, side, 3))
    x = clip
    for filters in (32, 64, 96):
        x = layers.Conv3D(filters, 3, padding="same", activation="relu")(x)
        x = layers.MaxPooling3D((1, 2, 2))(x)
    x = layers.Reshape((frames, -1))(x)
    x = layers.Dense(256, activation="relu")(x)
    x = layers.Conv1D(256, 5, padding="same", activation="relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(clip, layers.Dense(words, activation="softmax")(x), name="lip_reader")


class OneLine(keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        print(f"  batch {batch + 1}: loss {logs['loss']:.4f}")

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1} finished")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--frames", type=int, default=24)
    parser.add_argument("--side", type=int, default=96)
    parser.add_argument("--words", type=int, default=500)
    parser.add_argument("--shards", type=int, default=16)
    args = parser.parse_args()
    for card in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)
    model = build(args.frames, args.side, args.words)
    model.summary(line_length=90)
    model.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
    print(f"open files allowed: {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}, shards: {args.shards}")
    shards = Shards(args.shards)
    clips = np.zeros((2 * args.batch, args.frames, args.side, args.side, 3), "float32")
    words = np.zeros(2 * args.batch, "int32")
    print(f"{len(clips)} clips in batches of {args.batch}, {clips.nbytes / 1e6:.0f} MB, from {len(shards.files)} shards")
    model.fit(clips, words, batch_size=args.batch, epochs=1, verbose=0, callbacks=[OneLine()])
    model.save_weights("lips.weights.h5")
    print("saved lips.weights.h5")


if __name__ == "__main__":
    main()
