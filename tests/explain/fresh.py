#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Make real programs run out of memory and keep what they say: the logs of tests/data/explain.

    fresh.py OUT [--plimsoll FILE] [--torch PYTHON] [--jax PYTHON] [--tensorflow PYTHON]
             [--llama "PROBE LIBRARIES MODEL"] [--cgroup]

Each tool that is named makes its logs in the folder OUT; paths of this machine are taken out of them. PyTorch and llama.cpp
run on a virtual card (`plimsoll rehearse`); PYTHON of --jax has jax, numpy, onnx and onnxruntime. --cgroup (as root, with
the memory controller of cgroup v1) makes the kernel kill a process of 64 MiB. What a log must give stands in expected.json
there, written by hand: look at the figures again when a log is made anew, and at the versions in versions.txt.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile

TORCH = {
    "torch-cuda": ("RTX 3060", "", """
import torch
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(16)]
"""),
    "torch-fragments": ("RTX 3060", "", """
import torch
big = torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
del big
parts = [torch.empty(512 << 20, dtype=torch.uint8, device="cuda") for _ in range(16)]
del parts[::2]
torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
"""),
    "torch-fraction": ("RTX 3060", "", """
import torch
torch.cuda.set_per_process_memory_fraction(0.25)
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(8)]
"""),
    "torch-adam": ("RTX 3060", "", """
import torch
model = torch.nn.Sequential(*[torch.nn.Linear(8192, 8192) for _ in range(12)]).cuda()
optimizer = torch.optim.AdamW(model.parameters())
model(torch.zeros(16, 8192, device="cuda")).sum().backward()
optimizer.step()
"""),
    "torch-malloc-async": ("RTX 3060", "PYTORCH_ALLOC_CONF=backend:cudaMallocAsync", """
import torch
kept = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(16)]
"""),
    "torch-cpu": ("RTX 3060", "", """
import torch
torch.empty(10 ** 13, dtype=torch.uint8)
"""),
    "torch-full-shm": ("RTX 3060", "SHM=32m", """
import torch
from torch.utils.data import DataLoader, Dataset

class Images(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.zeros(4 << 20)

for batch in DataLoader(Images(), batch_size=8, num_workers=2):
    pass
"""),
    "torchrun-killed": ("RTX 3060", "RANKS=2", """
import os, signal, time
if os.environ["RANK"] == "1":
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(30)
"""),
}
HOST = {
    "numpy": "import numpy as np\nnp.zeros((200000, 200000))\n",
    "jax-cpu": "import jax.numpy as jnp\njnp.zeros((1000000, 1000000)).block_until_ready()\n",
    "python-ulimit": "import resource\nresource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))\n"
                     "kept = [bytearray(1 << 20) for _ in range(1000)]\n",
    "onnxruntime-cpu": """
import numpy as np
import onnxruntime
from onnx import TensorProto, helper

shape = helper.make_tensor_value_info("shape", TensorProto.INT64, [2])
out = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
fill = helper.make_tensor("v", TensorProto.FLOAT, [1], [1.0])
graph = helper.make_graph([helper.make_node("ConstantOfShape", ["shape"], ["out"], value=fill)], "g", [shape], [out])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
session.run(None, {"shape": np.array([1000000, 1000000], dtype=np.int64)})
""",
}
TENSORFLOW = {"tensorflow-cpu": "import tensorflow as tf\ntf.zeros([1000000, 1000000])\n"}
LLAMA = {
    "llama-weights": ("3GiB", "-ngl 99 -c 4096"),
    "llama-kv": ("6GiB", "-ngl 99 -c 32768"),
    "llama-compute": ("6GiB", "-ngl 99 -c 4096 -b 8192 -ub 8192 -fa off"),
}
CGROUP = "/sys/fs/cgroup/memory/plimsoll-explain"
VERSIONS = "import importlib.metadata as m\nprint(*['%s %s' % (n, m.version(n)) for n in {names!r}.split()], sep='\\n')"


class Maker:
    def __init__(self, options):
        self.out, self.options = options.out, options
        self.folder = tempfile.mkdtemp()
        self.versions = []
        os.makedirs(self.out, exist_ok=True)

    def keep(self, name, text):
        """Without the paths of this machine."""
        for path, instead in ((self.folder, "/home/user"), (os.path.dirname(os.path.dirname(self.options.torch or "x")), "/opt/venv"),
                              (os.path.dirname(os.path.dirname(self.options.jax or "x")), "/opt/venv"),
                              (os.path.dirname(os.path.dirname(self.options.tensorflow or "x")), "/opt/venv"),
                              (os.path.dirname((self.options.llama or "x").split()[-1]), "/models")):
            if path:
                text = text.replace(path, instead)
        with open(os.path.join(self.out, name + ".log"), "w", encoding="utf-8") as file:
            file.write(re.sub(re.escape(tempfile.gettempdir()) + r"/\w+", "/home/user", text))
        print(f"{name}: {text.strip().splitlines()[-1][:110] if text.strip() else 'nothing was said'}")

    def run(self, name, command):
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300, check=False)
        self.keep(name, ran.stdout.decode("utf-8", "replace"))

    def program(self, name, text):
        path = os.path.join(self.folder, name, "run.py")
        os.makedirs(os.path.dirname(path))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.lstrip("\n"))
        return path

    def rehearse(self, card, command):
        return [self.options.plimsoll, "rehearse", "--card", card, "--quiet", "--", *command]

    def say_versions(self, python, names):
        ran = subprocess.run([python, "-c", VERSIONS.format(names=names)], capture_output=True, text=True, check=True)
        self.versions += ran.stdout.splitlines()

    def torch(self):
        python = self.options.torch
        self.say_versions(python, "torch")
        for name, (card, extra, text) in TORCH.items():
            command = [python, self.program(name, text)]
            if extra.startswith("SHM="):
                inner = f"mount -t tmpfs -o size={extra[4:]} tmpfs /dev/shm && exec {shlex.join(command)}"
                command = ["unshare", "-m", "sh", "-c", inner]
            elif extra.startswith("RANKS="):
                command[1:1] = ["-m", "torch.distributed.run", "--nproc-per-node", extra[6:]]
            elif extra:
                command = ["env", extra, *command]
            self.run(name, self.rehearse(card, command))

    def llama(self):
        for name, (card, flags) in LLAMA.items():
            self.run(name, self.rehearse(card, self.options.llama.split() + flags.split()))
        self.versions += sorted(name for name in os.listdir(self.options.llama.split()[1]) if name.startswith("libllama."))

    def cgroup(self):
        os.mkdir(CGROUP)
        with open(CGROUP + "/memory.limit_in_bytes", "w", encoding="ascii") as file:
            file.write(str(64 << 20))
        eat = f"echo $$ > {CGROUP}/cgroup.procs; exec python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 20))'"
        subprocess.run(["sh", "-c", eat], check=False)
        text = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
        begin = text.rindex("\n", 0, text.rindex("invoked oom-killer")) + 1
        self.keep("kernel-cgroup", re.sub(r"(tainted \d+\.\d+\.\d+)\S*", r"\1", text[begin:]))
        self.versions.append("Linux " + os.uname().release.split("-")[0])
        os.rmdir(CGROUP)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--plimsoll", default="plimsoll")
    for name in ("torch", "jax", "tensorflow", "llama"):
        parser.add_argument("--" + name)
    parser.add_argument("--cgroup", action="store_true")
    maker = Maker(parser.parse_args(arguments))
    options = maker.options
    if options.torch:
        maker.torch()
    if options.jax:
        maker.say_versions(options.jax, "jax numpy onnxruntime")
        for name, text in HOST.items():
            maker.run(name, [options.jax, maker.program(name, text)])
    if options.tensorflow:
        maker.say_versions(options.tensorflow, "tensorflow_cpu")
        for name, text in TENSORFLOW.items():
            maker.run(name, [options.tensorflow, maker.program(name, text)])
    if options.llama:
        maker.llama()
    if options.cgroup:
        maker.cgroup()
    with open(os.path.join(options.out, "versions.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(maker.versions) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
