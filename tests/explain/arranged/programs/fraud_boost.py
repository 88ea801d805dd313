# SPDX-License-Identifier: MIT
"""Train gradient boosted trees on payment features to flag fraud."""
import argparse
import sys

import numpy as np
import xgboost as xgb
from loguru import logger

logger.remove()
logger.add(sys.stdout, format="{time:HH:mm:ss} | {level: <7} | {message}")


def features(rows, columns):
    rng = np.random.default_rng(17)
    x = rng.standard_normal((rows, columns), dtype=np.float32)
    y = (x[:, 0] + x[:, 1] * x[:, 2] > 2).astype(np.float32)
    return x, y


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=60)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--bins", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=4)
    args = parser.parse_args()
    x, y = features(args.rows, args.columns)
    logger.info("xgboost {}, {} rows x {} columns, {:.0f} MiB, {:.2%} fraud", xgb.__version__, *x.shape, x.nbytes / 2**20,
                y.mean())
    matrix = xgb.DMatrix(x, label=y)
    logger.info("training, depth {}, {} bins", args.depth, args.bins)
    settings = {"max_depth": args.depth, "max_bin": args.bins, "tree_method": "hist", "objective": "binary:logistic",
                "nthread": 2}
    booster = xgb.train(settings, matrix, num_boost_round=args.rounds, evals=[(matrix, "train")])
    logger.success("{} rounds", booster.num_boosted_rounds())


if __name__ == "__main__":
    main()
