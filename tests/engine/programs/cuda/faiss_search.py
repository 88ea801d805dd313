# SPDX-License-Identifier: MIT
"""A flat index of FAISS on a card: 100,000 vectors, 100 queries."""
import faiss
import numpy as np

resources = faiss.StandardGpuResources()
index = faiss.GpuIndexFlatL2(resources, 64)
index.add(np.random.rand(100_000, 64).astype("float32"))
distances, _ = index.search(np.random.rand(100, 64).astype("float32"), 10)
print("found:", distances.shape, index.ntotal)
