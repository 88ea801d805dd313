# SPDX-License-Identifier: MIT
"""Index photo embeddings with faiss and look up near duplicates."""
import argparse

import faiss
import numpy as np


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=400_000)
    parser.add_argument("--dim", type=int, default=512)
    parser.add_argument("--shard", type=int, default=50_000)
    args = parser.parse_args()
    rng = np.random.default_rng(8)
    index = faiss.IndexFlatIP(args.dim)
    print(f"faiss {faiss.__version__}, flat index, d={args.dim}")
    for start in range(0, args.photos, args.shard):
        shard = rng.standard_normal((min(args.shard, args.photos - start), args.dim), dtype=np.float32)
        faiss.normalize_L2(shard)
        index.add(shard)
        print(f"added {index.ntotal:>9,} vectors, {index.ntotal * args.dim * 4 / 2**20:8.0f} MiB", flush=True)
    scores, _ = index.search(shard[:3], 2)
    print("near duplicates:", int((scores[:, 1] > 0.95).sum()))


if __name__ == "__main__":
    main()
