# SPDX-License-Identifier: MIT
"""
Dense decoders that few run any more, and some recent ones that are built like them.
"""
from __future__ import annotations

from dense import gpt_layers, llama_shape, with_llama_keys
from model import Hyper, Model
from parts import attention, base_keys, fused_attention, fused_gated_ffn, gated_ffn, outer_tensors, plain_ffn


def xverse(h: Hyper) -> Model:
    return with_llama_keys(llama_shape("xverse", h))


def maincoder(h: Hyper) -> Model:
    return llama_shape("maincoder", h)


def refact(h: Hyper) -> Model:
    """Position bias instead of rotary positions."""
    return llama_shape("refact", h)


def bitnet(h: Hyper) -> Model:
    """Ternary matrices, each with a scale; norms before the last projection of each half."""
    m = Model("bitnet", h)
    base_keys(m)
    m.writes_vocab_size = True
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("output_norm", h.embd)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.attn_sub_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
        m.norm(f"blk.{i}.ffn_sub_norm", h.ff)
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            m.add(f"blk.{i}.{name}.scale", 1)
    return m


def chameleon(h: Hyper) -> Model:
    """Layer norms with weights and biases per head on queries and keys."""
    m = Model("chameleon", h)
    base_keys(m)
    m.key("swin_norm", h.layers == 48)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        for name, heads in (("q", h.heads), ("k", h.kv)):
            m.weight(f"blk.{i}.attn_{name}_norm", h.head, heads)
            m.bias(f"blk.{i}.attn_{name}_norm", h.head, heads)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def codeshell(h: Hyper) -> Model:
    m = Model("codeshell", h)
    base_keys(m, layer_norm=True)
    m.key("rope.scaling.type", "linear")
    outer_tensors(m, norm_bias=True)
    gpt_layers(m)
    return m


def starcoder(h: Hyper) -> Model:
    """One head for keys and values, learnt positions."""
    m = Model("starcoder", h)
    base_keys(m, layer_norm=True)
    m.weight("position_embd", h.embd, h.ctx)
    outer_tensors(m, norm_bias=True)
    gpt_layers(m)
    return m


def jais(h: Hyper) -> Model:
    """Position bias, a gated feed-forward, biases everywhere."""
    m = Model("jais", h)
    base_keys(m, layer_norm=True)
    m.key("attention.max_alibi_bias", 8.0)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        fused_attention(m, i, bias=True, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        m.linear(f"blk.{i}.ffn_gate", h.embd, h.ff, bias=True)
        plain_ffn(m, i, bias=True)
    return m


def jais2(h: Hyper) -> Model:
    m = Model("jais2", h)
    base_keys(m, layer_norm=True)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        plain_ffn(m, i, bias=True)
    return m


def olmo(h: Hyper) -> Model:
    """Layer norms without weights."""
    m = Model("olmo", h)
    base_keys(m)
    m.key("attention.layer_norm_epsilon", h.eps)
    m.key("attention.clamp_kqv", 8.0)
    m.weight("token_embd", h.embd, h.vocab)
    m.weight("output", h.embd, h.vocab)
    for i in range(h.layers):
        attention(m, i)
        gated_ffn(m, i)
    return m


def orion(h: Hyper) -> Model:
    """A Llama with layer norms."""
    m = Model("orion", h)
    base_keys(m, layer_norm=True)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd, bias=True)
        gated_ffn(m, i)
    return m


def pangu_embedded(h: Hyper) -> Model:
    """A Llama with biases on all four attention projections."""
    m = Model("pangu-embedded", h)
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i, out_bias=True)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def plamo(h: Hyper) -> Model:
    """One norm feeds attention and feed-forward in parallel."""
    m = Model("plamo", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        gated_ffn(m, i)
    return m


def plamo3(h: Hyper) -> Model:
    """Fused projections, norms around both halves, windows except in every eighth layer."""
    m = Model("plamo3", h)
    base_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", h.period)
    m.key("rope.freq_base_swa", 10000.0)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.attn_q_norm", h.head)
        m.norm(f"blk.{i}.attn_k_norm", h.head)
        m.add(f"blk.{i}.post_attention_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        fused_gated_ffn(m, i)
        m.add(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def qwen(h: Hyper) -> Model:
    """The first Qwen: its feed-forward is half as wide as the key says."""
    m = Model("qwen", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        m.linear(f"blk.{i}.attn_qkv", h.embd, 3 * h.embd, bias=True)
        m.linear(f"blk.{i}.attn_output", h.embd, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i, h.ff // 2)
    return m


def talkie(h: Hyper) -> Model:
    """Norms without weights, a gain per query head, and the embedding added again in every layer."""
    m = Model("talkie", h)
    base_keys(m)
    m.key("logit_scale", h.logit_scale)
    m.weight("token_embd", h.embd, h.vocab)
    m.weight("output", h.embd, h.vocab)
    for i in range(h.layers):
        attention(m, i)
        m.weight(f"blk.{i}.attn_q_norm", 1, h.heads)
        gated_ffn(m, i)
        m.weight(f"blk.{i}.layer_output_scale", 1)
    return m
