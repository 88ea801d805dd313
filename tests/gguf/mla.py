# SPDX-License-Identifier: MIT
"""
Decoders with latent attention: keys and values are stored as one low-rank vector per token.
"""
from __future__ import annotations

from model import Hyper, Model
from parts import attention, base_keys, experts, gated_ffn, nextn_tensors, outer_tensors, plain_ffn, shared_expert

LITE_LAYERS = (26, 27)  # the engine takes these counts for models without a low-rank query


def latent_query(m: Model, i: int) -> None:
    """A low-rank query where the model has one."""
    h = m.hyper
    width = h.heads * (h.nope_dim + h.rope_dim)
    if h.q_lora:
        m.weight(f"blk.{i}.attn_q_a", h.embd, h.q_lora)
        m.norm(f"blk.{i}.attn_q_a_norm", h.q_lora)
        m.weight(f"blk.{i}.attn_q_b", h.q_lora, width)
    else:
        m.weight(f"blk.{i}.attn_q", h.embd, width)


def latent_attention(m: Model, i: int, split: bool) -> None:
    """Today's files split the expansion matrix into attn_k_b and attn_v_b; old ones have it whole as attn_kv_b."""
    h = m.hyper
    latent_query(m, i)
    m.weight(f"blk.{i}.attn_kv_a_mqa", h.embd, h.kv_lora + h.rope_dim)
    m.norm(f"blk.{i}.attn_kv_a_norm", h.kv_lora)
    if split:
        m.weight(f"blk.{i}.attn_k_b", h.nope_dim, h.kv_lora, h.heads)
        m.weight(f"blk.{i}.attn_v_b", h.kv_lora, h.value_dim, h.heads)
    else:
        m.weight(f"blk.{i}.attn_kv_b", h.kv_lora, h.heads * (h.nope_dim + h.value_dim))
    m.weight(f"blk.{i}.attn_output", h.heads * h.value_dim, h.embd)


def latent_keys(m: Model) -> None:
    """The cache holds one head as wide as the latent vector and the rotary part."""
    h = m.hyper
    m.key("attention.key_length", h.kv_lora + h.rope_dim)
    m.key("attention.value_length", h.kv_lora)
    m.key("attention.key_length_mla", h.nope_dim + h.rope_dim)
    m.key("attention.value_length_mla", h.value_dim)


def latent_model(arch: str, h: Hyper, split: bool) -> Model:
    """Latent attention, leading dense layers, shared experts, prediction layers."""
    m = Model(arch, h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.head_count_kv", 1 if split else h.heads)
    m.key("attention.kv_lora_rank", h.kv_lora)
    if h.q_lora or h.layers not in LITE_LAYERS:
        m.key("attention.q_lora_rank", h.q_lora)
    if split:
        latent_keys(m)
    else:
        m.key("attention.key_length", h.nope_dim + h.rope_dim)
        m.key("attention.value_length", h.value_dim)
    if h.rope_factor:
        m.key("rope.scaling.yarn_log_multiplier", 0.1)
    if h.index_heads:
        m.key("attention.indexer.head_count", h.index_heads)
        m.key("attention.indexer.key_length", h.index_dim)
        m.key("attention.indexer.top_k", h.index_top)
    if h.index_full:
        m.key("attention.indexer.types", h.index_full)
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        latent_attention(m, i, split)
        if h.index_heads and (i >= len(h.index_full) or h.index_full[i]):
            indexer(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias=h.gating == 2)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
        if i >= h.layers:
            nextn_tensors(m, i, own_embeddings=True)
    return m


def indexer(m: Model, i: int) -> None:
    """Sparse attention: a small attention that chooses the tokens to attend to."""
    h = m.hyper
    m.norm(f"blk.{i}.indexer.k_norm", h.index_dim, bias=True)
    m.weight(f"blk.{i}.indexer.proj", h.embd, h.index_heads)
    m.weight(f"blk.{i}.indexer.attn_k", h.embd, h.index_dim)
    m.weight(f"blk.{i}.indexer.attn_q_b", h.q_lora, h.index_heads * h.index_dim)


def deepseek2(h: Hyper) -> Model:
    """DeepSeek V2 and V3, Kimi K2, GLM-4.7-Flash."""
    return latent_model("deepseek2", h, split=True)


def deepseek32(h: Hyper) -> Model:
    return latent_model("deepseek32", h, split=True)


def glm_dsa(h: Hyper) -> Model:
    return latent_model("glm-dsa", h, split=True)


def deepseek2_old(h: Hyper) -> Model:
    """A file from before April 2025: without the _mla keys the engine caches every head in full."""
    return latent_model("deepseek2", h, split=False)


def minicpm3(h: Hyper) -> Model:
    """Latent projections, but the cache holds full heads."""
    m = Model("minicpm3", h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.q_lora_rank", h.q_lora)
    m.key("attention.kv_lora_rank", h.kv_lora)
    m.key("attention.key_length", h.nope_dim + h.rope_dim)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        latent_attention(m, i, split=False)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def mistral4(h: Hyper) -> Model:
    """Attention temperature grows with the position."""
    m = latent_model("mistral4", h, split=True)
    m.key("attention.temperature_scale", 0.1)
    m.key("attention.temperature_length", h.rope_orig_ctx)
    return m


def plm(h: Hyper) -> Model:
    """Latent projections, full heads in the cache, a feed-forward without gate."""
    m = Model("plm", h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.kv_lora_rank", h.kv_lora)
    m.key("attention.key_length", h.nope_dim + h.rope_dim)
    m.key("attention.value_length", h.value_dim)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        latent_attention(m, i, split=False)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        plain_ffn(m, i)
    return m


def deepseek2_ocr(h: Hyper) -> Model:
    """The decoder of DeepSeek-OCR: DeepSeek's experts with ordinary attention."""
    m = Model("deepseek2-ocr", h)
    m.writes_vocab_size = True
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
    return m
