#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
From a model's name to its verdict, and from a large checkpoint to one: plimsoll beside other estimators, in one run by
turns.

The others are downloaded, in the versions of peers.py; one that is not available is left out, with the reason. Those that
ask a hub are given one on this machine, with the same model: their times hold no network. They answer other questions than
plimsoll, and fewer; the second column says which.
"""
import os
import subprocess
import sys

import beside
import checkpoint
import hub
import peers

NAME = "Qwen/Qwen3-14B"
CHECKPOINT = "deepseek-ai/DeepSeek-V3"
CARD = "RTX 4090"
CTX = 8192
N_FILES = 160
CLASSES = {"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"}  # which the catalogue's config lacks


def make_gguf(source, folder):
    """The nearest model of the zoo, for a reader that knows files only."""
    folder = os.path.join(folder, "gguf")
    beside.call([sys.executable, os.path.join(source, "tests", "gguf", "make.py"), "--vocab", "full", "-o", folder, "qwen3-8b"])
    return os.path.join(folder, os.listdir(folder)[0])


def make_checkpoint(arguments, name, layout, n_files, more):
    config = os.path.join(arguments.source, "data", "models", name.replace("/", "__") + ".json")
    folder = os.path.join(arguments.work, name.partition("/")[2])
    return folder, checkpoint.make(folder, config, layout, n_files, more)


def by_name(arguments, gguf):
    fit = [arguments.plimsoll, "fit", "--card", CARD]
    card = f"an {CARD}"
    yield beside.Contender("plimsoll fit NAME:Q4_K_M", f"by name: bill and verdict for {card}", [*fit, "Qwen3-14B:Q4_K_M"])
    yield beside.Contender("plimsoll fit NAME", f"by name: verdict, context and speed of every quantization on {card}", [*fit, "Qwen3-14B"])
    yield beside.Contender("plimsoll fit hf:NAME", "the same from a hub on this machine: list, index, 8 headers and config; nothing cached",
                           ["env", "XDG_CACHE_HOME=/dev/null", *fit, f"hf:{NAME}"])
    yield from beside.available([
        lambda: peers.llmfit(arguments.peers, f"by name: memory and speed of one quantization, -c {CTX}, {card}",
                             "plan", NAME, "--context", str(CTX), "--quant", "Q4_K_M", "--json"),
        lambda: peers.llmfit(arguments.peers, f"by name: the best quantization for {card}", "info", NAME, "--json"),
        lambda: peers.gguf_parser(arguments.source, arguments.peers, gguf, CTX),
        lambda: peers.hf_mem(arguments.peers, f"from a hub on this machine: bytes of weights and cache, {CTX} tokens",
                             "--model-id", NAME, "--experimental", "--max-model-len", str(CTX), "--json-output"),
        lambda: peers.accelerate(arguments.source, arguments.peers, arguments.vgpu, "from a hub on this machine: bytes of weights in four types",
                                 NAME, "--library_name", "transformers"),
    ])


def of_checkpoint(arguments, folder):
    yield beside.Contender("plimsoll fit FOLDER", "every header and the index, then every quantization on an H200",
                           [arguments.plimsoll, "fit", folder, "--card", "H200"])
    yield from beside.available([
        lambda: peers.hf_mem(arguments.peers, "from a hub on this machine: bytes of weights", "--model-id", CHECKPOINT, "--json-output")])


def only_those_that_work(runners):
    for runner in runners:
        done = subprocess.run(runner.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode in (0, 1) and done.stdout and "Traceback" not in done.stdout:
            yield runner
        else:
            print(f"left out: {runner.name} ends with {done.returncode}: {(done.stdout.strip().splitlines() or [''])[-1]}")


def main():
    parser = beside.parser(__doc__)
    parser.add_argument("--vgpu", required=True, help="where the stand-ins for CUDA's libraries are")
    arguments = beside.parse(parser)
    gguf = make_gguf(arguments.source, arguments.work)
    small, _ = make_checkpoint(arguments, NAME, checkpoint.qwen3, 8, CLASSES)
    large, (n_files, n_tensors) = make_checkpoint(arguments, CHECKPOINT, checkpoint.deepseek_v3, N_FILES, {})
    os.environ.update({"HF_ENDPOINT": hub.Hub({NAME: small, CHECKPOINT: large}).url, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
                       "HF_HOME": os.path.join(arguments.work, "hf"), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_TOKEN": ""})
    names = list(only_those_that_work(by_name(arguments, gguf)))
    checkpoints = list(only_those_that_work(of_checkpoint(arguments, large)))
    beside.by_turns(names + checkpoints, arguments.stopwatch, arguments.runs)
    text = (f"{beside.machine_and_date()}. From a model's name to the answer ({NAME}):\n\n{beside.table(names)}\n\n"
            f"From a checkpoint with {n_tensors} tensors in {n_files} safetensors files ({CHECKPOINT}):\n\n{beside.table(checkpoints)}")
    print(text)
    if arguments.page:
        beside.write_page(arguments.page, "names", text)
    print()
    beside.judge("a model by name", names[:1], 10, 16)
    beside.judge("all quantizations", names[1:2], 40)
    beside.judge("a large checkpoint", checkpoints[:1], 150)


if __name__ == "__main__":
    main()
