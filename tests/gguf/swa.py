# SPDX-License-Identifier: MIT
"""
Decoders some of whose layers see only a sliding window.
"""
from __future__ import annotations

from model import Hyper, Model
from parts import attention, base_keys, experts, gated_ffn, outer_tensors, scale_keys, sliding_layers

ALTUP_STREAMS = 4
LAUREL_RANK = 64
SPARSE_LAYERS = 10  # of Gemma 3n: the first ones keep the largest 5 % of their activations
SPARSITY_SCALE = 1.6448533535003662


def gemma_shape(arch: str, h: Hyper) -> Model:
    """Norms before and after attention and feed-forward, tied output."""
    m = Model(arch, h)
    base_keys(m)
    outer_tensors(m)
    for i in range(h.layers):
        gemma_layer(m, i)
    return m


def gemma_layer(m: Model, i: int) -> None:
    h = m.hyper
    m.norm(f"blk.{i}.attn_norm", h.embd)
    attention(m, i)
    m.norm(f"blk.{i}.post_attention_norm", h.embd)
    m.norm(f"blk.{i}.ffn_norm", h.embd)
    gated_ffn(m, i)
    m.norm(f"blk.{i}.post_ffw_norm", h.embd)


def gemma2(h: Hyper) -> Model:
    m = gemma_shape("gemma2", h)
    m.key("attn_logit_softcapping", 50.0)
    m.key("final_logit_softcapping", 30.0)
    m.key("attention.sliding_window", h.window)
    return m


def gemma3(h: Hyper) -> Model:
    """Five sliding layers for each full one: the engine's default, so no pattern key."""
    m = gemma_shape("gemma3", h)
    m.key("attention.sliding_window", h.window)
    if h.ctx > 32768:
        m.key("rope.scaling.type", "linear")
        m.key("rope.scaling.factor", 8.0)
    return m


def gemma3n(h: Hyper) -> Model:
    """Four residual streams, a low-rank branch, and an embedding per layer and token."""
    m = Model("gemma3n", h)
    base_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", sliding_layers(h))
    m.key("attention.shared_kv_layers", h.shared_kv)
    m.key("altup.active_idx", 0)
    m.key("altup.num_inputs", ALTUP_STREAMS)
    m.key("embedding_length_per_layer_input", h.layer_embd)
    sparse = min(SPARSE_LAYERS, h.layers)
    m.key("activation_sparsity_scale", [SPARSITY_SCALE] * sparse + [-float("inf")] * (h.layers - sparse))
    outer_tensors(m)
    per_layer_embedding(m)
    m.weight("altup_proj", h.embd, h.embd, ALTUP_STREAMS - 1)
    m.weight("altup_unembd_proj", h.embd, h.embd, ALTUP_STREAMS - 1)
    for i in range(h.layers):
        gemma_layer(m, i)
        per_layer_input(m, i)
        m.weight(f"blk.{i}.altup_correct_coef", ALTUP_STREAMS, ALTUP_STREAMS)
        m.weight(f"blk.{i}.altup_correct_scale", h.embd)
        m.weight(f"blk.{i}.altup_predict_coef", ALTUP_STREAMS, ALTUP_STREAMS * ALTUP_STREAMS)
        m.weight(f"blk.{i}.altup_router", h.embd, ALTUP_STREAMS)
        m.norm(f"blk.{i}.altup_router_norm", h.embd)
        m.weight(f"blk.{i}.laurel_l", h.embd, LAUREL_RANK)
        m.weight(f"blk.{i}.laurel_r", LAUREL_RANK, h.embd)
        m.norm(f"blk.{i}.laurel_post_norm", h.embd)
    return m


def per_layer_embedding(m: Model) -> None:
    """The second token table, as wide as all layers' inputs together."""
    h = m.hyper
    width = h.layer_embd * h.layers
    m.weight("per_layer_token_embd", width, h.vocab)
    m.weight("per_layer_model_proj", h.embd, width)
    m.norm("per_layer_proj_norm", h.layer_embd)


def per_layer_input(m: Model, i: int) -> None:
    h = m.hyper
    m.weight(f"blk.{i}.inp_gate", h.embd, h.layer_embd)
    m.weight(f"blk.{i}.proj", h.layer_embd, h.embd)
    m.norm(f"blk.{i}.post_norm", h.embd)


def gemma4(h: Hyper) -> Model:
    """Full-attention layers have wider heads, fewer of them for keys, and in the large sizes no value projection."""
    m = Model("gemma4", h)
    base_keys(m)
    sliding = sliding_layers(h)
    m.key("attention.key_length", h.global_head_dim)
    m.key("attention.value_length", h.global_head_dim)
    m.key("attention.key_length_swa", h.head_dim)
    m.key("attention.value_length_swa", h.head_dim)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", sliding)
    m.key("attention.shared_kv_layers", h.shared_kv)
    m.key("embedding_length_per_layer_input", h.layer_embd)
    m.key("final_logit_softcapping", 30.0)
    m.key("rope.freq_base_swa", 10000.0)
    m.key("rope.dimension_count", h.global_head_dim)
    m.key("rope.dimension_count_swa", h.head_dim)
    kv_heads = [h.kv if is_sliding else h.global_kv_heads or h.kv for is_sliding in sliding]
    if h.global_kv_heads:
        m.key("attention.head_count_kv", kv_heads)
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("output_norm", h.embd)
    if not all(sliding):
        m.weight("rope_freqs", h.global_head_dim // 2)
    if h.layer_embd:
        per_layer_embedding(m)
    for i in range(h.layers):
        gemma4_layer(m, i, kv_heads[i], h.head_dim if sliding[i] else h.global_head_dim, sliding[i])
    return m


def gemma4_layer(m: Model, i: int, kv: int, head: int, is_sliding: bool) -> None:
    h = m.hyper
    m.norm(f"blk.{i}.attn_norm", h.embd)
    m.linear(f"blk.{i}.attn_q", h.embd, h.heads * head)
    m.linear(f"blk.{i}.attn_k", h.embd, kv * head)
    if is_sliding or h.global_values:
        m.linear(f"blk.{i}.attn_v", h.embd, kv * head)
    m.linear(f"blk.{i}.attn_output", h.heads * head, h.embd)
    m.norm(f"blk.{i}.attn_q_norm", head)
    m.norm(f"blk.{i}.attn_k_norm", head)
    m.norm(f"blk.{i}.post_attention_norm", h.embd)
    m.weight(f"blk.{i}.layer_output_scale", 1)
    m.norm(f"blk.{i}.ffn_norm", h.embd)
    gated_ffn(m, i, h.ff_list[i] if h.ff_list else h.ff)
    m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    if h.experts:
        m.weight(f"blk.{i}.ffn_gate_inp", h.embd, h.experts)
        m.add(f"blk.{i}.ffn_gate_inp.scale", h.embd)
        m.weight(f"blk.{i}.ffn_gate_up_exps", h.embd, 2 * h.expert_ff, h.experts)
        m.weight(f"blk.{i}.ffn_down_exps", h.expert_ff, h.embd, h.experts)
        m.add(f"blk.{i}.ffn_down_exps.scale", h.experts)
        for name in ("pre_ffw_norm_2", "post_ffw_norm_1", "post_ffw_norm_2"):
            m.norm(f"blk.{i}.{name}", h.embd)
    if h.layer_embd:
        per_layer_input(m, i)


def cohere2(h: Hyper) -> Model:
    m = Model("cohere2", h)
    base_keys(m, layer_norm=True)
    scale_keys(m)
    m.key("vocab_size", h.vocab)
    m.key("rope.dimension_count", h.head)
    m.key("rope.scaling.type", "none")
    m.key("attention.sliding_window", h.window)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        gated_ffn(m, i)
    return m


def gpt_oss(h: Hyper) -> Model:
    """Alternating windows, a learnt sink per head, biases also on the experts."""
    m = Model("gpt-oss", h)
    base_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("rope.dimension_count", h.head)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i, out_bias=True)
        m.weight(f"blk.{i}.attn_sinks", h.heads)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        experts(m, i)
        m.bias(f"blk.{i}.ffn_gate_inp", h.experts)
        m.add(f"blk.{i}.ffn_gate_exps.bias", h.expert_ff, h.experts)
        m.add(f"blk.{i}.ffn_up_exps.bias", h.expert_ff, h.experts)
        m.add(f"blk.{i}.ffn_down_exps.bias", h.embd, h.experts)
    return m


def llama4(h: Hyper) -> Model:
    """Attention in chunks of 8192 tokens except in every fourth layer, and one shared expert."""
    m = Model("llama4", h)
    m.writes_vocab_size = True
    base_keys(m)
    m.key("rope.dimension_count", h.head)
    m.key("interleave_moe_layer_step", h.moe_step)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        if (i + 1) % h.moe_step == 0:
            experts(m, i)
            m.linear(f"blk.{i}.ffn_gate_shexp", h.embd, h.expert_ff)
            m.linear(f"blk.{i}.ffn_up_shexp", h.embd, h.expert_ff)
            m.linear(f"blk.{i}.ffn_down_shexp", h.expert_ff, h.embd)
        else:
            gated_ffn(m, i)
    return m


def exaone4(h: Hyper) -> Model:
    """Norms only after each half. The engine gives the window to the size with 64 layers only."""
    m = Model("exaone4", h)
    base_keys(m)
    if h.window:
        m.key("attention.sliding_window", h.window)
        m.key("attention.sliding_window_pattern", sliding_layers(h))
    outer_tensors(m)
    for i in range(h.layers):
        attention(m, i)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        gated_ffn(m, i)
        m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def embedding_gemma(h: Hyper) -> Model:
    """A Gemma 3 without causal mask and with two dense layers behind the pooling."""
    m = gemma_shape("gemma-embedding", h)
    m.key("attention.sliding_window", h.window)
    m.key("pooling_type", h.pooling)
    dense = 4 * h.embd
    for name, value in (("2_feat_in", h.embd), ("2_feat_out", dense), ("3_feat_in", dense), ("3_feat_out", h.embd)):
        m.key(f"dense_{name}", value)
    m.weight("dense_2", h.embd, dense)
    m.weight("dense_3", dense, h.embd)
    return m


def granite_swa(h: Hyper) -> Model:
    """Learnt sinks, and no rotary positions in layers with full attention."""
    m = Model("granite_swa", h)
    base_keys(m)
    scale_keys(m)
    m.writes_vocab_size = True
    sliding = sliding_layers(h)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", sliding)
    m.key("attention.rope_pattern", [int(is_sliding) for is_sliding in sliding])
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.weight(f"blk.{i}.attn_sinks", h.heads)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def muse_glimmer(h: Hyper) -> Model:
    """A gate on the output of attention, norms around both halves and after the embedding."""
    m = Model("muse-glimmer", h)
    base_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", sliding_layers(h))
    m.key("final_logit_softcapping", 30.0)
    m.key("logit_scale", h.logit_scale)
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.linear(f"blk.{i}.attn_gate", h.embd, h.heads * h.head)
        m.norm(f"blk.{i}.post_attention_norm", h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
        m.norm(f"blk.{i}.post_ffw_norm", h.embd)
    return m


def spark2_5(h: Hyper) -> Model:
    """A gate per head."""
    m = Model("spark2_5", h)
    base_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", sliding_layers(h))
    outer_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.linear(f"blk.{i}.attn_gate", h.embd, h.heads)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m
