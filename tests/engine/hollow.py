#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Hollow models in the programs that read them.

llama.cpp loads a hollow GGUF file, whole and in parts, and prints the buffers that it prints for the original. The
safetensors library of Python finds in hollow checkpoints the tensors that they should have.
"""
from __future__ import annotations

import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import engine

MODELS = ["llama-3.1-8b", "gemma-3-4b", "qwen3-30b-a3b", "deepseek-v2-lite", "mamba-2.8b", "bert-base", "gpt-oss-20b", "rwkv7-2.9b"]
FLAGS = ["-c", "4096", "-ngl", "99"]
CARD = ["65536"]
MAX_DISK_BYTES = 32 << 20  # of the largest header: a vocabulary of 256k tokens and its merges

CONFIGS = {
    "llama": ({"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
               "vocab_size": 128256, "num_attention_heads": 32, "num_key_value_heads": 8}, 8030261248),
    "mixtral": ({"architectures": ["MixtralForCausalLM"], "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
                 "vocab_size": 32000, "num_attention_heads": 32, "num_key_value_heads": 8, "num_local_experts": 8}, 46702792704),
    "qwen3-moe": ({"architectures": ["Qwen3MoeForCausalLM"], "num_hidden_layers": 48, "hidden_size": 2048, "intermediate_size": 6144,
                   "vocab_size": 151936, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128,
                   "moe_intermediate_size": 768}, 30532122624),
}


def hollow(options: argparse.Namespace, model: str, out: str) -> list[dict]:
    done = subprocess.run([options.plimsoll, "hollow", "--json", model, "-o", out], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"plimsoll hollow {model}: exit {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)["files"]


def receipt(options: argparse.Namespace, model: str) -> tuple[list[str], str]:
    """The lines of buffers, and why the engine gave up."""
    printed, error = engine.run_engine(options, model, FLAGS, CARD)
    return re.findall(r"[^:\n]*buffer size *= *[0-9.]+ MiB", printed), error


def wrong_with_gguf(options: argparse.Namespace, model: str, out: str) -> str | None:
    files = hollow(options, model, out + "/")
    if any(file["disk_bytes"] > MAX_DISK_BYTES for file in files):
        return "takes room on the disk"
    wanted, no_wanted = receipt(options, model)
    got, no_got = receipt(options, os.path.join(out, os.path.basename(model)))
    if no_wanted or no_got:
        return f"does not load: {no_wanted or no_got}"
    return None if wanted and wanted == got else f"prints {got}, the original {wanted}"


READER = """
import json, sys
from safetensors import safe_open
with safe_open(sys.argv[1], "np") as file:
    slices = {name: file.get_slice(name) for name in file.keys()}
    print(json.dumps({name: [piece.get_dtype(), piece.get_shape()] for name, piece in slices.items()}))
"""


def has_reader(options: argparse.Namespace) -> bool:
    command = [options.reader, "-c", "import safetensors, numpy"]
    return os.path.exists(options.reader) and subprocess.run(command, capture_output=True).returncode == 0


def tensors(options: argparse.Namespace, path: pathlib.Path) -> dict[str, list]:
    """Type and shape of each tensor, as the library says."""
    done = subprocess.run([options.reader, "-c", READER, str(path)], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"safetensors does not open {path.name}: {done.stderr}")
    return json.loads(done.stdout)


def wrong_with_safetensors(options: argparse.Namespace, scratch: pathlib.Path) -> str | None:
    for name, (config, n_params) in CONFIGS.items():
        folder = scratch / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps({**config, "dtype": "bfloat16"}))
        hollow(options, str(folder), str(scratch / f"{name}-hollow"))
        hollow(options, str(scratch / f"{name}-hollow"), str(scratch / f"{name}-again"))
        first = tensors(options, scratch / f"{name}-hollow" / "model.safetensors")
        if first != tensors(options, scratch / f"{name}-again" / "model.safetensors"):
            return f"{name}: a hollow copy of a hollow checkpoint has other tensors"
        elements = sum(math.prod(shape) for _, shape in first.values())
        if elements != n_params:
            return f"{name}: {elements} parameters, published are {n_params}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    engine.add_arguments(parser)
    parser.add_argument("--split", required=True, help="first part of a model that is split")
    parser.add_argument("--reader", required=True, help="a Python that has safetensors and numpy")
    options = parser.parse_args()
    options.models = options.models or MODELS
    n, failures = 0, []
    with tempfile.TemporaryDirectory(prefix="plimsoll-hollow-") as directory:
        scratch = pathlib.Path(directory)
        if engine.is_there(options):
            for model in [*engine.models(options), options.split]:
                n += 1
                wrong = wrong_with_gguf(options, model, str(scratch / f"gguf{n}"))
                failures += [f"{engine.name_of(model)}: {wrong}"] if wrong else []
        if has_reader(options):
            n += 1
            wrong = wrong_with_safetensors(options, scratch)
            failures += [wrong] if wrong else []
        else:
            print(f"skipped: no safetensors in {options.reader}; tests/engine/fetch_safetensors.sh brings it")
    print("\n".join(failures))
    print(f"{n - len(failures)} of {n} hollow models load as the originals do")
    return 1 if failures else 0 if n else 77


if __name__ == "__main__":
    sys.exit(main())
