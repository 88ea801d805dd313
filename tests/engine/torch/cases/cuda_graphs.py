# SPDX-License-Identifier: MIT
"""A CUDA graph of a step is captured and replayed; its memory is a pool of its own."""
import told
import torch

net = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.ReLU(), torch.nn.Linear(4096, 1024)).cuda()
x = torch.ones(64, 1024, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        net(x).sum().backward()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
net.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    net(x).sum().backward()
for _ in range(3):
    graph.replay()
assert not torch.cuda.is_current_stream_capturing()
torch.cuda.synchronize()
told.reserved()
