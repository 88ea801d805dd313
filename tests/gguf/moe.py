# SPDX-License-Identifier: MIT
"""
Decoders with experts and ordinary attention in every layer. (Mixtral is a Llama with experts: see dense.py.)
"""
from __future__ import annotations

from dense import llama_shape, with_llama_keys
from model import Hyper, Model
from parts import (
    attention, base_keys, experts, fused_attention, gated_ffn, nextn_tensors, outer_tensors, scale_keys, shared_expert,
)


def qwen2moe(h: Hyper) -> Model:
    """One shared expert with a gate of its own."""
    m = Model("qwen2moe", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        experts(m, i)
        m.weight(f"blk.{i}.ffn_gate_inp_shexp", h.embd)
        shared_expert(m, i, h.shared_ff)
    return m


def qwen3moe(h: Hyper) -> Model:
    return llama_shape("qwen3moe", h)


def granitemoe(h: Hyper) -> Model:
    m = with_llama_keys(llama_shape("granitemoe", h))
    scale_keys(m)
    return m


def smallthinker(h: Hyper) -> Model:
    """Every fourth layer, from the first on, has full attention."""
    m = llama_shape("smallthinker", h)
    m.key("attention.sliding_window", h.window)
    return m


def olmoe(h: Hyper) -> Model:
    """Norms over whole queries and keys."""
    m = Model("olmoe", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.attn_q_norm", h.embd)
        m.norm(f"blk.{i}.attn_k_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        experts(m, i)
    return m


def dbrx(h: Hyper) -> Model:
    m = Model("dbrx", h)
    base_keys(m, layer_norm=True)
    m.key("attention.clamp_kqv", 8.0)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.attn_output_norm", h.embd)
        experts(m, i)
    return m


def phimoe(h: Hyper) -> Model:
    """Layer norms with biases, separate projections with biases, long rotary factors."""
    m = Model("phimoe", h)
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    m.key("rope.scaling.original_context_length", h.rope_orig_ctx)
    m.key("rope.scaling.attn_factor", 1.1902380714238083)
    m.key("attention.sliding_window", h.window)
    outer_tensors(m, norm_bias=True, output_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        experts(m, i)
    return m


def dense_lead_shape(arch: str, h: Hyper, probs_bias: bool) -> Model:
    """Leading dense layers, then layers with experts and shared experts as wide as shared_experts of them."""
    m = Model(arch, h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias)
            shared_expert(m, i, h.shared_ff or h.expert_ff * h.shared_experts)
    return m


def deepseek(h: Hyper) -> Model:
    m = dense_lead_shape("deepseek", h, probs_bias=False)
    m.writes_vocab_size = True
    m.key("rope.dimension_count", h.head)
    m.key("rope.scaling.type", "none")
    return m


def bailingmoe(h: Hyper) -> Model:
    m = dense_lead_shape("bailingmoe", h, probs_bias=False)
    m.writes_vocab_size = True
    m.key("rope.dimension_count", h.head)
    return m


def dots1(h: Hyper) -> Model:
    return dense_lead_shape("dots1", h, probs_bias=True)


def ernie4_5_moe(h: Hyper) -> Model:
    m = dense_lead_shape("ernie4_5-moe", h, probs_bias=True)
    m.key("interleave_moe_layer_step", h.moe_step)
    return m


def hunyuan_moe(h: Hyper) -> Model:
    return dense_lead_shape("hunyuan-moe", h, probs_bias=False)


def glm4moe(h: Hyper) -> Model:
    """GLM-4.5, with its prediction layer, which has embeddings of its own."""
    m = Model("glm4moe", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias=True)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
        if i >= h.layers:
            nextn_tensors(m, i, own_embeddings=True)
    return m


def bailingmoe2(h: Hyper) -> Model:
    m = Model("bailingmoe2", h)
    m.writes_vocab_size = True
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.attn_q_norm", h.head)
        m.norm(f"blk.{i}.attn_k_norm", h.head)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias=True)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
    return m


def minimax_m2(h: Hyper) -> Model:
    """Norms over whole queries and keys; the width of the experts is under both feed-forward keys."""
    m = Model("minimax-m2", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.attn_q_norm", h.heads * h.head)
        m.norm(f"blk.{i}.attn_k_norm", h.kv * h.head)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        experts(m, i, probs_bias=True)
    return m


def grok(h: Hyper) -> Model:
    """Norms before and after both halves, capped scores."""
    m = Model("grok", h)
    base_keys(m)
    m.key("embedding_scale", 78.38367176906169)
    m.key("logit_scale", 0.5773502691896257)
    m.key("attn_logit_softcapping", 30.0)
    m.key("router_logit_softcapping", 30.0)
    m.key("rope.dimension_count", h.head)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.attn_output_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        experts(m, i)
        m.norm(f"blk.{i}.layer_output_norm", h.embd)
    return m


def minimax_m3(h: Hyper) -> Model:
    """Sparse attention over blocks: an indexer head for each group of query heads chooses them."""
    m = Model("minimax-m3", h)
    base_keys(m)
    m.key("attention.indexer.head_count", h.index_heads)
    m.key("attention.indexer.key_length", h.index_dim)
    m.key("attention.indexer.top_k", h.index_top)
    m.key("attention.indexer.block_size", 128)
    m.key("attention.indexer.local_blocks", 1)
    outer_tensors(m)
    for i in range(h.layers):
        attention(m, i)
        m.norm(f"blk.{i}.attn_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
            continue
        experts(m, i, probs_bias=True)
        shared_expert(m, i, h.expert_ff * h.shared_experts)
        m.weight(f"blk.{i}.indexer.q_proj", h.embd, h.index_heads * h.index_dim)
        m.weight(f"blk.{i}.indexer.k_proj", h.embd, h.index_dim)
        m.norm(f"blk.{i}.indexer.q_norm", h.index_dim)
        m.norm(f"blk.{i}.indexer.k_norm", h.index_dim)
    return m
