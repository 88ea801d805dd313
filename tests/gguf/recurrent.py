# SPDX-License-Identifier: MIT
"""
Models without attention: Mamba and RWKV.
"""
from __future__ import annotations

from model import Hyper, Model
from parts import base_keys, gated_ffn, mamba2 as mamba2_mixer, outer_tensors, ssm_keys

RWKV_LERPS = {"rwkv6": 5, "rwkv7": 6}  # interpolated inputs of the time mix


def no_attention_keys(m: Model) -> None:
    """The conversion script writes zeros that the loader wants to see."""
    m.key("feed_forward_length", m.hyper.ff)
    m.key("attention.head_count", 0)


def mamba(h: Hyper) -> Model:
    m = Model("mamba", h)
    base_keys(m)
    no_attention_keys(m)
    ssm_keys(m, groups=False)
    m.key("ssm.dt_b_c_rms", False)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        mamba1_mixer(m, i)
    return m


def mamba1_mixer(m: Model, i: int, norms: bool = False) -> None:
    """`norms`: Jamba normalises the three outputs of ssm_x."""
    h = m.hyper
    m.weight(f"blk.{i}.ssm_in", h.embd, 2 * h.inner)
    m.weight(f"blk.{i}.ssm_conv1d", h.conv, h.inner)
    m.bias(f"blk.{i}.ssm_conv1d", h.inner)
    m.weight(f"blk.{i}.ssm_x", h.inner, h.dt_rank + 2 * h.state)
    m.linear(f"blk.{i}.ssm_dt", h.dt_rank, h.inner, bias=True)
    m.add(f"blk.{i}.ssm_a", h.state, h.inner)
    m.add(f"blk.{i}.ssm_d", h.inner)
    m.weight(f"blk.{i}.ssm_out", h.inner, h.embd)
    if norms:
        m.norm(f"blk.{i}.ssm_dt_norm", h.dt_rank)
        m.norm(f"blk.{i}.ssm_b_norm", h.state)
        m.norm(f"blk.{i}.ssm_c_norm", h.state)


def mamba2(h: Hyper) -> Model:
    m = Model("mamba2", h)
    base_keys(m)
    no_attention_keys(m)
    ssm_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        mamba2_mixer(m, i)
    return m


def rwkv_shape(arch: str, h: Hyper) -> Model:
    """What RWKV 6 and 7 have in common."""
    m = Model(arch, h)
    base_keys(m, layer_norm=True)
    no_attention_keys(m)
    m.key("wkv.head_size", h.state)
    m.norm("token_embd_norm", h.embd, bias=True)
    outer_tensors(m, norm_bias=True)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd, bias=True)
        m.norm(f"blk.{i}.attn_norm_2", h.embd, bias=True)
        m.weight(f"blk.{i}.time_mix_lerp_fused", h.embd, 1, 1, RWKV_LERPS[arch])
        for name in ("key", "value", "receptance", "output"):
            m.weight(f"blk.{i}.time_mix_{name}", h.embd, h.embd)
        m.norm(f"blk.{i}.time_mix_ln", h.embd, bias=True)
        m.weight(f"blk.{i}.channel_mix_lerp_k", h.embd)
        m.weight(f"blk.{i}.channel_mix_key", h.embd, h.ff)
        m.weight(f"blk.{i}.channel_mix_value", h.ff, h.embd)
    return m


def rwkv6(h: Hyper) -> Model:
    m = rwkv_shape("rwkv6", h)
    m.key("rescale_every_n_layers", 6)
    m.key("time_mix_extra_dim", h.lora_mix)
    m.key("time_decay_extra_dim", h.lora_decay)
    for i in range(h.layers):
        low_rank6(m, i)
        m.weight(f"blk.{i}.time_mix_first", h.state, h.embd // h.state)
        m.weight(f"blk.{i}.channel_mix_lerp_r", h.embd)
        m.weight(f"blk.{i}.channel_mix_receptance", h.embd, h.embd)
    return m


def low_rank6(m: Model, i: int) -> None:
    h = m.hyper
    m.weight(f"blk.{i}.time_mix_w1", h.embd, 5 * h.lora_mix)
    m.weight(f"blk.{i}.time_mix_w2", h.lora_mix, h.embd, 5)
    m.weight(f"blk.{i}.time_mix_lerp_x", h.embd)
    m.weight(f"blk.{i}.time_mix_decay", h.embd)
    m.weight(f"blk.{i}.time_mix_decay_w1", h.embd, h.lora_decay)
    m.weight(f"blk.{i}.time_mix_decay_w2", h.lora_decay, h.embd)
    m.weight(f"blk.{i}.time_mix_gate", h.embd, h.embd)


def rwkv7(h: Hyper) -> Model:
    m = rwkv_shape("rwkv7", h)
    rank7_keys(m)
    for i in range(h.layers):
        low_rank7(m, i)
    return m


def rank7_keys(m: Model) -> None:
    h = m.hyper
    m.key("attention.decay_lora_rank", h.lora_decay)
    m.key("attention.iclr_lora_rank", h.lora_iclr)
    m.key("attention.value_residual_mix_lora_rank", h.lora_value)
    m.key("attention.gate_lora_rank", h.lora_gate)


def low_rank7(m: Model, i: int) -> None:
    h = m.hyper
    value_rank = h.lora_value if i else h.lora_iclr
    for letter, rank in (("w", h.lora_decay), ("a", h.lora_iclr), ("v", value_rank)):
        m.weight(f"blk.{i}.time_mix_{letter}0", h.embd)
        m.weight(f"blk.{i}.time_mix_{letter}1", h.embd, rank)
        m.weight(f"blk.{i}.time_mix_{letter}2", rank, h.embd)
    if h.lora_gate:
        m.weight(f"blk.{i}.time_mix_g1", h.embd, h.lora_gate)
        m.weight(f"blk.{i}.time_mix_g2", h.lora_gate, h.embd)
    for name in ("k_k", "k_a", "r_k"):
        m.weight(f"blk.{i}.time_mix_{name}", h.embd)


def transplant_shape(arch: str, h: Hyper, kv_width: int, lerps: int) -> Model:
    """A transformer (Qwen 2.5) whose attention was replaced by a time mix."""
    m = Model(arch, h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("attention.head_count", 0)
    m.key("wkv.head_size", h.state)
    m.key("token_shift_count", 1)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        m.weight(f"blk.{i}.time_mix_lerp_fused", h.embd, 1, 1, lerps)
        for name, width in (("receptance", h.embd), ("key", kv_width), ("value", kv_width), ("output", h.embd)):
            m.linear(f"blk.{i}.time_mix_{name}", h.embd, width, bias=h.qkv_bias and name != "output")
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def rwkv6qwen2(h: Hyper) -> Model:
    m = transplant_shape("rwkv6qwen2", h, h.kv_heads * h.state, RWKV_LERPS["rwkv6"])
    m.key("time_mix_extra_dim", h.lora_mix)
    m.key("time_decay_extra_dim", h.lora_decay)
    for i in range(h.layers):
        low_rank6(m, i)
    return m


def arwkv7(h: Hyper) -> Model:
    m = transplant_shape("arwkv7", h, h.embd, RWKV_LERPS["rwkv7"] - (h.lora_gate == 0))
    rank7_keys(m)
    for i in range(h.layers):
        low_rank7(m, i)
    return m
