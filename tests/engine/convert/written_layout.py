# SPDX-License-Identifier: MIT
"""
Layouts of checkpoints whose classes are not in transformers (they came as code beside the weights): the names that
vLLM's loaders of the same models read (models/baichuan.py, internlm2.py, qwen.py, chatglm.py, exaone.py, minicpm.py,
minicpm3.py, orion.py, deepseek_v2.py), with the dimensions that their modules have.
"""
from __future__ import annotations

import torch

Shapes = dict[str, tuple[int, ...]]


def heads(c: dict) -> tuple[int, int, int]:
    """Heads, heads of the cache, and the length of one."""
    n = c["num_attention_heads"]
    return n, c.get("num_key_value_heads") or n, c.get("head_dim") or c.get("kv_channels") or c["hidden_size"] // n


def gated(place: str, hidden: int, inner: int, names: tuple[str, str, str] = ("gate_proj", "up_proj", "down_proj")) -> Shapes:
    gate, up, down = (f"{place}.{name}.weight" for name in names)
    return {gate: (inner, hidden), up: (inner, hidden), down: (hidden, inner)}


def split_attention(c: dict, place: str) -> Shapes:
    n, n_kv, length = heads(c)
    h = c["hidden_size"]
    return {f"{place}.q_proj.weight": (n * length, h), f"{place}.k_proj.weight": (n_kv * length, h),
            f"{place}.v_proj.weight": (n_kv * length, h), f"{place}.o_proj.weight": (h, n * length)}


def packed_attention(c: dict, place: str) -> Shapes:
    h = c["hidden_size"]
    return {f"{place}.W_pack.weight": (3 * h, h), f"{place}.o_proj.weight": (h, h)}


def latent_attention(c: dict, place: str) -> Shapes:
    n, h, rope, nope = c["num_attention_heads"], c["hidden_size"], c["qk_rope_head_dim"], c["qk_nope_head_dim"]
    q, kv, v = c["q_lora_rank"], c["kv_lora_rank"], c.get("v_head_dim") or c["hidden_size"] // c["num_attention_heads"]
    return {f"{place}.q_a_proj.weight": (q, h), f"{place}.q_a_layernorm.weight": (q,),
            f"{place}.q_b_proj.weight": (n * (nope + rope), q), f"{place}.kv_a_proj_with_mqa.weight": (kv + rope, h),
            f"{place}.kv_a_layernorm.weight": (kv,), f"{place}.kv_b_proj.weight": (n * (nope + v), kv),
            f"{place}.o_proj.weight": (h, n * v)}


def llama_like(c: dict, attention=split_attention, has_norm_bias: bool = False) -> Shapes:
    h, v = c["hidden_size"], c["vocab_size"]
    shapes = {"model.embed_tokens.weight": (v, h), "model.norm.weight": (h,)}
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        shapes |= attention(c, f"{layer}.self_attn")
        shapes |= {f"{layer}.{word}.weight": (h,) for word in ("input_layernorm", "post_attention_layernorm")}
        if c.get("n_routed_experts") and i >= c.get("first_k_dense_replace", 0):
            inner = c["moe_intermediate_size"]
            for e in range(c["n_routed_experts"]):
                shapes |= gated(f"{layer}.mlp.experts.{e}", h, inner)
            shapes |= gated(f"{layer}.mlp.shared_experts", h, inner * c["n_shared_experts"])
            shapes[f"{layer}.mlp.gate.weight"] = (c["n_routed_experts"], h)
        else:
            shapes |= gated(f"{layer}.mlp", h, c["intermediate_size"])
    if has_norm_bias:
        shapes |= {name.replace("norm.weight", "norm.bias"): shape for name, shape in shapes.items() if "norm.weight" in name}
    if not c.get("tie_word_embeddings", True):  # transformers ties where a config does not say
        shapes["lm_head.weight"] = (v, h)
    return shapes


def internlm2(c: dict) -> Shapes:
    n, n_kv, length = heads(c)
    h, v = c["hidden_size"], c["vocab_size"]
    shapes = {"model.tok_embeddings.weight": (v, h), "model.norm.weight": (h,), "output.weight": (v, h)}
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}"
        shapes |= {f"{layer}.attention.wqkv.weight": ((n + 2 * n_kv) * length, h), f"{layer}.attention.wo.weight": (h, n * length),
                   f"{layer}.attention_norm.weight": (h,), f"{layer}.ffn_norm.weight": (h,)}
        shapes |= gated(f"{layer}.feed_forward", h, c["intermediate_size"], ("w1", "w3", "w2"))
    return shapes


def qwen(c: dict) -> Shapes:
    n, _, length = heads(c)
    h, v = c["hidden_size"], c["vocab_size"]
    shapes = {"transformer.wte.weight": (v, h), "transformer.ln_f.weight": (h,), "lm_head.weight": (v, h)}
    for i in range(c["num_hidden_layers"]):
        layer = f"transformer.h.{i}"
        shapes |= {f"{layer}.attn.c_attn.weight": (3 * n * length, h), f"{layer}.attn.c_attn.bias": (3 * n * length,),
                   f"{layer}.attn.c_proj.weight": (h, n * length), f"{layer}.ln_1.weight": (h,), f"{layer}.ln_2.weight": (h,)}
        shapes |= gated(f"{layer}.mlp", h, c["intermediate_size"] // 2, ("w1", "w2", "c_proj"))
    return shapes


def chatglm(c: dict) -> Shapes:
    n, length, inner = c["num_attention_heads"], c["kv_channels"], c["ffn_hidden_size"]
    h, v = c["hidden_size"], c["padded_vocab_size"]
    rows = (n + 2 * c["multi_query_group_num"]) * length
    shapes = {"transformer.embedding.word_embeddings.weight": (v, h), "transformer.output_layer.weight": (v, h),
              "transformer.encoder.final_layernorm.weight": (h,), "transformer.rotary_pos_emb.inv_freq": (length // 4,)}
    for i in range(c["num_layers"]):
        layer = f"transformer.encoder.layers.{i}"
        shapes |= {f"{layer}.self_attention.query_key_value.weight": (rows, h),
                   f"{layer}.self_attention.query_key_value.bias": (rows,),
                   f"{layer}.self_attention.dense.weight": (h, n * length),
                   f"{layer}.mlp.dense_h_to_4h.weight": (2 * inner, h), f"{layer}.mlp.dense_4h_to_h.weight": (h, inner),
                   f"{layer}.input_layernorm.weight": (h,), f"{layer}.post_attention_layernorm.weight": (h,)}
    return shapes


def exaone(c: dict) -> Shapes:
    n, n_kv, length = heads(c)
    h, v = c["hidden_size"], c["vocab_size"]
    shapes = {"transformer.wte.weight": (v, h), "transformer.ln_f.weight": (h,)}
    for i in range(c["num_layers"]):
        layer = f"transformer.h.{i}"
        place = f"{layer}.attn.attention"
        shapes |= {f"{place}.q_proj.weight": (n * length, h), f"{place}.k_proj.weight": (n_kv * length, h),
                   f"{place}.v_proj.weight": (n_kv * length, h), f"{place}.out_proj.weight": (h, n * length),
                   f"{layer}.ln_1.weight": (h,), f"{layer}.ln_2.weight": (h,)}
        shapes |= gated(f"{layer}.mlp", h, c["intermediate_size"], ("c_fc_0", "c_fc_1", "c_proj"))
    if not c.get("tie_word_embeddings", True):  # transformers ties where a config does not say
        shapes["lm_head.weight"] = (v, h)
    return shapes


LAYOUTS = {
    "BaiChuanForCausalLM": lambda c: llama_like(c, packed_attention),
    "BaichuanForCausalLM": lambda c: llama_like(c, packed_attention),
    "ChatGLMModel": chatglm,
    "DeepseekForCausalLM": llama_like,
    "ExaoneForCausalLM": exaone,
    "InternLM2ForCausalLM": internlm2,
    "MiniCPMForCausalLM": llama_like,
    "MiniCPM3ForCausalLM": lambda c: llama_like(c, latent_attention),
    "OrionForCausalLM": lambda c: llama_like(c, has_norm_bias=True),
    "QWenLMHeadModel": qwen,
    "XverseForCausalLM": llama_like,
}


def tensors(config: dict, dtype: torch.dtype) -> dict[str, torch.Tensor] | None:
    """The checkpoint's tensors, or None where transformers knows the class."""
    layout = LAYOUTS.get((config.get("architectures") or [""])[0])
    if layout is None:
        return None
    return {name: torch.empty(shape, dtype=dtype, device="meta") for name, shape in layout(config).items()}
