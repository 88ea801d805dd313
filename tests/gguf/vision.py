# SPDX-License-Identifier: MIT
"""
The language models of models that read images. (The image encoders are in extras.py.)
"""
from __future__ import annotations

from dense import llama_shape, with_llama_keys
from model import Hyper, Model
from parts import base_keys, fused_attention, gated_ffn, outer_tensors, scale_keys

DEEPSTACK_LAYERS = 3


def cogvlm(h: Hyper) -> Model:
    """Every layer has a second set of matrices, for the tokens of images."""
    m = Model("cogvlm", h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.linear(f"blk.{i}.vis_attn_qkv", h.embd, 3 * h.embd)
        m.linear(f"blk.{i}.vis_attn_output", h.embd, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
        m.linear(f"blk.{i}.vis_gate", h.embd, h.ff)
        m.linear(f"blk.{i}.vis_up", h.embd, h.ff)
        m.linear(f"blk.{i}.vis_down", h.ff, h.embd)
    return m


def hunyuan_vl(h: Hyper) -> Model:
    m = llama_shape("hunyuan_vl", h)
    m.key("rope.dimension_sections", [16, 16, 16, 16])
    return m


def paddleocr(h: Hyper) -> Model:
    m = llama_shape("paddleocr", h)
    m.key("rope.dimension_sections", [16, 24, 24, 0])
    return m


def qwen3vl(h: Hyper) -> Model:
    """The first layers also read slices of the image's embeddings."""
    m = llama_shape("qwen3vlmoe" if h.experts else "qwen3vl", h)
    m.key("rope.dimension_sections", [24, 20, 20, 0])
    m.key("n_deepstack_layers", DEEPSTACK_LAYERS)
    return m


def granite_vision(h: Hyper) -> Model:
    """A list says which layers read which slice of the image's embeddings."""
    m = with_llama_keys(llama_shape("granite", h))
    scale_keys(m)
    m.key("deepstack_mapping", [i // 5 if i % 5 == 0 and i < 20 else -1 for i in range(h.layers)])
    return m
