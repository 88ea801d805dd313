#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
vLLM on a virtual 24 GB card: a model from its config alone, dummy weights.

    vllm.py --plimsoll PROGRAM --python VENV/bin/python [--graphs]

It must come to its line "GPU KV cache size", generate, and end well. What vLLM says that it has for the KV cache is what
the rehearsal sees it ask for, and the peak stays within the share of the card that it may take.

Exit status: 0 all of it holds, 1 it does not, 77 vLLM is not there (skipped).
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

SKIPPED, TIMEOUT_S, GIB = 77, 1500, 1 << 30
CARD, N_TOKENS = "RTX 4090", 16
AVAILABLE = re.compile(r"Available KV cache memory: ([\d.]+) GiB")
SIZE = re.compile(r"GPU KV cache size: ([\d,]+) tokens")
ROUNDED_GIB = 0.0051

# Llama 3.2 1B
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
          "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 64, "vocab_size": 128256,
          "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "rope_theta": 500000.0, "hidden_act": "silu",
          "tie_word_embeddings": True, "torch_dtype": "bfloat16", "bos_token_id": 128000, "eos_token_id": 128001}

PROGRAM = """
import sys
from vllm import LLM, SamplingParams

if __name__ == "__main__":
    graphs = {"compilation_config": {"cudagraph_capture_sizes": [1, 2, 4]}} if sys.argv[2] == "graphs" else {"enforce_eager": True}
    llm = LLM(model=sys.argv[1], load_format="dummy", skip_tokenizer_init=True, max_model_len=8192, **graphs)
    done = llm.generate([{"prompt_token_ids": [1, 2, 3, 4]}], SamplingParams(max_tokens=int(sys.argv[3]), detokenize=False))
    print("generated", len(done[0].outputs[0].token_ids))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plimsoll", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--graphs", action="store_true", help="compile, and capture graphs")
    options = parser.parse_args()
    look = "import importlib.util, sys; sys.exit(importlib.util.find_spec('vllm') is None)" # to import it takes a card
    if not os.path.exists(options.python) or subprocess.run([options.python, "-c", look], check=False).returncode != 0:
        print("vLLM is not there: sh tests/engine/fetch_vllm.sh .cache/vllm")
        return SKIPPED

    with tempfile.TemporaryDirectory() as folder:
        receipt_path, log_path = os.path.join(folder, "receipt.json"), os.path.join(folder, "log")
        model, program = os.path.join(folder, "model"), os.path.join(folder, "program.py")
        os.mkdir(model)
        with open(os.path.join(model, "config.json"), "w", encoding="utf-8") as file:
            json.dump(CONFIG, file)
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        # FlashInfer's sampler is compiled when it is first used, which needs nvcc.
        environment = os.environ | {"VLLM_USE_FLASHINFER_SAMPLER": "0", "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1",
                                    "VLLM_CACHE_ROOT": os.path.join(folder, "cache")}
        command = [options.plimsoll, "rehearse", "--until", "exit", "--timeout", str(TIMEOUT_S), "--card", CARD, "-q", "--receipt",
                   receipt_path, "--log", log_path, "--", options.python, program, model, "graphs" if options.graphs else "eager",
                   str(N_TOKENS)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
        with open(log_path, encoding="utf-8", errors="replace") as file:
            log = file.read()
        with open(receipt_path, encoding="utf-8") as file:
            receipt = json.load(file)

    failures = []
    device = receipt["devices"][0]
    available, size = AVAILABLE.search(log), SIZE.search(log)
    missing = [warning["what"] for warning in receipt["warnings"] if warning["kind"] == "not_supported"]
    if done.returncode != 0 or f"generated {N_TOKENS}" not in log:
        failures.append(f"it ended with {done.returncode}")
    if missing:
        failures.append("functions that are missing: " + "; ".join(missing))
    if not available or not size:
        failures.append("it did not come to its KV cache")
    else:
        cache = sum(site["peak_bytes"] for site in receipt["sites"]
                    if any("allocate_kv_cache" in frame for frame in site["python"])) / GIB
        print(f"{size.group(0)}; {available.group(0)}; asked for there: {cache:.2f} GiB; peak {device['peak_bytes'] / GIB:.2f} GiB")
        if not float(available.group(1)) - 0.05 <= cache <= float(available.group(1)) + ROUNDED_GIB:
            failures.append("the KV cache is not what vLLM says")
        if device["peak_bytes"] > device["total_bytes"] - device["reserved_bytes"]:
            failures.append("the peak is more than the card")
    if failures:
        print("\n".join(log.splitlines()[-40:]))
        print("FAILED: " + "; ".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
