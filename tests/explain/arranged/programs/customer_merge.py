# SPDX-License-Identifier: MIT
"""Join card payments with the offers that each customer was shown, and total the spending per campaign."""
import argparse
import logging
import resource

import numpy as np
import pandas as pd

logging.basicConfig(level=logging.INFO, format="%(asctime)s [%(levelname)s] %(message)s")
log = logging.getLogger("campaigns")


def payments(rows, customers, rng):
    return pd.DataFrame({"customer": rng.integers(0, customers, rows), "amount": rng.gamma(2.0, 20.0, rows),
                         "shop": rng.integers(0, 4000, rows).astype(np.int32)})


def offers(rows, customers, rng):
    return pd.DataFrame({"customer": rng.integers(0, customers, rows), "campaign": rng.integers(0, 120, rows).astype(np.int16),
                         "shown": rng.integers(0, 86400, rows)})


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--payments", type=int, default=500_000)
    parser.add_argument("--offers", type=int, default=50_000)
    parser.add_argument("--customers", type=int, default=40_000)
    args = parser.parse_args()
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    log.info("address space: %s", "unlimited" if soft == resource.RLIM_INFINITY else f"{soft / 2**30:.2f} GiB")
    rng = np.random.default_rng(11)
    left = payments(args.payments, args.customers, rng)
    right = offers(args.offers, args.customers, rng)
    for name, table in (("payments", left), ("offers", right)):
        log.info("%s: %d rows, %.1f MiB", name, len(table), table.memory_usage(deep=True).sum() / 2**20)
    expected = (left.customer.value_counts() * right.customer.value_counts()).sum()
    log.info("joining on customer, %d rows to come", int(expected))
    joined = left.merge(right, on="customer")
    totals = joined.groupby("campaign").amount.agg(["sum", "count"])
    log.info("top campaigns:\n%s", totals.sort_values("sum", ascending=False).head(5).to_string())


if __name__ == "__main__":
    main()
