# SPDX-License-Identifier: MIT
"""
Models that encode a text at once: BERT and its kin, and T5.
"""
from __future__ import annotations

from gguf import u32
from model import Hyper, Model
from parts import attention, base_keys, fused_attention, fused_gated_ffn, gated_ffn, plain_ffn, rope_tensors

T5_BUCKETS = 32


def encoder_keys(m: Model) -> None:
    h = m.hyper
    base_keys(m, layer_norm=True)
    m.key("attention.causal", False)
    if h.pooling is not None:
        m.key("pooling_type", h.pooling)
    if h.token_types:
        m.meta["tokenizer.ggml.token_type_count"] = u32(h.token_types)


def embedding_tensors(m: Model, positions: bool) -> None:
    h = m.hyper
    m.weight("token_embd", h.embd, h.vocab)
    if positions:
        m.weight("position_embd", h.embd, h.ctx)
    m.weight("token_types", h.embd, h.token_types)
    m.norm("token_embd_norm", h.embd, bias=True)


def separate_qkv(m: Model, i: int) -> None:
    h = m.hyper
    for letter in "qkv":
        m.linear(f"blk.{i}.attn_{letter}", h.embd, h.embd, bias=True)
    m.linear(f"blk.{i}.attn_output", h.embd, h.embd, bias=True)


def bert(h: Hyper) -> Model:
    m = Model("bert", h)
    encoder_keys(m)
    embedding_tensors(m, positions=True)
    for i in range(h.layers):
        separate_qkv(m, i)
        m.norm(f"blk.{i}.attn_output_norm", h.embd, bias=True)
        plain_ffn(m, i, bias=True)
        m.norm(f"blk.{i}.layer_output_norm", h.embd, bias=True)
    return m


def bert_reranker(h: Hyper) -> Model:
    """With a head that scores a pair of texts."""
    m = bert(h)
    m.key("classifier.output_labels", ["LABEL_0"])
    m.linear("cls", h.embd, h.embd, bias=True)
    m.linear("cls.output", h.embd, 1, bias=True)
    return m


def jina_bert_v3(h: Hyper) -> Model:
    """Rotary positions, fused projections, biases everywhere."""
    m = Model("jina-bert-v3", h)
    encoder_keys(m)
    embedding_tensors(m, positions=False)
    for i in range(h.layers):
        fused_attention(m, i, bias=True, out_bias=True)
        m.norm(f"blk.{i}.attn_output_norm", h.embd, bias=True)
        plain_ffn(m, i, bias=True)
        m.norm(f"blk.{i}.layer_output_norm", h.embd, bias=True)
    return m


def nomic_bert_moe(h: Hyper) -> Model:
    """Every second layer has experts, without gates."""
    m = Model("nomic-bert-moe", h)
    encoder_keys(m)
    m.key("moe_every_n_layers", h.moe_step)
    embedding_tensors(m, positions=False)
    for i in range(h.layers):
        fused_attention(m, i, bias=True, out_bias=True)
        m.norm(f"blk.{i}.attn_output_norm", h.embd, bias=True)
        if i % h.moe_step == 1:
            m.weight(f"blk.{i}.ffn_gate_inp", h.embd, h.experts)
            m.weight(f"blk.{i}.ffn_up_exps", h.embd, h.ff, h.experts)
            m.weight(f"blk.{i}.ffn_down_exps", h.ff, h.embd, h.experts)
        else:
            plain_ffn(m, i, bias=True)
        m.norm(f"blk.{i}.layer_output_norm", h.embd, bias=True)
    return m


def neo_bert(h: Hyper) -> Model:
    """RMS norm before each part, gate and up in one matrix."""
    m = Model("neo-bert", h)
    base_keys(m)
    m.key("attention.causal", False)
    m.key("pooling_type", h.pooling)
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("enc.output_norm", h.embd)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        fused_attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        fused_gated_ffn(m, i)
    return m


def bidirectional_llama(arch: str, h: Hyper, with_freqs: bool) -> Model:
    """A decoder's layers that see both ways."""
    m = Model(arch, h)
    base_keys(m)
    m.key("attention.causal", False)
    m.key("pooling_type", h.pooling)
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("output_norm", h.embd)
    if with_freqs:
        rope_tensors(m)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_norm", h.embd)
        attention(m, i)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        gated_ffn(m, i)
    return m


def eurobert(h: Hyper) -> Model:
    return bidirectional_llama("eurobert", h, with_freqs=False)


def llama_embed(h: Hyper) -> Model:
    m = bidirectional_llama("llama-embed", h, with_freqs=True)
    m.key("rope.dimension_count", h.head)
    return m


def nomic_bert(h: Hyper) -> Model:
    """Rotary positions, fused projections, gated feed-forward, no biases."""
    m = Model("nomic-bert", h)
    encoder_keys(m)
    embedding_tensors(m, positions=False)
    for i in range(h.layers):
        m.linear(f"blk.{i}.attn_qkv", h.embd, 3 * h.embd)
        m.linear(f"blk.{i}.attn_output", h.embd, h.embd)
        m.norm(f"blk.{i}.attn_output_norm", h.embd, bias=True)
        m.linear(f"blk.{i}.ffn_gate", h.embd, h.ff)
        plain_ffn(m, i)
        m.norm(f"blk.{i}.layer_output_norm", h.embd, bias=True)
    return m


def jina_bert_v2(h: Hyper) -> Model:
    """Position bias, gated feed-forward whose last matrix alone has a bias."""
    m = Model("jina-bert-v2", h)
    encoder_keys(m)
    embedding_tensors(m, positions=False)
    for i in range(h.layers):
        separate_qkv(m, i)
        m.norm(f"blk.{i}.attn_output_norm", h.embd, bias=True)
        m.linear(f"blk.{i}.ffn_gate", h.embd, h.ff)
        m.linear(f"blk.{i}.ffn_up", h.embd, h.ff)
        m.linear(f"blk.{i}.ffn_down", h.ff, h.embd, bias=True)
        m.norm(f"blk.{i}.layer_output_norm", h.embd, bias=True)
    return m


def jina_bert_v2_code(h: Hyper) -> Model:
    """Norms over all of query and key, and a second norm after attention."""
    m = jina_bert_v2(h)
    for i in range(h.layers):
        m.norm(f"blk.{i}.attn_q_norm", h.embd, bias=True)
        m.norm(f"blk.{i}.attn_k_norm", h.embd, bias=True)
        m.norm(f"blk.{i}.attn_norm_2", h.embd, bias=True)
    return m


def modern_bert(h: Hyper) -> Model:
    """Symmetric windows except in every third layer; the first layer has no attention norm."""
    m = Model("modern-bert", h)
    m.writes_vocab_size = True
    encoder_keys(m)
    m.key("attention.sliding_window", h.window)
    m.key("attention.sliding_window_pattern", h.period)
    m.key("rope.freq_base_swa", 10000.0)
    m.key("rope.scaling.type", "none")
    m.weight("token_embd", h.embd, h.vocab)
    m.norm("token_embd_norm", h.embd)
    m.norm("output_norm", h.embd)
    for i in range(h.layers):
        if i:
            m.norm(f"blk.{i}.attn_norm", h.embd)
        m.linear(f"blk.{i}.attn_qkv", h.embd, 3 * h.embd)
        m.linear(f"blk.{i}.attn_output", h.embd, h.embd)
        m.norm(f"blk.{i}.ffn_norm", h.embd)
        m.linear(f"blk.{i}.ffn_up", h.embd, 2 * h.ff)
        m.linear(f"blk.{i}.ffn_down", h.ff, h.embd)
    return m


def t5(h: Hyper) -> Model:
    """Encoder and decoder of the same depth. The first layer of each holds the position bias of all."""
    m = t5_sides("t5", h, ("enc", "dec"))
    m.key("decoder_block_count", h.layers)
    m.key("decoder_start_token_id", 0)
    if not h.tied:
        m.weight("output", h.embd, h.vocab)
    return m


def t5encoder(h: Hyper) -> Model:
    """The encoder alone, as image models use it."""
    return t5_sides("t5encoder", h, ("enc",))


def t5_sides(arch: str, h: Hyper, sides: tuple[str, ...]) -> Model:
    m = Model(arch, h)
    base_keys(m)
    m.key("attention.layer_norm_epsilon", h.eps)
    m.key("attention.relative_buckets_count", T5_BUCKETS)
    m.weight("token_embd", h.embd, h.vocab)
    for side in sides:
        m.norm(f"{side}.output_norm", h.embd)
        m.weight(f"{side}.blk.0.attn_rel_b", h.heads, T5_BUCKETS)
        for i in range(h.layers):
            t5_attention(m, f"{side}.blk.{i}.attn")
            if side == "dec":
                t5_attention(m, f"dec.blk.{i}.cross_attn")
            m.norm(f"{side}.blk.{i}.ffn_norm", h.embd)
            m.weight(f"{side}.blk.{i}.ffn_gate", h.embd, h.ff)
            m.weight(f"{side}.blk.{i}.ffn_up", h.embd, h.ff)
            m.weight(f"{side}.blk.{i}.ffn_down", h.ff, h.embd)
    return m


def t5_attention(m: Model, prefix: str) -> None:
    h = m.hyper
    width = h.heads * h.head
    m.norm(f"{prefix}_norm", h.embd)
    for letter in "qkv":
        m.weight(f"{prefix}_{letter}", h.embd, width)
    m.weight(f"{prefix}_o", width, h.embd)
