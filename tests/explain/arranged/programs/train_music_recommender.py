# SPDX-License-Identifier: MIT
"""Train a two-tower recommender of tracks from listening sessions; one JSON line per event."""
import argparse
import json
import sys
import time

import torch
from torch import nn


def say(event, **fields):
    print(json.dumps({"ts": round(time.time(), 3), "event": event, **fields}), flush=True)


class TwoTowers(nn.Module):
    def __init__(self, users, tracks, width):
        super().__init__()
        self.users = nn.Embedding(users, width, device="cuda")
        self.tracks = nn.Embedding(tracks, width, device="cuda")
        self.mix = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width)).cuda()

    def forward(self, users, tracks):
        return (self.mix(self.users(users)) * self.tracks(tracks)).sum(-1)


def build_optimizer(name, model):
    if name == "adam":
        return torch.optim.Adam(model.parameters(), lr=2e-3, foreach=False)
    return torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--tracks", type=int, default=2_000_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--batch", type=int, default=4096)
    parser.add_argument("--optimizer", choices=("adam", "sgd"), default="adam")
    parser.add_argument("--steps", type=int, default=30)
    args = parser.parse_args()
    say("start", **vars(args), torch=torch.__version__, card=torch.cuda.get_device_name())
    model = TwoTowers(args.users, args.tracks, args.width)
    parameters = sum(p.numel() for p in model.parameters())
    say("model", parameters=parameters, weights_gib=round(parameters * 4 / 2**30, 2))
    optimizer = build_optimizer(args.optimizer, model)
    for step in range(args.steps):
        users = torch.randint(args.users, (args.batch,)).cuda()
        tracks = torch.randint(args.tracks, (args.batch,)).cuda()
        played = torch.randint(2, (args.batch,)).float().cuda()
        loss = nn.functional.binary_cross_entropy_with_logits(model(users, tracks), played)
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            say("first_backward", allocated_gib=round(torch.cuda.memory_allocated() / 2**30, 2))
        optimizer.step()
        if step % 10 == 0:
            say("step", step=step, loss=loss.item(), allocated_gib=round(torch.cuda.memory_allocated() / 2**30, 2))
    say("done", peak_gib=round(torch.cuda.max_memory_allocated() / 2**30, 2))


if __name__ == "__main__":
    sys.exit(main())
