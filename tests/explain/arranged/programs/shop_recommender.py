# SPDX-License-Identifier: MIT
"""Fit a two-tower recommender for an online shop: customers and articles as embeddings."""
import argparse

import keras
import numpy as np
from keras import ops


class TwoTowers(keras.Model):
    def __init__(self, customers, articles, width):
        super().__init__()
        self.customers = keras.layers.Embedding(customers, width, name="customers")
        self.articles = keras.layers.Embedding(articles, width, name="articles")

    def call(self, pairs):
        return ops.sum(self.customers(pairs[:, 0]) * self.articles(pairs[:, 1]), axis=-1, keepdims=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--customers", type=int, default=1_000_000)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--batch", type=int, default=4096)
    args = parser.parse_args()
    tables = (args.customers + args.articles) * args.width * 4
    print(f"Tables: {args.customers:,} customers + {args.articles:,} articles, width {args.width}: {tables / 1e9:.2f} GB")
    model = TwoTowers(args.customers, args.articles, args.width)
    model(np.zeros((1, 2), "int32"))
    model.summary(line_length=80)
    model.compile(keras.optimizers.get(args.optimizer), keras.losses.BinaryCrossentropy(from_logits=True), jit_compile=False)
    print(f"Optimizer: {args.optimizer}, batch {args.batch}")
    pairs = np.zeros((2 * args.batch, 2), "int32")
    model.fit(pairs, np.ones((len(pairs), 1), "float32"), batch_size=args.batch, verbose=2)
    print("Done.")


if __name__ == "__main__":
    main()
