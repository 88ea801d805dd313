# SPDX-License-Identifier: MIT
"""Learn to rank flight offers: every offer of a search is compared with every other one of it."""
import argparse
import json
import sys
import time

import tensorflow as tf

BEGIN = time.time()


def event(kind, **fields):
    print(json.dumps({"t": round(time.time() - BEGIN, 1), "event": kind} | fields), flush=True)


class Ranker(tf.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.first = tf.Variable(tf.random.stateless_normal((features, hidden), (1, 2)) * 0.05, name="first")
        self.compare = tf.Variable(tf.random.stateless_normal((hidden, 1), (3, 4)) * 0.05, name="compare")

    def __call__(self, offers):
        x = tf.nn.relu(tf.tensordot(offers, self.first, 1))
        pairs = tf.nn.tanh(x[:, :, None, :] - x[:, None, :, :])
        return tf.squeeze(tf.tensordot(pairs, self.compare, 1), -1)


@tf.function
def train_step(ranker, offers, chosen, rate):
    with tf.GradientTape() as tape:
        better = tf.cast(chosen[:, :, None] > chosen[:, None, :], tf.float32)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(better, ranker(offers)))
    for variable, gradient in zip(ranker.trainable_variables, tape.gradient(loss, ranker.trainable_variables)):
        variable.assign_sub(rate * gradient)
    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", type=int, default=32, help="searches of a batch")
    parser.add_argument("--offers", type=int, default=200, help="offers of a search")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--features", type=int, default=48)
    parser.add_argument("--export-features", type=int, default=48, help="columns of the export of the shop")
    parser.add_argument("--steps", type=int, default=5)
    args = parser.parse_args()
    for card in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(card, True)
        event("gpu", name=tf.config.experimental.get_device_details(card).get("device_name"))
    ranker = Ranker(args.features, args.hidden)
    event("model", parameters=sum(variable.shape.num_elements() for variable in ranker.trainable_variables))
    offers = tf.zeros((args.searches, args.offers, args.export_features))
    chosen = tf.zeros((args.searches, args.offers))
    event("batch", offers=offers.shape.as_list(), pairs=args.searches * args.offers**2)
    for step in range(args.steps):
        loss = train_step(ranker, offers, chosen, 0.01)
        event("step", step=step, loss=round(float(loss), 4))
    event("end", peak_mib=tf.config.experimental.get_memory_info("GPU:0")["peak"] >> 20)
    return 0


if __name__ == "__main__":
    sys.exit(main())
