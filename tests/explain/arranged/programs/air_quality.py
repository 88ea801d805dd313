# SPDX-License-Identifier: MIT
"""Predict the air quality of the next day from a year of sensor readings (TensorFlow on the CPU)."""
import argparse
import os
import sys

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402


def windows(readings, hours):
    """All windows of so many hours, as one array."""
    starts = np.arange(0, len(readings) - hours, 6)
    return np.stack([readings[start:start + hours] for start in starts])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stations", type=int, default=400)
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--input", choices=["windows", "stream"], default="stream")
    args = parser.parse_args()
    readings = np.ones((8760, args.stations), "float32")
    print("readings", readings.shape, f"{readings.nbytes / 1e6:.0f} MB", file=sys.stderr)
    layers = [tf.keras.Input((args.hours, args.stations)), tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("sgd", "mae")
    if args.input == "windows":
        inputs = windows(readings, args.hours)
        print("windows", inputs.shape, f"{inputs.nbytes / 1e6:.0f} MB", file=sys.stderr)
        data = tf.data.Dataset.from_tensor_slices((inputs, np.ones(len(inputs), "float32"))).batch(32)
    else:
        starts = tf.data.Dataset.range(0, len(readings) - args.hours, 6)
        data = starts.map(lambda s: (tf.convert_to_tensor(readings)[s:s + args.hours], 1.0)).batch(32)
    history = model.fit(data.take(8), verbose=0)
    print(f"mean absolute error {history.history['loss'][-1]:.3f}", file=sys.stderr)


if __name__ == "__main__":
    main()
