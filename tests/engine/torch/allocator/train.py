# SPDX-License-Identifier: MIT
"""
A training loop whose batches grow: the cache falls to pieces, and memory ends although much of it is free.

    train.py ROOM_MIB [--cpp] OUT
"""
import ctypes
import sys

import torch

MIB = 1 << 20


def load_model() -> list:
    layers = []
    for _ in range(10):
        layers.append(torch.empty(8 * MIB, dtype=torch.uint8, device="cuda"))
    return layers


def forward(step: int) -> list:
    activations = []
    for _ in range(6):
        activations.append(torch.empty((11 + 2 * step) * MIB, dtype=torch.uint8, device="cuda"))
    return activations


def keep_statistics() -> torch.Tensor:
    return torch.empty(3 * MIB // 2, dtype=torch.uint8, device="cuda")


def leave(room_mib: int) -> None:
    """Take all but that much of the card, not through PyTorch."""
    torch.empty(1, device="cuda")
    torch.cuda.empty_cache()
    ballast = ctypes.c_uint64()
    over = torch.cuda.mem_get_info()[0] // (2 * MIB) * 2 * MIB - room_mib * MIB
    ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(ballast), ctypes.c_size_t(over))


def train(steps: int) -> None:
    model = load_model()
    statistics = []
    for step in range(steps):
        activations = forward(step)
        for i in range(len(activations)):
            activations[i] = None
            statistics.append(keep_statistics())
    del model


def cpp_snapshot() -> bytes:
    """torch::cuda::_memory_snapshot_pickled(): a std::string is address and length, before PyTorch 2.6 an address behind the length."""
    library = ctypes.CDLL(f"{torch.__path__[0]}/lib/libtorch_cuda.so")
    name = "_ZN5torch4cuda24_memory_snapshot_pickled"
    is_old = not hasattr(library, f"{name}B5cxx11Ev")
    words = (ctypes.c_uint64 * 4)()
    getattr(library, f"{name}Ev" if is_old else f"{name}B5cxx11Ev")(ctypes.byref(words))
    return ctypes.string_at(words[0], ctypes.c_uint64.from_address(words[0] - 24).value if is_old else words[1])


def main() -> None:
    leave(int(sys.argv[1]))
    torch.cuda.memory._record_memory_history(stacks="python")
    try:
        train(8)
    except torch.cuda.OutOfMemoryError as error:
        print(error, file=sys.stderr)
    if "--cpp" in sys.argv:  # as PyTorch's C++ side writes it for programs without Python
        with open(sys.argv[-1], "wb") as file:
            file.write(cpp_snapshot())
    else:
        torch.cuda.memory._dump_snapshot(sys.argv[-1])


main()
