# SPDX-License-Identifier: MIT
"""Import receipts from a CSV file and print totals per shop, with figures of memory for the operator."""
import argparse
import collections
import csv
import io
import tracemalloc


def receipts(count, note):
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["receipt", "shop", "total", "note"])
    for number in range(count):
        writer.writerow([number, number % 31, number % 9000 / 100, "x" * note if number == count // 2 else "ok"])
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--note", type=int, default=1000)
    args = parser.parse_args()
    tracemalloc.start()
    text = receipts(args.count, args.note)
    totals = collections.Counter()
    rows = 0
    try:
        for row in csv.DictReader(io.StringIO(text, newline="")):
            totals[row["shop"]] += float(row["total"])
            rows += 1
    finally:
        now, peak = tracemalloc.get_traced_memory()
        print(f"read {rows} rows of {args.count}; memory now {now / 1024:.0f} KiB, peak {peak / 1024:.0f} KiB")
    for shop, total in totals.most_common(3):
        print(f"shop {shop}: {total:.2f}")


if __name__ == "__main__":
    main()
