# SPDX-License-Identifier: MIT
"""
Models that mix attention layers with recurrent ones.
"""
from __future__ import annotations

from mla import latent_attention, latent_keys
from model import Hyper, Model
from parts import (
    attention, base_keys, experts, gated_ffn, mamba2, nextn_tensors, outer_tensors, plain_ffn, scale_keys,
    shared_expert, ssm_keys,
)
from recurrent import mamba1_mixer


def kv_heads_per_layer(h: Hyper, kv: int) -> list[int]:
    """The engine takes a layer without key-value heads for a recurrent one."""
    return [kv if i in h.attention_layers else 0 for i in range(h.layers)]


def jamba(h: Hyper) -> Model:
    """Mamba-1 with an attention layer in eight, experts in every second layer."""
    m = Model("jamba", h)
    base_keys(m)
    m.key("attention.head_count_kv", kv_heads_per_layer(h, h.kv))
    ssm_keys(m, groups=False)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers:
            attention(m, i)
        else:
            mamba1_mixer(m, i, norms=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i % h.moe_step == 1:
            experts(m, i)
        else:
            gated_ffn(m, i)
    return m


def granitehybrid(h: Hyper) -> Model:
    """Mamba-2 and attention without rotary positions; with experts or without."""
    m = Model("granitehybrid", h)
    m.writes_vocab_size = True
    base_keys(m)
    scale_keys(m)
    m.key("attention.head_count_kv", kv_heads_per_layer(h, h.kv))
    m.key("rope.dimension_count", h.head)
    m.key("rope.scaling.finetuned", False)
    ssm_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers:
            attention(m, i)
        else:
            mamba2(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if h.experts:
            experts(m, i)
            shared_expert(m, i, h.shared_ff)
        else:
            gated_ffn(m, i)
    return m


def falcon_h1(h: Hyper) -> Model:
    """Attention and Mamba-2 side by side in every layer."""
    m = Model("falcon-h1", h)
    m.writes_vocab_size = True
    base_keys(m)
    ssm_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        mamba2(m, i, norm=False)
        m.add(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def nemotron_h(h: Hyper) -> Model:
    """Each layer is one thing only: Mamba-2, attention, or a feed-forward, which may be of experts."""
    m = Model("nemotron_h_moe" if h.experts else "nemotron_h", h)
    base_keys(m)
    m.key("attention.layer_norm_epsilon", h.eps)
    m.key("feed_forward_length", [h.ff if kind in "-E" else 0 for kind in h.pattern])
    m.key("attention.head_count_kv", [h.kv if kind == "*" else 0 for kind in h.pattern])
    m.key("rope.scaling.finetuned", False)
    ssm_keys(m)
    outer_tensors(m)
    for i, kind in enumerate(h.pattern):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if kind == "M":
            mamba2(m, i)
        elif kind == "*":
            attention(m, i)
        elif kind == "-":
            plain_ffn(m, i)
        else:
            ungated_experts(m, i)
    return m


def ungated_experts(m: Model, i: int) -> None:
    h = m.hyper
    m.weight(f"blk.{i}.ffn_gate_inp", h.embd, h.experts)
    m.bias(f"blk.{i}.exp_probs_b", h.experts)
    m.weight(f"blk.{i}.ffn_up_exps", h.embd, h.expert_ff, h.experts)
    m.weight(f"blk.{i}.ffn_down_exps", h.expert_ff, h.embd, h.experts)
    m.linear(f"blk.{i}.ffn_up_shexp", h.embd, h.shared_ff)
    m.linear(f"blk.{i}.ffn_down_shexp", h.shared_ff, h.embd)


def lfm2_shape(arch: str, h: Hyper) -> Model:
    """Short convolutions and attention. The norm after the last layer bears the name of the one after the embedding."""
    m = Model(arch, h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.head_count_kv", kv_heads_per_layer(h, h.kv))
    m.key("shortconv.l_cache", h.conv)
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("token_embd_norm", h.embd)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers:
            attention(m, i)
        else:
            m.weight(f"blk.{i}.shortconv.conv", h.conv, h.embd)
            m.weight(f"blk.{i}.shortconv.in_proj", h.embd, 3 * h.embd)
            m.weight(f"blk.{i}.shortconv.out_proj", h.embd, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if h.experts and i >= h.dense_lead:
            experts(m, i, probs_bias=True)
        else:
            gated_ffn(m, i)
    return m


def lfm2(h: Hyper) -> Model:
    return lfm2_shape("lfm2", h)


def lfm2moe(h: Hyper) -> Model:
    return lfm2_shape("lfm2moe", h)


def gated_attention(m: Model, i: int) -> None:
    """Qwen3-Next attention: the query projection also yields a gate."""
    h = m.hyper
    m.linear(f"blk.{i}.attn_q", h.embd, 2 * h.heads * h.head)
    m.linear(f"blk.{i}.attn_k", h.embd, h.kv * h.head)
    m.linear(f"blk.{i}.attn_v", h.embd, h.kv * h.head)
    m.linear(f"blk.{i}.attn_output", h.heads * h.head, h.embd)
    m.norm(f"blk.{i}.attn_q_norm", h.head)
    m.norm(f"blk.{i}.attn_k_norm", h.head)


def delta_net(m: Model, i: int) -> None:
    """Gated delta net: ssm_groups key heads and dt_rank value heads, all `state` wide."""
    h = m.hyper
    values = h.dt_rank * h.state
    mixed = 2 * h.ssm_groups * h.state + values
    m.weight(f"blk.{i}.attn_qkv", h.embd, mixed)
    m.weight(f"blk.{i}.attn_gate", h.embd, values)
    m.weight(f"blk.{i}.ssm_conv1d", h.conv, mixed)
    m.bias(f"blk.{i}.ssm_dt", h.dt_rank)
    m.add(f"blk.{i}.ssm_a", h.dt_rank)
    if m.arch == "qwen3next":
        m.weight(f"blk.{i}.ssm_ba", h.embd, 2 * h.dt_rank)
    else:
        m.weight(f"blk.{i}.ssm_beta", h.embd, h.dt_rank)
        m.weight(f"blk.{i}.ssm_alpha", h.embd, h.dt_rank)
    m.norm(f"blk.{i}.ssm_norm", h.state)
    m.weight(f"blk.{i}.ssm_out", values, h.embd)


def qwen_hybrid(arch: str, h: Hyper) -> Model:
    """Three delta-net layers for each attention layer; prediction layers have attention."""
    m = Model(arch, h)
    base_keys(m)
    ssm_keys(m)
    m.key("full_attention_interval", h.period)
    if arch != "qwen3next":
        m.key("rope.dimension_sections", [11, 11, 10, 0])
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i >= h.layers or (i + 1) % h.period == 0:
            gated_attention(m, i)
        else:
            delta_net(m, i)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        if h.experts:
            experts(m, i)
            m.weight(f"blk.{i}.ffn_gate_inp_shexp", h.embd)
            shared_expert(m, i, h.shared_ff)
        else:
            gated_ffn(m, i)
        if i >= h.layers:
            nextn_tensors(m, i, own_embeddings=False)
    return m


def qwen3next(h: Hyper) -> Model:
    return qwen_hybrid("qwen3next", h)


def qwen35(h: Hyper) -> Model:
    return qwen_hybrid("qwen35", h)


def qwen35moe(h: Hyper) -> Model:
    return qwen_hybrid("qwen35moe", h)


def plamo2(h: Hyper) -> Model:
    """Mamba and attention in turn; some of its norms have no suffix in their names."""
    m = Model("plamo2", h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.head_count", [h.heads if i in h.attention_layers else 0 for i in range(h.layers)])
    m.key("attention.head_count_kv", kv_heads_per_layer(h, h.kv))
    ssm_keys(m)
    outer_tensors(m)
    dt_width = max(64, h.embd // 16)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers:
            m.weight(f"blk.{i}.attn_qkv", h.embd, (h.heads + 2 * h.kv) * h.head)
            m.weight(f"blk.{i}.attn_q_norm", h.head, h.heads)
            m.weight(f"blk.{i}.attn_k_norm", h.head, h.kv)
            m.weight(f"blk.{i}.attn_output", h.heads * h.head, h.embd)
        else:
            m.weight(f"blk.{i}.ssm_in", h.embd, 2 * h.inner)
            m.weight(f"blk.{i}.ssm_conv1d", h.conv, h.inner)
            m.weight(f"blk.{i}.ssm_x", h.inner, dt_width + 2 * h.state)
            m.linear(f"blk.{i}.ssm_dt", dt_width, h.dt_rank, bias=True)
            m.add(f"blk.{i}.ssm_a", h.dt_rank)
            m.add(f"blk.{i}.ssm_d", h.dt_rank)
            m.weight(f"blk.{i}.ssm_out", h.inner, h.embd)
            m.add(f"blk.{i}.ssm_dt_norm", dt_width)
            m.add(f"blk.{i}.ssm_b_norm", h.state)
            m.add(f"blk.{i}.ssm_c_norm", h.state)
        m.add(f"blk.{i}.post_attention_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        m.linear(f"blk.{i}.ffn_up", h.embd, 2 * h.ff)
        m.linear(f"blk.{i}.ffn_down", h.ff, h.embd)
        m.add(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def kimi_linear(h: Hyper) -> Model:
    """Kimi delta attention with a latent attention layer in four."""
    m = Model("kimi-linear", h)
    m.writes_vocab_size = True
    base_keys(m)
    latent_keys(m)
    m.key("attention.head_count_kv", kv_heads_per_layer(h, 1))
    m.key("attention.kv_lora_rank", h.kv_lora)
    m.key("ssm.conv_kernel", h.conv)
    m.key("kda.head_dim", h.state)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers:
            latent_attention(m, i, split=True)
        else:
            kimi_delta(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias=True)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
    return m


def kimi_delta(m: Model, i: int) -> None:
    h = m.hyper
    width = h.heads * h.state
    for letter in "qkv":
        m.weight(f"blk.{i}.attn_{letter}", h.embd, width)
        m.weight(f"blk.{i}.ssm_conv1d_{letter}", h.conv, 1, width)
    for letter in "fg":
        m.weight(f"blk.{i}.ssm_{letter}_a", h.embd, h.state)
        m.weight(f"blk.{i}.ssm_{letter}_b", h.state, width)
    m.weight(f"blk.{i}.ssm_beta", h.embd, h.heads)
    m.add(f"blk.{i}.ssm_a", 1, h.heads)
    m.bias(f"blk.{i}.ssm_dt", width)
    m.norm(f"blk.{i}.ssm_norm", h.state)
    m.weight(f"blk.{i}.attn_output", width, h.embd)


def bailingmoe3(h: Hyper) -> Model:
    """Ling 3: delta attention with full-rank gates, latent attention with a gate per head."""
    m = Model("bailingmoe3", h)
    m.writes_vocab_size = True
    base_keys(m)
    latent_keys(m)
    m.key("attention.head_count_kv", kv_heads_per_layer(h, 1) + [1] * h.nextn)
    m.key("attention.kv_lora_rank", h.kv_lora)
    if h.q_lora:
        m.key("attention.q_lora_rank", h.q_lora)
    m.key("ssm.conv_kernel", h.conv)
    m.key("kda.head_dim", h.state)
    m.key("kda.gate_lower_bound", -5.0)
    outer_tensors(m)
    for i in range(h.all_layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i in h.attention_layers or i >= h.layers:
            latent_attention(m, i, split=True)
            m.weight(f"blk.{i}.attn_gate", h.embd, h.heads)
        else:
            ling_delta(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if i < h.dense_lead:
            gated_ffn(m, i)
        else:
            experts(m, i, probs_bias=True)
            shared_expert(m, i, h.expert_ff * h.shared_experts)
        if i >= h.layers:
            m.weight(f"blk.{i}.nextn.eh_proj", 2 * h.embd, h.embd)
            for name in ("nextn.enorm", "nextn.hnorm", "layer_output_norm"):
                m.norm(f"blk.{i}.{name}", h.embd)
    return m


def ling_delta(m: Model, i: int) -> None:
    h = m.hyper
    width = h.heads * h.state
    for letter in "qkv":
        m.weight(f"blk.{i}.attn_{letter}", h.embd, width)
        m.weight(f"blk.{i}.ssm_conv1d_{letter}", h.conv, 1, width)
    for letter in "fg":
        m.weight(f"blk.{i}.ssm_{letter}_a", h.embd, width)
    m.weight(f"blk.{i}.ssm_beta", h.embd, h.heads)
    m.add(f"blk.{i}.ssm_a", 1, h.heads)
    m.bias(f"blk.{i}.ssm_dt", width)
    m.norm(f"blk.{i}.ssm_norm", h.state)
    m.weight(f"blk.{i}.attn_output", width, h.embd)


def minimax_01(h: Hyper) -> Model:
    """Linear attention with an output gate; softmax attention in one layer of each period."""
    m = Model("minimax-01", h)
    m.writes_vocab_size = True
    base_keys(m)
    scale_keys(m)
    m.key("full_attention_interval", h.period)
    outer_tensors(m)
    width = h.heads * h.head
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        if i % h.period == h.period - 1:
            attention(m, i)
        else:
            m.norm(f"blk.{i}.attn_norm_2", width)
            m.weight(f"blk.{i}.attn_qkv", h.embd, 3 * width)
            m.weight(f"blk.{i}.attn_gate", h.embd, width)
            m.weight(f"blk.{i}.attn_output", width, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        experts(m, i, ff=h.ff)
    return m
