# SPDX-License-Identifier: MIT
# card: 2x RTX 3090
# out of memory: gpu1
"""One of two ranks asks for more than its card has: it gets PyTorch's error, the other one NCCL's, and the job ends."""
import os
import subprocess
import sys

import torch
import torch.distributed as dist


def rank_main() -> None:
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    dist.barrier()
    held = []
    while rank == 1:
        held.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
    dist.barrier()


def main() -> None:
    job = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", __file__, "rank"]
    done = subprocess.run(job, capture_output=True, text=True, errors="replace", timeout=120)
    print(done.stdout, done.stderr, sep="\n")
    assert done.returncode != 0
    assert "torch.OutOfMemoryError" in done.stderr
    assert "GPU 1 has a total capacity of" in done.stderr


if __name__ == "__main__":
    rank_main() if sys.argv[1:] == ["rank"] else main()
