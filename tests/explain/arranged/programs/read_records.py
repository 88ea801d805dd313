# SPDX-License-Identifier: MIT
"""Read a patient's record page by page with a decoder-only model, so that questions can be asked about all of it."""
import argparse
import logging
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")

import tensorflow as tf  # noqa: E402

logging.basicConfig(level=logging.INFO, format="%(levelname).1s %(asctime)s %(message)s", datefmt="%H:%M:%S")
log = logging.getLogger("records")


class Block(tf.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inside = tf.Variable(tf.zeros((width, 3 * width), tf.float16))
        self.outside = tf.Variable(tf.zeros((width, width), tf.float16))
        self.keys = self.values = None

    def split(self, x):
        return tf.transpose(tf.reshape(x, (x.shape[0], self.heads, -1)), (1, 0, 2))

    def read(self, x, window):
        query, key, value = map(self.split, tf.split(x @ self.inside, 3, axis=-1))
        if self.keys is not None:
            key, value = tf.concat([self.keys, key], 1), tf.concat([self.values, value], 1)
        if window and key.shape[1] > window:
            key, value = key[:, -window:], value[:, -window:]
        self.keys, self.values = key, value
        seen = tf.nn.softmax(tf.matmul(query, key, transpose_b=True))
        return x + tf.reshape(tf.transpose(seen @ value, (1, 0, 2)), x.shape) @ self.outside


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--page-tokens", type=int, default=256)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--window", type=int, default=0, help="tokens that the model looks back; 0: the whole record")
    args = parser.parse_args()
    card = tf.config.list_physical_devices("GPU")[0]
    tf.config.experimental.set_memory_growth(card, True)
    blocks = [Block(args.width, args.width // 128) for _ in range(args.layers)]
    weights = sum(variable.shape.num_elements() for block in blocks for variable in block.trainable_variables)
    log.info("%s, %.2f B parameters, float16", tf.config.experimental.get_device_details(card).get("device_name"), weights / 1e9)
    for page in range(args.pages):
        x = tf.zeros((args.page_tokens, args.width), tf.float16)
        for block in blocks:
            x = block.read(x, args.window)
        if page % 3 == 2:
            held = 2 * sum(block.keys.shape.num_elements() for block in blocks) * 2
            memory = tf.config.experimental.get_memory_info("GPU:0")
            log.info("page %d read, context %d tokens, keys and values %.2f GiB, GPU %.2f GiB", page + 1, blocks[0].keys.shape[1],
                     held / 2**30, memory["current"] / 2**30)
    log.info("record read: %d pages", args.pages)


if __name__ == "__main__":
    main()
