# SPDX-License-Identifier: MIT
"""The world of the cases: models, an Ollama store, and a machine that is always the same."""
from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
import step_file  # noqa: E402
import trace_forms  # noqa: E402

LOGS = pathlib.Path(__file__).parent / "logs"
SAMPLES = pathlib.Path(__file__).parents[2] / "data" / "samples" / "logs"
TRACES = pathlib.Path(__file__).parents[1] / "data" / "traces"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
MAKER = pathlib.Path(__file__).parent.parent / "gguf" / "make.py"
GIB = 1 << 20  # of kB, as /proc/meminfo counts

MODELS = [
    "llama-3.1-8b", "llama-3.2-1b", "llama-3.3-70b", "qwen3-30b-a3b", "mamba-2.8b", "gemma-3-4b", "phi-4",
    "qwen2.5-0.5b", "qwen3-0.6b", "mmproj-gemma-3-4b", "lora-llama-3.1-8b",
]


@dataclasses.dataclass
class World:
    models: str
    env: dict[str, str]


def make_models(models: pathlib.Path) -> None:
    def run(*arguments: str) -> None:
        subprocess.run([sys.executable, str(MAKER), *arguments], check=True, stdout=subprocess.DEVNULL)

    run(*MODELS, "-o", str(models))
    run("qwen3-0.6b", "--split", "3", "-o", str(models / "split"))
    for file_type in ("Q2_K", "Q6_K", "F16"):
        run("llama-3.2-1b", "--ftype", file_type, "-o", str(models / "quantizations"))


def halve(path: pathlib.Path, key: str, copy: pathlib.Path) -> None:
    """The same header but for one number: the tensors say another one."""
    with open(path, "rb") as file:
        head = bytearray(file.read(1 << 20))
    at = head.index(key.encode()) + len(key) + 4
    head[at:at + 4] = struct.pack("<I", struct.unpack_from("<I", head, at)[0] // 2)
    with open(copy, "wb") as file:
        file.write(head)
        file.truncate(path.stat().st_size)


def make_odd_files(models: pathlib.Path) -> None:
    """File names and contents that people have, which the program must handle."""
    small = models / "qwen2.5-0.5b-Q4_K_M.gguf"
    (models / "empty").mkdir()
    (models / "odd").mkdir()
    for name in ("with space.gguf", "it's.gguf", "модель.gguf", "a-name-that-goes-on-and-on-until-it-is-too-long.gguf"):
        os.link(small, models / "odd" / name)
    (models / "several").mkdir()
    for name in ("llama-3.2-1b-Q4_K_M.gguf", "qwen2.5-0.5b-Q4_K_M.gguf", "mmproj-gemma-3-4b-F16.gguf"):
        os.link(models / name, models / "several" / name)
    halve(models / "llama-3.1-8b-Q4_K_M.gguf", "llama.attention.head_count_kv", models / "halved.gguf")
    (models / "cut.gguf").write_bytes(small.read_bytes()[:1000])
    (models / "text.gguf").write_text("this is no model\n")
    (models / "nothing.gguf").write_bytes(b"")
    os.mkfifo(models / "fifo.gguf")


def make_steps(folder: pathlib.Path) -> None:
    """Recorded steps: with a variable, without one, and some that are none."""
    folder.mkdir()
    whole = step_file.encode(step_file.training())
    (folder / "train.step").write_bytes(whole)
    (folder / "plain.step").write_bytes(step_file.encode(step_file.training(3, variables=False)))
    (folder / "tiny.step").write_bytes(step_file.encode(step_file.tiny()))
    (folder / "pieces.step").write_bytes(step_file.encode(step_file.pieces()))
    (folder / "whole.step").write_bytes(step_file.encode(step_file.whole_pieces()))
    (folder / "orders.step").write_bytes(step_file.encode(step_file.orders()))
    (folder / "turns.step").write_bytes(step_file.encode(step_file.turns()))
    (folder / "everything.step").write_bytes(step_file.encode(step_file.everything()))
    (folder / "cut.step").write_bytes(whole[:256])
    (folder / "damaged.step").write_bytes(whole.replace(b"train.py", b"trail.py"))
    (folder / "newer.step").write_bytes(whole[:8] + b"\x03" + whole[9:])


def make_checkpoint(folder: pathlib.Path) -> None:
    """A folder as on Hugging Face: the config of an 8B model, and two small files of weights."""
    folder.mkdir()
    for part in ("00001", "00002"):
        tensor = {"dtype": "F16", "shape": [4096, 1024], "data_offsets": [0, 8 << 20]}
        header = json.dumps({"__metadata__": {"format": "pt"}, f"weight.{part}": tensor}).encode()
        with open(folder / f"model-{part}-of-00002.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(header)) + header)
            file.truncate(8 + len(header) + (8 << 20))
    names = {f"weight.{part}": f"model-{part}-of-00002.safetensors" for part in ("00001", "00002")}
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": names}))
    config = {"architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "hidden_size": 4096, "intermediate_size": 14336,
              "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256,
              "max_position_embeddings": 8192}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").write_text("{}")
    (folder / "pytorch_model.bin").write_text("weights")


def make_store(root: pathlib.Path, models: pathlib.Path) -> None:
    """small:latest, and big:8b with a Modelfile of its own."""
    blobs = root / "blobs"
    blobs.mkdir(parents=True)
    digests = {"small": "a" * 64, "big": "b" * 64}
    os.link(models / "qwen2.5-0.5b-Q4_K_M.gguf", blobs / f"sha256-{digests['small']}")
    os.link(models / "llama-3.1-8b-Q4_K_M.gguf", blobs / f"sha256-{digests['big']}")
    (blobs / f"sha256-{'c' * 64}").write_text(json.dumps({"num_ctx": 65536, "stop": ["x"]}))

    def manifest(name: str, tag: str, layers: list[tuple[str, str]]) -> None:
        path = root / "manifests" / "registry.ollama.ai" / "library" / name / tag
        path.parent.mkdir(parents=True)
        media = "application/vnd.ollama.image."
        path.write_text(json.dumps({"layers": [{"mediaType": media + kind, "digest": f"sha256:{d}"} for kind, d in layers]}))

    manifest("small", "latest", [("model", digests["small"])])
    manifest("big", "8b", [("model", digests["big"]), ("params", "c" * 64)])


def make(directory: str, program: str) -> World:
    root = pathlib.Path(directory)
    models = root / "models"
    binaries = root / "bin"
    (root / "machine" / "proc").mkdir(parents=True)
    meminfo = f"MemTotal: {64 * GIB} kB\nMemFree: {40 * GIB} kB\nMemAvailable: {48 * GIB} kB\n"
    (root / "machine" / "proc" / "meminfo").write_text(meminfo)
    binaries.mkdir()
    (binaries / "plimsoll").symlink_to(pathlib.Path(program).resolve())
    make_models(models)
    make_odd_files(models)
    shutil.copytree(LOGS, models / "logs")
    shutil.copytree(SAMPLES, models / "samples")
    (models / "traces").mkdir()
    for snapshot in [*TRACES.glob("*.pickle"), *TRACES.glob("habit-*.gz")]:
        shutil.copy(snapshot, models / "traces")
    for end, content in trace_forms.forms((TRACES / "train-2.15.pickle").read_bytes()).items():
        (models / "traces" / f"form.{end}").write_bytes(content)
    shutil.copy(LOGS.parent / "reads.py", models)
    shutil.copytree(PROGRAMS, root / "programs")
    make_checkpoint(models / "checkpoint")
    make_steps(models / "steps")
    make_store(root / "ollama", models)
    env = {
        "PATH": f"{binaries}:{os.environ.get('PATH', '')}",
        "HOME": str(root),
        "TERM": "xterm",
        "LC_ALL": "C.UTF-8",
        "OLLAMA_MODELS": str(root / "ollama"),
        "PLIMSOLL_SYSROOT": str(root / "machine"),
        "PLIMSOLL_NVML": str(root / "no-such-library.so"),
    }
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
        if name in os.environ:
            env[name] = os.environ[name]
    built = pathlib.Path(program).resolve().parents[1] / "tests" / "cli"  # private_runtime.c
    env |= {"PRIVATE_RUNTIME": str(built / "private_runtime.so"), "PRIVATE_RUNTIME_PROGRAM": str(built / "private_runtime_program")}
    return World(str(models), env)
