# SPDX-License-Identifier: MIT
"""PyTorch 2.0 for CUDA 11: convolutions, an LSTM of cuDNN 8, mixed precision, a CUDA graph"""
import torch
from torch import nn


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv1d(16, 64, 3, padding=1), nn.BatchNorm1d(64), nn.ReLU())
        self.lstm = nn.LSTM(64, 128, num_layers=2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(256, 8)

    def forward(self, x):
        states, _ = self.lstm(self.features(x).transpose(1, 2))
        return self.head(states[:, -1])


model = Network().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scaler = torch.cuda.amp.GradScaler()
for _ in range(4):
    x, wanted = torch.randn(32, 16, 50, device="cuda"), torch.randint(0, 8, (32,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x), wanted)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

graph, still = torch.cuda.CUDAGraph(), torch.zeros(8, device="cuda")
with torch.cuda.graph(graph):
    moved = still + 1
graph.replay()
names = torch.cuda.get_device_properties(0)
print("optimizer states:", len(optimizer.state), "cuda", torch.version.cuda, "cudnn", torch.backends.cudnn.version() // 1000,
      "capability", (names.major, names.minor), "graph", tuple(moved.shape))
