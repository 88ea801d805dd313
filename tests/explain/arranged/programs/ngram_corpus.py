# SPDX-License-Identifier: MIT
"""Add character n-grams to a corpus of folk songs with datasets.map, for a later language identifier."""
import argparse
import random

import datasets
import psutil


def add_grams(batch, order):
    rows = []
    for song in batch["song"]:
        rows.append([song[start:start + order] for start in range(len(song) - order)])
    return {"grams": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--songs", type=int, default=4000)
    parser.add_argument("--verses", type=int, default=40)
    parser.add_argument("--order", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=1000)
    args = parser.parse_args()
    rng = random.Random(8)
    words = ["".join(rng.choices("aeioulmnrst", k=rng.randint(2, 8))) for _ in range(3000)]
    songs = [" ".join(rng.choices(words, k=args.verses * 12)) for _ in range(args.songs)]
    corpus = datasets.Dataset.from_dict({"song": songs})
    print(corpus)
    print(f"rss {psutil.Process().memory_info().rss >> 20} MiB, batch size {args.batch_size}")
    corpus = corpus.map(add_grams, batched=True, batch_size=args.batch_size, num_proc=2, fn_kwargs={"order": args.order},
                        desc="n-grams")
    print("first grams:", corpus[0]["grams"][:5], "of", len(corpus))


if __name__ == "__main__":
    main()
