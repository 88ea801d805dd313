# SPDX-License-Identifier: MIT
"""
Where a published checkpoint has more than the model that transformers makes of its config, or has it in another form.
"""
from __future__ import annotations

import re

import torch


def add_prediction_layers(config: dict, tensors: dict[str, torch.Tensor]) -> None:
    """
    The layers for multi-token prediction, which checkpoints have and transformers' models do not: a copy of the last
    layer of full attention and what joins it to the model. The names are those that vLLM's models/qwen3_next_mtp.py,
    qwen3_5_mtp.py and glm4_moe_mtp.py load.
    """
    text = config.get("text_config") or config
    name = config["architectures"][0]
    is_qwen = name.startswith(("Qwen3Next", "Qwen3_5"))
    if not is_qwen and not name.startswith(("Glm4Moe", "GlmMoeDsa", "DeepseekV32")):
        return
    n_layers = text["num_hidden_layers"]
    n = text.get("mtp_num_hidden_layers", int(name.startswith("Qwen3Next"))) if is_qwen else text.get("num_nextn_predict_layers", 0)
    last = re.compile(rf"(.*\.layers\.{n_layers - 1}\.)(.*)")
    parts = [match for match in map(last.fullmatch, list(tensors)) if match]
    embedding = next(tensor for key, tensor in tensors.items() if key.endswith("embed_tokens.weight"))
    hidden = embedding.shape[1]
    norm = torch.empty(hidden, dtype=embedding.dtype, device="meta")
    joint = torch.empty(hidden, 2 * hidden, dtype=embedding.dtype, device="meta")
    for i in range(n):
        place = f"mtp.layers.{i}." if is_qwen else f"model.layers.{n_layers + i}."
        for match in parts:
            tensors[place + match[2]] = tensors[match[0]]
        if not is_qwen:
            tensors |= {place + word + ".weight": norm for word in ("enorm", "hnorm", "shared_head.norm")}
            tensors[place + "eh_proj.weight"] = joint
            tensors |= {place + word + ".weight": embedding for word in ("embed_tokens", "shared_head.head")}
    if is_qwen and n:
        tensors |= {f"mtp.{word}.weight": norm for word in ("norm", "pre_fc_norm_embedding", "pre_fc_norm_hidden")}
        tensors["mtp.fc.weight"] = joint


def add_shared_kv(config: dict, tensors: dict[str, torch.Tensor]) -> None:
    """
    Keys and values of layers that take those of another layer: Gemma 4 checkpoints have them, and transformers skips
    them by name when it loads (_keys_to_ignore_on_load_unexpected of its Gemma4TextModel).
    """
    text = config.get("text_config") or config
    n = text.get("num_kv_shared_layers") or 0
    if not config["architectures"][0].startswith("Gemma4") or not n:
        return
    kinds = text["layer_types"]
    n_own = text["num_hidden_layers"] - n
    for name in list(tensors):
        match = re.fullmatch(r"(.*\.layers\.)(\d+)(\.self_attn\.(?:k_proj|v_proj|k_norm)\.weight)", name)
        if match and int(match[2]) < n_own and kinds[int(match[2])] not in kinds[int(match[2]) + 1 : n_own]:
            for i in range(n_own, len(kinds)):  # as the last layer of its kind that has its own
                if kinds[i] == kinds[int(match[2])]:
                    tensors[f"{match[1]}{i}{match[3]}"] = tensors[name]


def pack_experts(config: dict, tensors: dict[str, torch.Tensor]) -> None:
    """The experts of gpt-oss in blocks of 32 with a scale each, as transformers' integrations/mxfp4.py loads them."""
    if (config.get("quantization_config") or {}).get("quant_method") != "mxfp4":
        return
    for name in [name for name in tensors if re.search(r"experts\.(gate_up|down)_proj$", name)]:
        n_experts, n_in, n_out = tensors.pop(name).shape
        scales = torch.empty(n_experts, n_out, n_in // 32, dtype=torch.uint8, device="meta")
        tensors[name + "_scales"] = scales
        tensors[name + "_blocks"] = scales.unsqueeze(-1).expand(-1, -1, -1, 16)


def apply(config: dict, tensors: dict[str, torch.Tensor]) -> None:
    add_prediction_layers(config, tensors)
    add_shared_kv(config, tensors)
    pack_experts(config, tensors)
