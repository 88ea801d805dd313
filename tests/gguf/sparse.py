# SPDX-License-Identifier: MIT
"""
Decoders with experts of 2024 to 2026, most of them with windows in some layers.
"""
from __future__ import annotations

from dense import llama_shape
from model import Hyper, Model
from parts import attention, base_keys, experts, gated_ffn, nextn_tensors, outer_tensors, shared_expert, sliding_layers


def window_keys(m: Model, pattern: list[bool]) -> None:
    m.key("attention.sliding_window", m.hyper.window)
    m.key("attention.sliding_window_pattern", pattern)


def sparse_ffn(m: Model, i: int, probs_bias: bool) -> None:
    """Dense in the leading layers, then experts and a shared one."""
    h = m.hyper
    if i < h.dense_lead:
        gated_ffn(m, i)
        return
    experts(m, i, probs_bias)
    if h.shared_ff:
        shared_expert(m, i, h.shared_ff)


def afmoe(h: Hyper) -> Model:
    """Norms around both halves and a gate on the output of attention."""
    m = Model("afmoe", h)
    base_keys(m)
    window_keys(m, sliding_layers(h))
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.linear(f"blk.{i}.attn_gate", h.embd, h.heads * h.head)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        sparse_ffn(m, i, probs_bias=True)
        m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def arctic(h: Hyper) -> Model:
    """Experts on the input of the layer, beside a dense residual part."""
    m = Model("arctic", h)
    base_keys(m)
    m.writes_vocab_size = True
    m.key("rope.dimension_count", h.head)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i, h.embd)
        m.norm(f"blk.{i}.ffn_norm_exps", h.embd)
        experts(m, i)
    return m


def exaone_moe(h: Hyper) -> Model:
    """Rotary positions only in layers with a window; a dense prediction layer."""
    m = Model("exaone-moe", h)
    base_keys(m)
    window_keys(m, [*sliding_layers(h), *[False] * h.nextn])
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.layers:
            sparse_ffn(m, i, probs_bias=True)
        else:
            gated_ffn(m, i)
            nextn_tensors(m, i, own_embeddings=False)
    return m


def grovemoe(h: Hyper) -> Model:
    """Beside the experts smaller ones, each shared by a group of them."""
    m = llama_shape("grovemoe", h)
    group, width = 2, 128
    m.key("experts_per_group", group)
    m.key("expert_group_scale", 0.05)
    m.key("expert_chunk_feed_forward_length", width)
    for i in range(h.layers):
        m.weight(f"blk.{i}.ffn_gate_chexps", h.embd, width, h.experts // group)
        m.weight(f"blk.{i}.ffn_up_chexps", h.embd, width, h.experts // group)
        m.weight(f"blk.{i}.ffn_down_chexps", width, h.embd, h.experts // group)
    return m


def hy_v3(h: Hyper) -> Model:
    m = Model("hy_v3", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i)
            m.add(f"blk.{i}.exp_probs_b", h.experts)
            shared_expert(m, i, h.shared_ff)
        if i >= h.layers:
            nextn_tensors(m, i, own_embeddings=False)
    return m


def laguna(h: Hyper) -> Model:
    """Layers with a window have more heads; a gate per head."""
    m = Model("laguna", h)
    base_keys(m)
    window_keys(m, [i % h.period != 0 for i in range(h.layers)])
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i, heads=h.heads_list[i])
        m.linear(f"blk.{i}.attn_gate", h.embd, h.heads_list[i])
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        sparse_ffn(m, i, probs_bias=True)
    return m


def maple(h: Hyper) -> Model:
    """Experts in every layer, whose activation is clamped."""
    m = llama_shape("maple", h)
    window_keys(m, sliding_layers(h))
    m.key("swiglu_clamp_exp", [7.0] * h.layers)
    return m


def mellum(h: Hyper) -> Model:
    m = llama_shape("mellum", h)
    window_keys(m, sliding_layers(h))
    return m


def mimo2(h: Hyper) -> Model:
    """Keys wider than values; layers with a window have more of both and learnt sinks."""
    m = Model("mimo2", h)
    base_keys(m)
    sliding = [i > 0 and i % h.period != h.period - 1 for i in range(h.layers)]
    window_keys(m, sliding)
    kv_heads = [2 * h.kv if is_sliding else h.kv for is_sliding in sliding]
    m.key("attention.head_count_kv", kv_heads)
    m.key("attention.value_length", h.value_dim)
    m.key("rope.freq_base_swa", 10000.0)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        m.linear(f"blk.{i}.attn_q", h.embd, h.heads * h.head)
        m.linear(f"blk.{i}.attn_k", h.embd, kv_heads[i] * h.head)
        m.linear(f"blk.{i}.attn_v", h.embd, kv_heads[i] * h.value_dim)
        m.linear(f"blk.{i}.attn_output", h.heads * h.value_dim, h.embd)
        if sliding[i]:
            m.weight(f"blk.{i}.attn_sinks", h.heads)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        sparse_ffn(m, i, probs_bias=True)
    return m


def step35(h: Hyper) -> Model:
    """Layers with a window have more heads; a gate per head; prediction layers of the same kind."""
    m = Model("step35", h)
    base_keys(m)
    sliding = [i % h.period != 0 for i in range(h.all_layers)]
    heads = [h.heads * 3 // 2 if is_sliding else h.heads for is_sliding in sliding]
    window_keys(m, sliding)
    m.key("attention.head_count", heads)
    m.key("attention.head_count_kv", [h.kv] * h.all_layers)
    m.key("rope.freq_base_swa", 10000.0)
    m.key("rope.dimension_count_swa", h.head)
    m.key("swiglu_clamp_exp", [0.0] * h.all_layers)
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i, heads=heads[i])
        m.linear(f"blk.{i}.attn_gate", h.embd, heads[i])
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead or i >= h.layers:
            gated_ffn(m, i)
        else:
            sparse_ffn(m, i, probs_bias=True)
        if i >= h.layers:
            nextn_tensors(m, i, own_embeddings=False)
    return m


def cohere2moe(h: Hyper) -> Model:
    """One norm feeds attention and experts in parallel; rotary positions only with a window or without experts."""
    m = Model("cohere2moe", h)
    base_keys(m, layer_norm=True)
    window_keys(m, [i % h.period != 0 for i in range(h.layers)])
    m.key("logit_scale", h.logit_scale)
    m.key("leading_dense_block_count", h.dense_lead)
    m.key("expert_shared_count", h.shared_experts)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        sparse_ffn(m, i, probs_bias=False)
    return m
