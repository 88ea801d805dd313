#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each mark of marks.txt alone, above a failure that does not name its program: marks.py PLIMSOLL"""
import concurrent.futures
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The messages of failures, by who prints them.
BASES = {
    "torch": "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.69 GiB of which 1.10 GiB "
             "is free.",
    "cuda": "CUDA error: out of memory",
    "said": "It runs out of memory every time I try that, since the update of last week.",
    "host": "MemoryError",
    "ray": "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
    "transformers": '  File "/venv/lib/python3.11/site-packages/transformers/modeling_utils.py", line 12, in forward\n'
                    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "diffusers": '  File "/venv/lib/python3.11/site-packages/diffusers/models/unets/unet_2d.py", line 12, in forward\n'
                 "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "vllm": '  File "/venv/lib/python3.11/site-packages/vllm/distributed/parallel_state.py", line 12, in all_reduce\n'
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "llama": "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 4096.00 MiB on device 0: cudaMalloc failed: out of memory",
    "vulkan": "ggml_vulkan: Device memory allocation of size 2147483648 failed.",
    "kernel": "Out of memory: Killed process 4211 (python3) total-vm:41231232kB, anon-rss:31231232kB, file-rss:0kB, shmem-rss:0kB",
    "cudnn": "cudnn error: CUDNN_STATUS_ALLOC_FAILED",
    "onnxruntime": "[ONNXRuntimeError] : 1 : FAIL : BFCArena::AllocateRawInternal Available memory of 1024 is smaller than requested bytes of "
                   "4096",
    "tensorrt": "[TensorRT] ERROR: Requested amount of GPU memory (2147483648 bytes) could not be allocated.",
    "tf": "2026-11-03 04:11:09.1: W tensorflow/core/common_runtime/bfc_allocator.cc:431] Allocator (GPU_0_bfc) ran out of memory trying to "
          "allocate 2.00GiB",
    "cupy": "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 2,147,483,648 bytes (allocated so far: 1,024 bytes).",
}


def read_marks():
    """[(framework, base, line)]"""
    marks, framework, bases = [], None, []
    with open(os.path.join(HERE, "marks.txt"), encoding="utf-8") as file:
        for line in file:
            line = line.rstrip("\n")
            if line.startswith("== "):
                framework, *bases = line[3:].split()
            elif line.strip() and not (line.startswith("#") and framework is None):
                marks += [(framework, base, line) for base in bases]
    return marks


def framework_of(plimsoll, base, line):
    text = line.replace("\\n", "\n") + "\n" + BASES[base] + "\n"
    done = subprocess.run([plimsoll, "explain", "--json", "-"], input=text.encode(), stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["framework"]


def main(arguments):
    plimsoll, marks = arguments[0], read_marks()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda mark: framework_of(plimsoll, mark[1], mark[2]), marks))
    wrong = [(mark, is_) for mark, is_ in zip(marks, found) if is_ != mark[0]]
    for (framework, base, line), is_ in wrong:
        print(f"{framework} ({base}) is {is_}: {line}")
    print(f"{len(marks) - len(wrong)} of {len(marks)} marks are known")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
