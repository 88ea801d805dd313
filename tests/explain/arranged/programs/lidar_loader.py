# SPDX-License-Identifier: MIT
"""Train a regressor of tree heights on lidar tiles read from a tape archive."""
import argparse
import resource
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Tiles(Dataset):
    def __init__(self, count, points, recall):
        self.count, self.points, self.recall = count, points, recall

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index % 24 == 23:
            time.sleep(self.recall)
        cloud = torch.randn(self.points, 3, generator=torch.Generator().manual_seed(index))
        return cloud, cloud[:, 2].max()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiles", type=int, default=96)
    parser.add_argument("--points", type=int, default=4096)
    parser.add_argument("--recall-s", type=float, default=0.5)
    parser.add_argument("--timeout-s", type=float, default=3)
    args = parser.parse_args()
    loader = DataLoader(Tiles(args.tiles, args.points, args.recall_s), 8, num_workers=2, timeout=args.timeout_s)
    model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    for step, (clouds, heights) in enumerate(loader):
        loss = nn.functional.mse_loss(model(clouds).amax(dim=(1, 2)), heights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        used = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        print(f"step={step} loss={loss.item():.3f} host_mem_mb={used / 1024:.0f}", flush=True)


if __name__ == "__main__":
    main()
