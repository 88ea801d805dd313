# SPDX-License-Identifier: MIT
"""Average the members of a climate emulator's ensemble: `train` writes members, `average` makes one network of them."""
import argparse
import pathlib
import resource

import torch
from torch import nn


def emulator(width, layers=6):
    return nn.Sequential(nn.Linear(96, width), *(nn.Sequential(nn.GELU(), nn.Linear(width, width)) for _ in range(layers)), nn.Linear(width, 64))


def train(options):
    options.folder.mkdir(exist_ok=True)
    network = emulator(options.width)
    for member in range(options.members):
        with torch.no_grad():
            network[0].weight.normal_(0, 0.1)
        torch.save({"member": member, "state": network.state_dict()}, options.folder / f"member-{member:02d}.pt")
    print(f"{options.members} members of {sum(value.nbytes for value in network.state_dict().values()) / 1e6:.0f} MB in {options.folder}")


def average(options):
    paths = sorted(options.folder.glob("member-*.pt"))
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if options.verbose:
        limit = "none" if soft == resource.RLIM_INFINITY else f"{soft / 2**30:.2f} GiB"
        print(f"address space limit: {limit}; {len(paths)} files, {sum(path.stat().st_size for path in paths) / 2**30:.2f} GiB")
    states = []
    for path in paths:
        states.append(torch.load(path, map_location="cpu")["state"])
        if options.verbose:
            print(f"read {path.name}", flush=True)
    network = emulator(options.width)
    soup = {}
    for name in states[0]:
        values = torch.stack([state[name] for state in states])
        soup[name] = values.median(dim=0).values if options.median else values.mean(dim=0)
    network.load_state_dict(soup)
    torch.save(network.state_dict(), options.folder / "soup.pt")
    print(f"soup of {len(states)} members, mean output {network(torch.ones(4, 96)).mean().item():.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=["train", "average"])
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("members"))
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--median", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    {"train": train, "average": average}[options.action](options)


if __name__ == "__main__":
    main()
