# SPDX-License-Identifier: MIT
"""
Dense decoders with full attention in every layer.
"""
from __future__ import annotations

from math import log, sqrt

from model import Hyper, Model
from parts import (
    attention, base_keys, experts, fused_attention, fused_gated_ffn, gated_ffn, outer_tensors, plain_ffn, rope_tensors,
    scale_keys,
)


def llama_shape(arch: str, h: Hyper, post_norm: bool = False) -> Model:
    """RMS norm, rotary attention, RMS norm, gated feed-forward. Some call the second norm post_attention_norm."""
    m = Model(arch, h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.post_attention_norm" if post_norm else f"blk.{i}.ffn_norm", h.embd)
        if h.experts:
            experts(m, i)
        else:
            gated_ffn(m, i)
    return m


def with_llama_keys(m: Model) -> Model:
    """Keys of the models whose conversion class derives from Llama's."""
    m.writes_vocab_size = True
    m.key("rope.dimension_count", m.hyper.rope_dim or m.hyper.head)
    return m


def llama(h: Hyper) -> Model:
    return with_llama_keys(llama_shape("llama", h))


def qwen2(h: Hyper) -> Model:
    return llama_shape("qwen2", h)


def qwen2vl(h: Hyper) -> Model:
    m = llama_shape("qwen2vl", h)
    m.key("rope.dimension_sections", [16, 24, 24, 0])
    return m


def qwen3(h: Hyper) -> Model:
    return llama_shape("qwen3", h)


def exaone(h: Hyper) -> Model:
    return llama_shape("exaone", h)


def internlm2(h: Hyper) -> Model:
    m = llama_shape("internlm2", h)
    m.key("rope.scaling.type", "linear")
    m.key("rope.scaling.factor", 2.0)
    return m


def baichuan(h: Hyper) -> Model:
    """The 13B size has no rotary positions but a position bias; the engine tells it by its 40 layers."""
    m = llama_shape("baichuan", h)
    m.key("rope.dimension_count", h.head)
    return m


def smollm3(h: Hyper) -> Model:
    return with_llama_keys(llama_shape("smollm3", h))


def nanbeige(h: Hyper) -> Model:
    """A Llama whose layers are run through several times, each time with a cache of its own."""
    m = with_llama_keys(llama_shape("nanbeige", h))
    m.key("num_loops", h.loops)
    m.key("skip_loop_final_norm", False)
    return m


def seed_oss(h: Hyper) -> Model:
    return llama_shape("seed_oss", h, post_norm=True)


def ernie4_5(h: Hyper) -> Model:
    return llama_shape("ernie4_5", h)


def hunyuan_dense(h: Hyper) -> Model:
    return llama_shape("hunyuan-dense", h)


def granite(h: Hyper) -> Model:
    m = with_llama_keys(llama_shape("granite", h))
    scale_keys(m)
    return m


def minicpm(h: Hyper) -> Model:
    m = llama_shape("minicpm", h)
    scale_keys(m)
    return m


def mistral3(h: Hyper) -> Model:
    """Attention temperature grows with the position."""
    m = with_llama_keys(llama_shape("mistral3", h))
    m.key("rope.scaling.yarn_beta_fast", 32.0)
    m.key("rope.scaling.yarn_beta_slow", 1.0)
    m.key("rope.scaling.yarn_log_multiplier", 1.0)
    m.key("attention.temperature_scale", 0.1)
    return m


def gemma(h: Hyper) -> Model:
    return llama_shape("gemma", h)


def arcee(h: Hyper) -> Model:
    """Llama with a squared ReLU in place of the gated feed-forward."""
    m = Model("arcee", h)
    base_keys(m)
    with_llama_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        plain_ffn(m, i)
    return m


def apertus(h: Hyper) -> Model:
    """Feed-forward with xIELU, whose four numbers per layer are metadata without an architecture prefix."""
    m = Model("apertus", h)
    base_keys(m)
    with_llama_keys(m)
    for name, value in (("alpha_n", 0.8), ("alpha_p", 0.8), ("beta", 0.5), ("eps", -1e-6)):
        m.key(f"xielu.{name}", [value] * h.layers)
        m.meta[f"xielu.{name}"] = m.meta.pop(f"apertus.xielu.{name}")
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        plain_ffn(m, i)
    return m


def deci(h: Hyper) -> Model:
    """Pruned Llama: layers differ in width, and some have no attention."""
    m = Model("deci", h)
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    m.writes_vocab_size = True
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("output_norm", h.embd)
    m.linear("output", h.embd, h.vocab)
    rope_tensors(m)
    for i in range(h.layers):
        if h.kv_heads_list[i]:
            m.norm(f"blk.{i}.attn_norm", h.embd)
            attention(m, i, heads=h.heads_list[i], kv=h.kv_heads_list[i])
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i, h.ff_list[i])
    return m


def openelm(h: Hyper) -> Model:
    """Heads and widths grow with depth."""
    m = Model("openelm", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        heads, kv = h.heads_list[i], h.kv_heads_list[i]
        m.linear(f"blk.{i}.attn_qkv", h.embd, (heads + 2 * kv) * h.head)
        m.norm(f"blk.{i}.attn_q_norm", h.head)
        m.norm(f"blk.{i}.attn_k_norm", h.head)
        m.linear(f"blk.{i}.attn_output", heads * h.head, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i, h.ff_list[i])
    return m


def phi3(h: Hyper) -> Model:
    """Fused projections; the window key is always written but the engine ignores it."""
    m = Model("phi3", h)
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    m.key("rope.scaling.original_context_length", h.rope_orig_ctx)
    m.key("attention.sliding_window", h.window or 0)
    if h.rope_factors:
        m.key("rope.scaling.attn_factor", sqrt(1 + log(h.ctx / h.rope_orig_ctx) / log(h.rope_orig_ctx)))
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        fused_gated_ffn(m, i)
    return m


def chatglm(h: Hyper) -> Model:
    """ChatGLM and the first GLM-4."""
    m = Model("chatglm", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i, bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        fused_gated_ffn(m, i)
    return m


def glm4(h: Hyper) -> Model:
    """GLM-4-0414: norms before and after both halves."""
    m = Model("glm4", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        fused_gated_ffn(m, i)
        m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def olmo2(h: Hyper) -> Model:
    """Norms only after each half, and over whole queries and keys."""
    m = Model("olmo2", h)
    base_keys(m)
    if h.window:
        m.key("attention.sliding_window", h.window)
        m.key("attention.sliding_window_pattern", [i % 4 < 3 for i in range(h.layers)])
    outer_tensors(m)
    for i in range(h.layers):
        attention(m, i)
        m.norm(f"blk.{i}.attn_q_norm", h.heads * h.head)
        m.norm(f"blk.{i}.attn_k_norm", h.kv * h.head)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        gated_ffn(m, i)
        m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def command_r(h: Hyper) -> Model:
    """One layer norm feeds attention and feed-forward in parallel."""
    m = Model("command-r", h)
    base_keys(m, layer_norm=True)
    scale_keys(m)
    m.key("rope.scaling.type", "none")
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        gated_ffn(m, i)
    return m


def phi2(h: Hyper) -> Model:
    m = Model("phi2", h)
    base_keys(m, layer_norm=True)
    outer_tensors(m, norm_bias=True, output_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i, out_bias=True)
        plain_ffn(m, i, bias=True)
    return m


def stablelm(h: Hyper) -> Model:
    m = Model("stablelm", h)
    base_keys(m, layer_norm=True)
    m.key("use_parallel_residual", True)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        gated_ffn(m, i)
    return m


def starcoder2(h: Hyper) -> Model:
    m = Model("starcoder2", h)
    base_keys(m, layer_norm=True)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        plain_ffn(m, i, bias=True)
    return m


def nemotron(h: Hyper) -> Model:
    m = Model("nemotron", h)
    m.writes_vocab_size = True
    base_keys(m, layer_norm=True)
    m.key("rope.scaling.type", "none")
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        plain_ffn(m, i)
    return m


def gpt_layers(m: Model) -> None:
    """The layers of GPT-2 and its contemporaries: layer norms and biases everywhere, fused projections."""
    h = m.hyper
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        fused_attention(m, i, bias=True, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        plain_ffn(m, i, bias=True)


def gpt2(h: Hyper) -> Model:
    m = Model("gpt2", h)
    base_keys(m, layer_norm=True)
    m.weight("position_embd", h.embd, h.ctx)
    outer_tensors(m, norm_bias=True)
    gpt_layers(m)
    return m


def gptneox(h: Hyper) -> Model:
    m = Model("gptneox", h)
    base_keys(m, layer_norm=True)
    m.key("use_parallel_residual", True)
    outer_tensors(m, norm_bias=True)
    gpt_layers(m)
    return m


def bloom(h: Hyper) -> Model:
    """Position bias instead of position embeddings; a norm after the token embedding."""
    m = Model("bloom", h)
    base_keys(m, layer_norm=True)
    m.norm("token_embd_norm", h.embd, bias=True)
    outer_tensors(m, norm_bias=True)
    gpt_layers(m)
    return m


def mpt(h: Hyper) -> Model:
    """Position bias, no biases."""
    m = Model("mpt", h)
    base_keys(m, layer_norm=True)
    m.key("attention.max_alibi_bias", 8.0)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        plain_ffn(m, i)
    return m


def falcon(h: Hyper) -> Model:
    m = Model("falcon", h)
    base_keys(m, layer_norm=True)
    m.key("tensor_data_layout", "jploski")
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        fused_attention(m, i)
        plain_ffn(m, i)
    return m
