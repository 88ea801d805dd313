# SPDX-License-Identifier: MIT
"""
Files that go with a model: vision projectors, LoRA adapters, draft heads.
"""
from __future__ import annotations

from gguf import f32, string
from model import Hyper, Model
from parts import base_keys, gated_ffn

COLOURS = 3
QWEN_MERGE = 2 * 2  # patches that the projector joins into one token


def vision_keys(m: Model, projector: str, activation: str) -> None:
    h = m.hyper
    m.key("has_vision_encoder", True)
    m.key("projector_type", projector)
    m.key(f"use_{activation}", True)
    m.key("vision.image_size", h.image)
    m.key("vision.patch_size", h.patch)
    m.key("vision.embedding_length", h.embd)
    m.key("vision.feed_forward_length", h.ff)
    m.key("vision.block_count", h.layers)
    m.key("vision.attention.head_count", h.heads)
    m.key("vision.attention.layer_norm_epsilon", h.eps)
    m.key("vision.projection_dim", h.target_embd)
    m.key("vision.image_mean", [0.5] * COLOURS)
    m.key("vision.image_std", [0.5] * COLOURS)


def patch_embedding(m: Model, name: str, kind: str) -> None:
    """A convolution, whose type the conversion script fixes."""
    h = m.hyper
    m.add(name, h.patch, h.patch, COLOURS, h.embd)
    m.forced[name] = kind


def vision_layers(m: Model, norm_bias: bool, gated: bool) -> None:
    h = m.hyper
    for i in range(h.layers):
        b = f"v.blk.{i}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            m.linear(f"{b}.{name}", h.embd, h.embd, bias=True)
        if gated:
            m.linear(f"{b}.ffn_gate", h.embd, h.ff, bias=True)
        m.linear(f"{b}.ffn_up", h.embd, h.ff, bias=True)
        m.linear(f"{b}.ffn_down", h.ff, h.embd, bias=True)
        for name in ("ln1", "ln2"):
            m.norm(f"{b}.{name}", h.embd, norm_bias)
    m.norm("v.post_ln", h.embd, norm_bias)


def gemma3_projector(h: Hyper) -> Model:
    m = Model("clip", h, type="mmproj")
    vision_keys(m, "gemma3", "gelu")
    patch_embedding(m, "v.patch_embd.weight", "F32")
    m.bias("v.patch_embd", h.embd)
    m.weight("v.position_embd", h.embd, (h.image // h.patch) ** 2)
    vision_layers(m, norm_bias=True, gated=False)
    m.weight("mm.input_projection", h.target_embd, h.embd)
    m.norm("mm.soft_emb_norm", h.embd)
    m.forced["v.position_embd.weight"] = "F32"
    m.forced["mm.input_projection.weight"] = "F16"
    return m


def qwen25vl_projector(h: Hyper) -> Model:
    m = Model("clip", h, type="mmproj")
    vision_keys(m, "qwen2.5vl_merger", "silu")
    m.key("vision.n_wa_pattern", 8)
    patch_embedding(m, "v.patch_embd.weight", "F16")
    patch_embedding(m, "v.patch_embd.weight.1", "F16")
    vision_layers(m, norm_bias=False, gated=True)
    m.linear("mm.0", QWEN_MERGE * h.embd, QWEN_MERGE * h.embd, bias=True)
    m.linear("mm.2", QWEN_MERGE * h.embd, h.target_embd, bias=True)
    return m


def llama_lora(h: Hyper) -> Model:
    """Low-rank changes to every projection of a Llama."""
    m = Model("llama", h, type="adapter")
    m.meta["adapter.type"] = string("lora")
    m.meta["adapter.lora.alpha"] = f32(2.0 * h.rank)
    kv = h.kv * h.head
    shapes = {
        "attn_q": (h.embd, h.heads * h.head), "attn_k": (h.embd, kv), "attn_v": (h.embd, kv),
        "attn_output": (h.heads * h.head, h.embd), "ffn_gate": (h.embd, h.ff), "ffn_up": (h.embd, h.ff),
        "ffn_down": (h.ff, h.embd),
    }
    for i in range(h.layers):
        for name, (width_in, width_out) in shapes.items():
            m.add(f"blk.{i}.{name}.weight.lora_a", width_in, h.rank)
            m.add(f"blk.{i}.{name}.weight.lora_b", h.rank, width_out)
    return m


def eagle3(h: Hyper) -> Model:
    """A one-layer draft head over three layers of its target, with a small vocabulary and no token embedding."""
    m = Model("eagle3", h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    m.key("target_layers", h.target_layers)
    m.key("target_hidden_size", h.target_embd)
    m.key("norm_before_residual", False)
    m.weight("fc", len(h.target_layers) * h.target_embd, h.embd)
    m.add("d2t", h.draft_vocab)
    m.forced["d2t"] = "I64"
    m.norm("output_norm", h.embd)
    m.weight("output", h.embd, h.draft_vocab)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        m.norm(f"blk.{i}.attn_norm_2", h.embd)
        m.weight(f"blk.{i}.attn_q", 2 * h.embd, h.heads * h.head)
        m.weight(f"blk.{i}.attn_k", 2 * h.embd, h.kv * h.head)
        m.weight(f"blk.{i}.attn_v", 2 * h.embd, h.kv * h.head)
        m.weight(f"blk.{i}.attn_output", h.heads * h.head, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m
