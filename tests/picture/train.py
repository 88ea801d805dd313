# SPDX-License-Identifier: MIT
"""A small GPT that trains on longer and longer texts until a card of 12 GB is full: what docs/images/trace.png shows."""
import sys

import torch
from torch import nn

WIDTH, LAYERS, HEADS, BATCH, VOCABULARY = 768, 12, 12, 6, 32000


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attention(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2)
        weights = scores.softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


def load_model():
    layers = [Block() for _ in range(LAYERS)]
    return nn.Sequential(nn.Embedding(VOCABULARY, WIDTH), *layers, nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY)).cuda()


def training_step(model, optimizer, length):
    batch = torch.zeros(BATCH, length, dtype=torch.long, device="cuda")
    logits = model(batch)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch.flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main(snapshot):
    torch.cuda.memory._record_memory_history(stacks="python")
    model = load_model()
    optimizer = torch.optim.AdamW(model.parameters())
    try:
        for length in (384, 512, 640, 768, 896, 1024):
            training_step(model, optimizer, length)
    except torch.OutOfMemoryError as error:
        print(error)
    torch.cuda.memory._dump_snapshot(snapshot)


main(sys.argv[1])
