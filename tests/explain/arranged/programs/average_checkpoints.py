# SPDX-License-Identifier: MIT
"""Average the last checkpoints of a speech translation model into one file of safetensors."""
import argparse
import pathlib
import resource

import torch
from safetensors import safe_open
from safetensors.torch import save_file


def write_checkpoint(path, layers, width, seed):
    weights = {f"encoder.layers.{layer}.ffn.weight": torch.full((width, 4 * width), seed + layer / layers) for layer in range(layers)}
    save_file(weights, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--last", type=int, default=4)
    parser.add_argument("--layers", type=int, default=16)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--max-address-mib", type=int, help="limit of address space, as the login node sets it")
    args = parser.parse_args()
    folder = pathlib.Path("checkpoints")
    folder.mkdir()
    paths = [folder / f"step-{(number + 1) * 5000}.safetensors" for number in range(args.last)]
    for seed, path in enumerate(paths):
        write_checkpoint(path, args.layers, args.width, seed)
    print(f"{len(paths)} checkpoints of {paths[0].stat().st_size / 2**20:.0f} MiB")
    if args.max_address_mib:
        resource.setrlimit(resource.RLIMIT_AS, (args.max_address_mib << 20, args.max_address_mib << 20))
    files = []
    for path in paths:
        with open("/proc/self/statm", encoding="ascii") as statm:
            print(f"opening {path} (address space {int(statm.read().split()[0]) >> 8} MiB)", flush=True)
        files.append(safe_open(path, framework="pt", device="cpu"))
    mean = {name: sum(file.get_tensor(name) for file in files) / len(files) for name in files[0].keys()}
    save_file(mean, folder / "average.safetensors")
    print("written", folder / "average.safetensors")


if __name__ == "__main__":
    main()
