# SPDX-License-Identifier: MIT
"""
Lay out the checkpoint that a config describes, as its folder at Hugging Face has it, without weights: transformers makes
the model on the meta device and says the names, shapes and types that it would save; the file is a hole.

    checkpoint.py CONFIG.json DIR     writes DIR/config.json and DIR/model.safetensors

One file holds all tensors, whatever their bytes: the converter reads files in the order of their names, and how an
author cut a checkpoint into files is not in the config.
"""
from __future__ import annotations

import json
import math
import os
import re
import sys

import torch
import transformers

import hub_layout
import written_layout

DTYPES = {
    torch.float32: ("F32", 4),
    torch.float16: ("F16", 2),
    torch.bfloat16: ("BF16", 2),
    torch.int64: ("I64", 8),
    torch.bool: ("BOOL", 1),
    torch.uint8: ("U8", 1),
}
# What a projector's converter asks for beside the config; it goes into keys of the projector's file, into no tensor.
PREPROCESSOR = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]}
ASSUMED_DTYPE = "bfloat16"  # where the config does not say


def read_config(path: str) -> dict:
    """The config without the catalogue's own notes."""
    with open(path, encoding="utf-8") as file:
        return {key: value for key, value in json.load(file).items() if not key.startswith("_")}


def dtype_of(config: dict) -> torch.dtype:
    return getattr(torch, config.get("torch_dtype") or config.get("dtype") or ASSUMED_DTYPE)


def make_model(folder: str, config: dict) -> torch.nn.Module:
    """The model of the folder's config, with tensors that have no memory."""
    parsed = transformers.AutoConfig.from_pretrained(folder)
    name = (config.get("architectures") or [""])[0]
    kind = getattr(transformers, name, None)
    dtype = dtype_of(config)
    with torch.device("meta"):
        if kind is None:
            return transformers.AutoModelForCausalLM.from_config(parsed, dtype=dtype)
        return kind._from_config(parsed, dtype=dtype)


def saved_tensors(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """What save_pretrained() would write: tensors that are another one's are left out, old names are as they were."""
    tensors: dict[str, torch.Tensor] = {}
    owners: dict[int, str] = {}
    tied = getattr(model, "_tied_weights_keys", None) or []
    for name, tensor in model.state_dict(keep_vars=True).items():
        other = owners.get(id(tensor))
        if other is not None:
            if not any(re.search(pattern, other) for pattern in tied):
                continue
            del tensors[other]
        owners[id(tensor)] = name
        tensors[name] = tensor
    if transformers.__version__ >= "5":
        from transformers.core_model_loading import revert_weight_conversion

        return revert_weight_conversion(model, tensors)
    return {old_name(model, name): tensor for name, tensor in tensors.items()}


def old_name(model: torch.nn.Module, name: str) -> str:
    """The name that a checkpoint has for a tensor whose module was renamed since (transformers 4)."""
    for old, new in (getattr(model, "_checkpoint_conversion_mapping", None) or {}).items():
        before = re.sub(r"\(.*\)", "", old.lstrip("^"))
        renamed, n = re.subn(f"^{new}" if not new.startswith("^") else new, before, name)
        if n:
            return renamed
    return name


def write_safetensors(path: str, tensors: dict[str, torch.Tensor]) -> None:
    header: dict = {}
    offset = 0
    for name in sorted(tensors):
        tensor = tensors[name]
        word, width = DTYPES[tensor.dtype]
        end = offset + math.prod(tensor.shape) * width
        header[name] = {"dtype": word, "shape": list(tensor.shape), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + offset)


def write_json(folder: str, name: str, content: dict) -> None:
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        json.dump(content, file)


def write_vocabulary(folder: str, config: dict) -> None:
    """A made-up vocabulary where the converter looks into it for more than its tokens."""
    kind = config.get("model_type", "")
    if kind.startswith("gemma3"):  # it cuts the embedding to the length of what it finds there
        open(os.path.join(folder, "tokenizer.model"), "wb").close()
    elif kind.startswith("gemma4"):
        size = (config.get("text_config") or config)["vocab_size"]
        vocabulary = {f"t{i}": i for i in range(size)}
        write_json(folder, "tokenizer.json", {"model": {"vocab": vocabulary}, "added_tokens": []})
    elif kind.startswith(("mistral3", "ministral3")):  # a projector's number of a token
        write_json(folder, "tokenizer_config.json", {"added_tokens_decoder": {"12": {"content": "[IMG_BREAK]"}}})


def main() -> int:
    config_path, folder = sys.argv[1:]
    config = read_config(config_path)
    os.makedirs(folder, exist_ok=True)
    write_json(folder, "config.json", config)
    write_json(folder, "preprocessor_config.json", PREPROCESSOR)
    write_vocabulary(folder, config)
    tensors = written_layout.tensors(config, dtype_of(config))
    if tensors is None:
        tensors = saved_tensors(make_model(folder, config))
        hub_layout.apply(config, tensors)
    write_safetensors(os.path.join(folder, "model.safetensors"), tensors)
    return 0


if __name__ == "__main__":
    sys.exit(main())
