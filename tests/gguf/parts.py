# SPDX-License-Identifier: MIT
"""
The groups of keys and tensors that many architectures have in common.
"""
from __future__ import annotations

from model import Hyper, Model


def base_keys(m: Model, layer_norm: bool = False) -> None:
    """The keys the conversion script writes for every text model, as far as the hyperparameters have them."""
    h = m.hyper
    m.key("block_count", h.all_layers)
    m.key("context_length", h.ctx)
    m.key("embedding_length", h.embd)
    if h.ff or h.ff_list:
        m.key("feed_forward_length", h.ff_list or h.ff)
    if h.heads or h.heads_list:
        m.key("attention.head_count", h.heads_list or h.heads)
    if h.kv_heads or h.kv_heads_list:
        m.key("attention.head_count_kv", h.kv_heads_list or h.kv_heads)
    if h.rope_base:
        m.key("rope.freq_base", h.rope_base)
    m.key("attention.layer_norm_epsilon" if layer_norm else "attention.layer_norm_rms_epsilon", h.eps)
    if h.head_dim:
        m.key("attention.key_length", h.head_dim)
        m.key("attention.value_length", h.head_dim)
    if h.rope_dim:
        m.key("rope.dimension_count", h.rope_dim)
    if h.rope_factor:
        m.key("rope.scaling.type", "yarn")
        m.key("rope.scaling.factor", h.rope_factor)
        m.key("rope.scaling.original_context_length", h.rope_orig_ctx)
    if h.nextn:
        m.key("nextn_predict_layers", h.nextn)
    expert_keys(m)


def expert_keys(m: Model) -> None:
    h = m.hyper
    if not h.experts:
        return
    m.key("expert_count", h.experts)
    m.key("expert_used_count", h.experts_used)
    if h.expert_ff:
        m.key("expert_feed_forward_length", h.expert_ff)
    if h.shared_experts:
        m.key("expert_shared_count", h.shared_experts)
    if h.shared_ff:
        m.key("expert_shared_feed_forward_length", h.shared_ff)
    if h.dense_lead:
        m.key("leading_dense_block_count", h.dense_lead)
    if h.expert_scale:
        m.key("expert_weights_scale", h.expert_scale)
    if h.expert_norm:
        m.key("expert_weights_norm", True)
    if h.gating:
        m.key("expert_gating_func", h.gating)
    if h.groups:
        m.key("expert_group_count", h.groups)
        m.key("expert_group_used_count", h.groups_used)


def scale_keys(m: Model) -> None:
    """Granite's, MiniCPM's and Cohere's multipliers."""
    h = m.hyper
    for name, value in (
        ("attention.scale", h.attention_scale), ("embedding_scale", h.embedding_scale),
        ("residual_scale", h.residual_scale), ("logit_scale", h.logit_scale),
    ):
        if value:
            m.key(name, value)


def ssm_keys(m: Model, groups: bool = True) -> None:
    h = m.hyper
    m.key("ssm.conv_kernel", h.conv)
    m.key("ssm.inner_size", h.inner)
    m.key("ssm.state_size", h.state)
    m.key("ssm.time_step_rank", h.dt_rank)
    if groups:
        m.key("ssm.group_count", h.ssm_groups)


def outer_tensors(m: Model, norm_bias: bool = False, output_bias: bool = False) -> None:
    """What stands before and after the layers."""
    h = m.hyper
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("output_norm", h.embd, norm_bias)
    if not h.tied:
        m.linear("output", h.embd, h.vocab, output_bias)
    rope_tensors(m)


def rope_tensors(m: Model) -> None:
    h = m.hyper
    if h.rope_freqs:
        m.weight("rope_freqs", (h.rope_dim or h.head) // 2)
    if h.rope_factors:
        for name in ("rope_factors_long", "rope_factors_short"):
            m.weight(name, (h.rope_dim or h.head) // 2)


def attention(m: Model, i: int, heads: int = 0, kv: int = 0, head: int = 0, out_bias: bool = False) -> None:
    """Separate query, key, value and output projections, with norms on query and key heads where the model has them."""
    h = m.hyper
    heads, kv, head = heads or h.heads, kv or h.kv, head or h.head
    m.linear(f"blk.{i}.attn_q", h.embd, heads * head, h.qkv_bias)
    m.linear(f"blk.{i}.attn_k", h.embd, kv * head, h.qkv_bias)
    m.linear(f"blk.{i}.attn_v", h.embd, kv * head, h.qkv_bias)
    m.linear(f"blk.{i}.attn_output", heads * head, h.embd, out_bias)
    if h.qk_norm:
        m.norm(f"blk.{i}.attn_q_norm", head)
        m.norm(f"blk.{i}.attn_k_norm", head)


def fused_attention(m: Model, i: int, bias: bool = False, out_bias: bool = False) -> None:
    """Query, key and value in one matrix."""
    h = m.hyper
    m.linear(f"blk.{i}.attn_qkv", h.embd, (h.heads + 2 * h.kv) * h.head, bias)
    m.linear(f"blk.{i}.attn_output", h.heads * h.head, h.embd, out_bias)


def gated_ffn(m: Model, i: int, ff: int = 0) -> None:
    h = m.hyper
    ff = ff or h.ff
    m.linear(f"blk.{i}.ffn_gate", h.embd, ff)
    m.linear(f"blk.{i}.ffn_up", h.embd, ff)
    m.linear(f"blk.{i}.ffn_down", ff, h.embd)


def fused_gated_ffn(m: Model, i: int) -> None:
    """Gate and up in one matrix named up."""
    h = m.hyper
    m.linear(f"blk.{i}.ffn_up", h.embd, 2 * h.ff)
    m.linear(f"blk.{i}.ffn_down", h.ff, h.embd)


def plain_ffn(m: Model, i: int, bias: bool = False, ff: int = 0) -> None:
    h = m.hyper
    ff = ff or h.ff
    m.linear(f"blk.{i}.ffn_up", h.embd, ff, bias)
    m.linear(f"blk.{i}.ffn_down", ff, h.embd, bias)


def experts(m: Model, i: int, probs_bias: bool = False, ff: int = 0) -> None:
    """Router and experts, one three-dimensional tensor per projection."""
    h = m.hyper
    ff = ff or h.expert_ff or h.ff
    m.weight(f"blk.{i}.ffn_gate_inp", h.embd, h.experts)
    m.weight(f"blk.{i}.ffn_gate_exps", h.embd, ff, h.experts)
    m.weight(f"blk.{i}.ffn_up_exps", h.embd, ff, h.experts)
    m.weight(f"blk.{i}.ffn_down_exps", ff, h.embd, h.experts)
    if probs_bias:
        m.bias(f"blk.{i}.exp_probs_b", h.experts)


def shared_expert(m: Model, i: int, ff: int) -> None:
    h = m.hyper
    m.linear(f"blk.{i}.ffn_gate_shexp", h.embd, ff)
    m.linear(f"blk.{i}.ffn_up_shexp", h.embd, ff)
    m.linear(f"blk.{i}.ffn_down_shexp", ff, h.embd)


def nextn_tensors(m: Model, i: int, own_embeddings: bool) -> None:
    """What makes a layer a multi-token prediction layer."""
    h = m.hyper
    m.weight(f"blk.{i}.nextn.eh_proj", 2 * h.embd, h.embd)
    for name in ("enorm", "hnorm", "shared_head_norm"):
        m.norm(f"blk.{i}.nextn.{name}", h.embd)
    if own_embeddings:
        m.weight(f"blk.{i}.nextn.embed_tokens", h.embd, h.vocab)
        m.weight(f"blk.{i}.nextn.shared_head_head", h.embd, h.vocab)


def mamba2(m: Model, i: int, conv_bias: bool = True, norm: bool = True) -> None:
    """A Mamba-2 mixer, as in Mamba-2 itself and in most hybrids."""
    h = m.hyper
    conv_width = h.inner + 2 * h.ssm_groups * h.state
    m.weight(f"blk.{i}.ssm_in", h.embd, h.inner + conv_width + h.dt_rank)
    m.weight(f"blk.{i}.ssm_conv1d", h.conv, conv_width)
    if conv_bias:
        m.bias(f"blk.{i}.ssm_conv1d", conv_width)
    m.bias(f"blk.{i}.ssm_dt", h.dt_rank)
    m.add(f"blk.{i}.ssm_a", 1, h.dt_rank)
    m.add(f"blk.{i}.ssm_d", 1, h.dt_rank)
    if norm:
        m.weight(f"blk.{i}.ssm_norm", h.inner // h.ssm_groups, h.ssm_groups)
    m.weight(f"blk.{i}.ssm_out", h.inner, h.embd)


def sliding_layers(h: Hyper) -> list[bool]:
    """Which layers have a sliding window: all but the last of each period."""
    return [i % h.period < h.period - 1 for i in range(h.layers)]
