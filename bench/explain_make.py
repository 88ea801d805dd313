# SPDX-License-Identifier: MIT
"""Make a log to measure the scanner with: explain_make.py quiet|dense MIB OUT. The same bytes every time."""
import random
import sys

QUIET = [
    "INFO {date} [loggers.py:118] Engine 000: Avg prompt throughput: {f:.1f} tokens/s, Avg generation throughput: {g:.1f} tokens/s, "
    "Running: {i} reqs, Waiting: {j} reqs, GPU KV usage: {p:.1f}%",
    "{{'loss': {f:.4f}, 'grad_norm': {g:.4f}, 'learning_rate': {p:.4e}, 'epoch': {q:.2f}}}",
    "{date} host{i} kernel: [{f:.6f}] nvme nvme0: I/O tag {i} QID {j} timeout, completion polled",
    "{date} 127.0.0.1 - - \"POST /v1/chat/completions HTTP/1.1\" 200 OK {i}",
    "Epoch {j}: {p:.0f}% {i}/40000 [00:{j:02d}<12:31, {q:.2f}it/s, v_num={i}, train_loss={q:.3f}]",
    "[rank{j}]: step {i} lr {p:.3e} tokens {i} time {q:.3f}s mem {q:.2f} GB",
    "srv  update_slots: id  {j} | task {i} | prompt processing progress, n_past = {i}, n_tokens = {j}, progress = {q:.6f}",
    "DEBUG {date} urllib3.connectionpool https://example.org:443 \"HEAD /models/{i}/resolve/main/config.json HTTP/1.1\" 200 0",
]
DENSE = [
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {i}.00 MiB. GPU {j} has a total capacity of 23.69 GiB of which {i}.44 MiB is "
    "free. Process {i} has {q:.2f} GiB memory in use. Of the allocated memory {q:.2f} GiB is allocated by PyTorch, and {f:.2f} MiB is reserved by "
    "PyTorch but unallocated.",
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating {f:.2f} MiB on device {j}: cudaMalloc failed: out of memory",
    "kernel: Out of memory: Killed process {i} (python3) total-vm:{i}kB, anon-rss:{i}kB, file-rss:{j}kB, shmem-rss:0kB, UID:1000",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate {i} bytes.",
    "ERROR {date} [core.py:708] ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`.",
]


def main(kind, mib, path):
    rng = random.Random(1)
    lines = QUIET if kind == "quiet" else DENSE + QUIET[:2]
    block = []
    for n in range(40000):
        line = rng.choice(lines)
        block.append(line.format(date=f"2025-03-{1 + n % 28:02d} {n % 24:02d}:{n % 60:02d}:{n % 59:02d}", i=rng.randrange(1, 100000),
                                 j=rng.randrange(64), f=1000 * rng.random(), g=100 * rng.random(), p=100 * rng.random(), q=24 * rng.random()))
    data = ("\n".join(block) + "\n").encode()
    size = int(mib) << 20
    with open(path, "wb") as out:
        for _ in range(size // len(data)):
            out.write(data)
        out.write(data[: size % len(data)])


if __name__ == "__main__":
    main(*sys.argv[1:])
