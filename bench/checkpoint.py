# SPDX-License-Identifier: MIT
"""
Checkpoints as hubs have them, without their data: safetensors files whose headers are whole and whose rest is a hole,
their index, and the config.json of this tree's catalogue.
"""
import collections
import json
import os
import shutil
import struct

BYTES = {"BF16": 2, "F32": 4, "F8_E4M3": 1}
SCALE_BLOCK = 128  # of DeepSeek V3's 8-bit weights, in both directions
Tensor = collections.namedtuple("Tensor", "name type shape")


def qwen3(config):
    """As transformers saves Qwen3ForCausalLM."""
    width, heads, kv, head = (config[key] for key in ("hidden_size", "num_attention_heads", "num_key_value_heads", "head_dim"))
    inner, vocab = config["intermediate_size"], config["vocab_size"]
    layer = {"input_layernorm": [width], "mlp.down_proj": [width, inner], "mlp.gate_proj": [inner, width],
             "mlp.up_proj": [inner, width], "post_attention_layernorm": [width], "self_attn.k_norm": [head],
             "self_attn.k_proj": [kv * head, width], "self_attn.o_proj": [width, heads * head], "self_attn.q_norm": [head],
             "self_attn.q_proj": [heads * head, width], "self_attn.v_proj": [kv * head, width]}
    yield Tensor("model.embed_tokens.weight", "BF16", [vocab, width])
    for i in range(config["num_hidden_layers"]):
        for name, shape in layer.items():
            yield Tensor(f"model.layers.{i}.{name}.weight", "BF16", shape)
    yield Tensor("model.norm.weight", "BF16", [width])
    yield Tensor("lm_head.weight", "BF16", [vocab, width])


def eight_bit(name, shape):
    yield Tensor(f"{name}.weight", "F8_E4M3", shape)
    yield Tensor(f"{name}.weight_scale_inv", "F32", [-(-n // SCALE_BLOCK) for n in shape])


def feed_forward(name, width, inner):
    yield from eight_bit(f"{name}.gate_proj", [inner, width])
    yield from eight_bit(f"{name}.up_proj", [inner, width])
    yield from eight_bit(f"{name}.down_proj", [width, inner])


def deepseek_v3(config):
    """As DeepSeek published it, without the layer that predicts one token more: 90 427 tensors."""
    width, heads, experts = config["hidden_size"], config["num_attention_heads"], config["n_routed_experts"]
    q, kv = config["q_lora_rank"], config["kv_lora_rank"]
    rope, nope, value = config["qk_rope_head_dim"], config["qk_nope_head_dim"], config["v_head_dim"]
    yield Tensor("model.embed_tokens.weight", "BF16", [config["vocab_size"], width])
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        for name, n in (("input_layernorm", width), ("post_attention_layernorm", width),
                        ("self_attn.q_a_layernorm", q), ("self_attn.kv_a_layernorm", kv)):
            yield Tensor(f"{layer}.{name}.weight", "BF16", [n])
        for name, shape in (("q_a_proj", [q, width]), ("q_b_proj", [heads * (nope + rope), q]),
                            ("kv_a_proj_with_mqa", [kv + rope, width]), ("kv_b_proj", [heads * (nope + value), kv]),
                            ("o_proj", [width, heads * value])):
            yield from eight_bit(f"{layer}.self_attn.{name}", shape)
        if i < config["first_k_dense_replace"]:
            yield from feed_forward(f"{layer}.mlp", width, config["intermediate_size"])
            continue
        yield Tensor(f"{layer}.mlp.gate.weight", "BF16", [experts, width])
        yield Tensor(f"{layer}.mlp.gate.e_score_correction_bias", "F32", [experts])
        inner = config["moe_intermediate_size"]
        yield from feed_forward(f"{layer}.mlp.shared_experts", width, inner * config["n_shared_experts"])
        for expert in range(experts):
            yield from feed_forward(f"{layer}.mlp.experts.{expert}", width, inner)
    yield Tensor("model.norm.weight", "BF16", [width])
    yield Tensor("lm_head.weight", "BF16", [config["vocab_size"], width])


def bytes_of(tensor):
    n = BYTES[tensor.type]
    for dimension in tensor.shape:
        n *= dimension
    return n


def write_file(path, tensors):
    """The header; the data is a hole."""
    header, at = {}, 0
    for tensor in tensors:
        header[tensor.name] = {"dtype": tensor.type, "shape": tensor.shape, "data_offsets": [at, at + bytes_of(tensor)]}
        at += bytes_of(tensor)
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + at)


def shared_out(tensors, n_files):
    """Files of about the same size, in the order of the tensors."""
    files, room, filled = [[]], sum(map(bytes_of, tensors)) / n_files, 0
    for tensor in tensors:
        if filled >= room * len(files):
            files.append([])
        files[-1].append(tensor)
        filled += bytes_of(tensor)
    return files


def make(folder, config_path, layout, n_files, more):
    """A folder with config.json, to which `more` is added, the files and their index. Returns how many files and tensors."""
    with open(config_path, encoding="utf-8") as file:
        config = {**json.load(file), **more}
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as file:
        json.dump({key: value for key, value in config.items() if not key.startswith("_")}, file, indent=2)
    tensors = list(layout(config))
    files, places = shared_out(tensors, n_files), {}
    for i, part in enumerate(files):
        name = f"model-{i + 1:05}-of-{len(files):06}.safetensors"
        write_file(os.path.join(folder, name), part)
        places.update((tensor.name, name) for tensor in part)
    index = {"metadata": {"total_size": sum(map(bytes_of, tensors))}, "weight_map": dict(sorted(places.items()))}
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="utf-8") as file:
        json.dump(index, file, indent=2)
    return len(files), len(tensors)
