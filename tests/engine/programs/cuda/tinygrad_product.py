# SPDX-License-Identifier: MIT
"""A matrix product with tinygrad's CUDA device."""
from tinygrad import Tensor

a, b = Tensor.ones(1024, 1024).contiguous().realize(), Tensor.ones(1024, 1024).contiguous().realize()
c = (a @ b).realize()
print("product:", c.shape, c.device)
