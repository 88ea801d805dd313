# SPDX-License-Identifier: MIT
"""What torchtune's recipes for Llama 3.2 1B would download, at its real size without weights, and a run of one, as `tune run` does."""
import base64
import json
import os
import sys
import tempfile

import holes
from torchtune._cli import tune

CONFIG = {"hidden_size": 2048, "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8,
          "head_dim": 64, "vocab_size": 128256}


def tensors() -> dict[str, tuple[str, list[int]]]:
    width, inner, n_kv = CONFIG["hidden_size"], CONFIG["intermediate_size"], CONFIG["num_key_value_heads"] * CONFIG["head_dim"]
    named = {"model.embed_tokens.weight": [CONFIG["vocab_size"], width], "model.norm.weight": [width]}
    for i in range(CONFIG["num_hidden_layers"]):
        for name, shape in {"self_attn.q_proj": [width, width], "self_attn.k_proj": [n_kv, width], "self_attn.v_proj": [n_kv, width],
                            "self_attn.o_proj": [width, width], "mlp.gate_proj": [inner, width], "mlp.up_proj": [inner, width],
                            "mlp.down_proj": [width, inner], "input_layernorm": [width], "post_attention_layernorm": [width]}.items():
            named[f"model.layers.{i}.{name}.weight"] = shape
    return {name: ("BF16", shape) for name, shape in named.items()}


def downloads(folder: str) -> None:
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump(CONFIG, file)
    holes.write(os.path.join(folder, "model.safetensors"), tensors())
    with open(os.path.join(folder, "tokenizer.model"), "wb") as file:  # of tiktoken: every byte is a word
        file.writelines(base64.b64encode(bytes([i])) + f" {i}\n".encode() for i in range(256))
    with open(os.path.join(folder, "texts.json"), "w", encoding="utf-8") as file:
        json.dump([{"instruction": "How far is the old bridge?", "input": "", "output": "It is far " + "and farther " * (i % 7)}
                   for i in range(64)], file)


def run(recipe: str, config: str, *more: str) -> None:
    folder, out = tempfile.mkdtemp(prefix="made-"), tempfile.mkdtemp(prefix="out-")
    downloads(folder)
    sys.argv = ["tune", "run", recipe, "--config", config, f"output_dir={out}", f"checkpointer.checkpoint_dir={folder}",
                f"tokenizer.path={folder}/tokenizer.model", "dataset.source=json", f"dataset.data_files={folder}/texts.json",
                "dataset.split=train", "max_steps_per_epoch=3", "gradient_accumulation_steps=1", "seed=0", *more]
    tune.main()
