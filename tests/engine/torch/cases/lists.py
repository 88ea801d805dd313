# SPDX-License-Identifier: MIT
"""Sorting, selecting, counting: kernels whose results have sizes that nobody knows, and the libraries behind them."""
import told
import torch

x = torch.randn(4096, device="cuda")
x.sort(), x.topk(5), x.cumsum(0), x.unique(), x[x > 0], x.nonzero(), x.argmax(), torch.multinomial(x.softmax(0), 2)
torch.randperm(4096, device="cuda")
y = torch.zeros(9, 9, device="cuda")
y.index_put_((torch.zeros(3, dtype=torch.long, device="cuda"),), torch.zeros(3, 9, device="cuda"), accumulate=True)
torch.nn.functional.embedding(torch.zeros(3, dtype=torch.long, device="cuda"), y.requires_grad_()).sum().backward()
q = torch.randn(1, 8, 128, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
torch.nn.functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
start.record()
end.record()
torch.cuda.synchronize()
assert start.elapsed_time(end) > 0
told.reserved()
