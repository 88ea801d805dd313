# SPDX-License-Identifier: MIT
"""
The models of the zoo and their hyperparameters.

The numbers are those of the published configurations. `approx` marks an entry that is written from memory or derived:
its shape is right for its architecture, a number may differ from the published model.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

import dense
import diffusion
import encoders
import extras
import hybrid
import mla
import moe
import older
import recurrent
import sparse
import swa
import vision
from model import Hyper, Model


@dataclass(frozen=True)
class Entry:
    """A model: the family that builds it and its numbers. `kind` tells what the file is; the engine loads "model" and,
    beside another model, "draft"."""

    family: Callable[[Hyper], Model]
    hyper: Hyper
    approx: bool = False
    kind: str = "model"
    ftype: str = "Q4_K_M"


def runs(*pairs: tuple[int, int]) -> tuple[int, ...]:
    """A list from pairs of value and repetition."""
    return tuple(value for value, times in pairs for _ in range(times))


ZOO: dict[str, Entry] = {}


def add(name: str, family: Callable[[Hyper], Model], approx: bool = False, kind: str = "model", ftype: str = "Q4_K_M",
        **numbers: object) -> None:
    ZOO[name] = Entry(family, Hyper(**numbers), approx, kind, ftype)  # type: ignore[arg-type]


# Dense ----------------------------------------------------------------------------------------------------------------

add("llama-3.1-8b", dense.llama, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, vocab=128256, ctx=131072,
    rope_base=500000.0, rope_freqs=True, pre="llama-bpe")
add("llama-3.2-1b", dense.llama, layers=16, embd=2048, heads=32, kv_heads=8, head_dim=64, ff=8192, vocab=128256,
    ctx=131072, rope_base=500000.0, rope_freqs=True, tied=True, pre="llama-bpe")
add("llama-3.2-3b", dense.llama, layers=28, embd=3072, heads=24, kv_heads=8, head_dim=128, ff=8192, vocab=128256,
    ctx=131072, rope_base=500000.0, rope_freqs=True, tied=True, pre="llama-bpe")
add("llama-3.3-70b", dense.llama, layers=80, embd=8192, heads=64, kv_heads=8, ff=28672, vocab=128256, ctx=131072,
    rope_base=500000.0, rope_freqs=True, pre="llama-bpe")
add("llama-2-7b", dense.llama, layers=32, embd=4096, heads=32, kv_heads=32, ff=11008, vocab=32000, ctx=4096)
add("mistral-7b", dense.llama, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, vocab=32768, ctx=32768,
    rope_base=1000000.0)
add("mistral-small-24b", dense.llama, layers=40, embd=5120, heads=32, kv_heads=8, head_dim=128, ff=32768, vocab=131072,
    ctx=131072, rope_base=1000000000.0)
add("ministral-3-3b", dense.mistral3, layers=26, embd=3072, heads=32, kv_heads=8, head_dim=128, ff=9216, vocab=131072,
    ctx=262144, rope_base=1000000.0, rope_factor=16.0, rope_orig_ctx=16384, tied=True)
add("qwen2.5-0.5b", dense.qwen2, layers=24, embd=896, heads=14, kv_heads=2, ff=4864, vocab=151936, ctx=32768, eps=1e-6,
    rope_base=1000000.0, qkv_bias=True, tied=True, pre="qwen2")
add("qwen2.5-7b", dense.qwen2, layers=28, embd=3584, heads=28, kv_heads=4, ff=18944, vocab=152064, ctx=131072, eps=1e-6,
    rope_base=1000000.0, qkv_bias=True, pre="qwen2")
add("qwen2.5-32b", dense.qwen2, layers=64, embd=5120, heads=40, kv_heads=8, ff=27648, vocab=152064, ctx=131072,
    rope_base=1000000.0, qkv_bias=True, pre="qwen2")
add("qwen2.5-vl-7b", dense.qwen2vl, layers=28, embd=3584, heads=28, kv_heads=4, ff=18944, vocab=152064, ctx=128000,
    eps=1e-6, rope_base=1000000.0, qkv_bias=True, pre="qwen2")
add("qwen3-0.6b", dense.qwen3, layers=28, embd=1024, heads=16, kv_heads=8, head_dim=128, ff=3072, vocab=151936,
    ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, tied=True, pre="qwen2")
add("qwen3-8b", dense.qwen3, layers=36, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=12288, vocab=151936,
    ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, pre="qwen2")
add("qwen3-32b", dense.qwen3, layers=64, embd=5120, heads=64, kv_heads=8, head_dim=128, ff=25600, vocab=151936,
    ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, pre="qwen2")
add("phi-2", dense.phi2, layers=32, embd=2560, heads=32, kv_heads=32, ff=10240, vocab=51200, ctx=2048, rope_dim=32,
    qkv_bias=True)
add("phi-3-mini-4k", dense.phi3, layers=32, embd=3072, heads=32, kv_heads=32, ff=8192, vocab=32064, ctx=4096,
    rope_base=10000.0, rope_orig_ctx=4096, window=2047)
add("phi-3.5-mini", dense.phi3, layers=32, embd=3072, heads=32, kv_heads=32, ff=8192, vocab=32064, ctx=131072,
    rope_base=10000.0, rope_orig_ctx=4096, rope_factors=True, window=262144)
add("phi-4", dense.phi3, layers=40, embd=5120, heads=40, kv_heads=10, ff=17920, vocab=100352, ctx=16384,
    rope_base=250000.0, rope_orig_ctx=16384)
add("gemma-2b", dense.gemma, layers=18, embd=2048, heads=8, kv_heads=1, head_dim=256, ff=16384, vocab=256000, ctx=8192,
    eps=1e-6, tied=True)
add("stablelm-2-1.6b", dense.stablelm, layers=24, embd=2048, heads=32, kv_heads=32, ff=5632, vocab=100352, ctx=4096,
    rope_base=10000.0, rope_dim=16, qkv_bias=True)
add("starcoder2-7b", dense.starcoder2, layers=32, embd=4608, heads=36, kv_heads=4, ff=18432, vocab=49152, ctx=16384,
    rope_base=1000000.0, qkv_bias=True, tied=True)
add("gpt2", dense.gpt2, layers=12, embd=768, heads=12, ff=3072, vocab=50257, ctx=1024, tied=True)
add("falcon-7b", dense.falcon, layers=32, embd=4544, heads=71, kv_heads=1, ff=18176, vocab=65024, ctx=2048)
add("pythia-6.9b", dense.gptneox, layers=32, embd=4096, heads=32, ff=16384, vocab=50432, ctx=2048, rope_dim=32)
add("bloom-7b1", dense.bloom, layers=30, embd=4096, heads=32, kv_heads=32, ff=16384, vocab=250880, ctx=2048, tied=True)
add("mpt-7b", dense.mpt, approx=True, layers=32, embd=4096, heads=32, ff=16384, vocab=50432, ctx=2048, tied=True)
add("command-r", dense.command_r, layers=40, embd=8192, heads=64, kv_heads=64, ff=22528, vocab=256000, ctx=131072,
    rope_base=8000000.0, logit_scale=0.0625, tied=True)
add("olmo-2-7b", dense.olmo2, layers=32, embd=4096, heads=32, kv_heads=32, ff=11008, vocab=100352, ctx=4096, eps=1e-6,
    rope_base=500000.0)
add("exaone-3.5-7.8b", dense.exaone, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=14336, vocab=102400,
    ctx=32768, rope_base=1000000.0, rope_freqs=True)
add("glm-4-9b", dense.chatglm, layers=40, embd=4096, heads=32, kv_heads=2, ff=13696, vocab=151552, ctx=8192,
    eps=1.5625e-07, rope_base=10000.0, rope_dim=64)
add("chatglm3-6b", dense.chatglm, layers=28, embd=4096, heads=32, kv_heads=2, ff=13696, vocab=65024, ctx=8192,
    rope_base=10000.0, rope_dim=64)
add("glm-4-9b-0414", dense.glm4, layers=40, embd=4096, heads=32, kv_heads=2, head_dim=128, ff=13696, vocab=151552,
    ctx=32768, rope_base=10000.0, rope_dim=64, pre="glm4")
add("internlm2.5-7b", dense.internlm2, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, vocab=92544, ctx=32768,
    rope_base=1000000.0)
add("minicpm-2b", dense.minicpm, layers=40, embd=2304, heads=36, kv_heads=36, ff=5760, vocab=122753, ctx=4096,
    embedding_scale=12.0, residual_scale=0.22135943621178655, logit_scale=9.0, tied=True)
add("granite-3.1-8b", dense.granite, layers=40, embd=4096, heads=32, kv_heads=8, ff=12800, vocab=49155, ctx=131072,
    rope_base=10000000.0, embedding_scale=12.0, residual_scale=0.22, attention_scale=0.0078125, logit_scale=16.0,
    tied=True)
add("nemotron-mini-4b", dense.nemotron, approx=True, layers=32, embd=3072, heads=24, kv_heads=8, ff=9216, vocab=256000,
    ctx=4096, rope_base=10000.0, rope_dim=64)
add("smollm3-3b", dense.smollm3, approx=True, layers=36, embd=2048, heads=16, kv_heads=4, ff=11008, vocab=128256,
    ctx=65536, eps=1e-6, rope_base=5000000.0, tied=True)
add("nanbeige4.2-3b", dense.nanbeige, approx=True, layers=22, loops=2, embd=3072, heads=24, kv_heads=8, head_dim=128,
    ff=9216, vocab=166144, ctx=262144, rope_base=70000000.0)
add("seed-oss-36b", dense.seed_oss, layers=64, embd=5120, heads=80, kv_heads=8, head_dim=128, ff=27648, vocab=155136,
    ctx=524288, eps=1e-6, rope_base=10000000.0, qkv_bias=True)
add("ernie-4.5-0.3b", dense.ernie4_5, approx=True, layers=18, embd=1024, heads=16, kv_heads=2, head_dim=128, ff=3072,
    vocab=103424, ctx=131072, rope_base=500000.0, tied=True)
add("hunyuan-7b", dense.hunyuan_dense, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=14336,
    vocab=128167, ctx=262144, rope_base=11158840.0, qk_norm=True, tied=True)
add("baichuan2-13b", dense.baichuan, layers=40, embd=5120, heads=40, kv_heads=40, ff=13696, vocab=125696, ctx=4096,
    eps=1e-6)
add("arcee-4.5b", dense.arcee, approx=True, layers=36, embd=2560, heads=20, kv_heads=4, head_dim=128, ff=18432,
    vocab=128004, ctx=65536, rope_base=10000.0, rope_factor=20.0, rope_orig_ctx=4096)
add("apertus-8b", dense.apertus, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, ff=21504, vocab=131072,
    ctx=65536, rope_base=12000000.0, rope_freqs=True, qk_norm=True)
add("openelm-270m", dense.openelm, approx=True, layers=16, embd=1280, head_dim=64, vocab=32000, ctx=2048, eps=1e-6,
    rope_base=10000.0, rope_dim=64, tied=True, heads_list=runs((12, 5), (16, 7), (20, 4)),
    kv_heads_list=runs((3, 5), (4, 7), (5, 4)),
    ff_list=(768, 1024, 1280, 1536, 1792, 2048, 2560, 2816, 3072, 3328, 3584, 3840, 4352, 4608, 4864, 5120))
# Of the pruned 80 layers 31 have no attention; widths of 5.25, 2.625, 3.28, 1.31, 1 and 0.5 times 2/3 of 8192.
add("nemotron-super-49b", dense.deci, layers=80, embd=8192, head_dim=128, vocab=128256, ctx=131072, rope_base=500000.0,
    rope_freqs=True, pre="llama-bpe",
    heads_list=runs((64, 6), (0, 2), (64, 3), (0, 1), (64, 30), (0, 10), (64, 1), (0, 18), (64, 9)),
    kv_heads_list=runs((8, 6), (0, 2), (8, 3), (0, 1), (8, 30), (0, 10), (8, 1), (0, 18), (8, 9)),
    ff_list=runs((14336, 1), (28672, 5), (14336, 2), (28672, 3), (17920, 1), (28672, 30), (7168, 1), (14336, 2),
                 (7168, 1), (28672, 1), (7168, 1), (14336, 1), (7168, 3), (28672, 1), (7168, 1), (5632, 2), (7168, 1),
                 (5632, 3), (7168, 2), (2816, 2), (5632, 2), (2816, 2), (5632, 1), (2816, 2), (28672, 9)))

# Older, or built like them --------------------------------------------------------------------------------------------

add("bitnet-b1.58-3b", older.bitnet, layers=26, embd=3200, heads=32, kv_heads=32, ff=8640, vocab=32002, ctx=2048,
    rope_base=10000.0, tied=True)
add("chameleon-7b", older.chameleon, layers=32, embd=4096, heads=32, kv_heads=32, ff=11008, vocab=65536, ctx=4096,
    rope_base=10000.0)
add("chameleon-30b", older.chameleon, layers=48, embd=8192, heads=64, kv_heads=8, ff=22016, vocab=65536, ctx=4096,
    rope_base=10000.0)
add("codeshell-7b", older.codeshell, layers=42, embd=4096, heads=32, kv_heads=8, ff=16384, vocab=70144, ctx=8192,
    rope_base=10000.0)
add("jais-13b", older.jais, layers=40, embd=5120, heads=40, ff=13653, vocab=84992, ctx=2048)
add("jais-2-8b", older.jais2, approx=True, layers=32, embd=3328, heads=26, kv_heads=26, head_dim=128, ff=26624,
    vocab=150272, ctx=8192, rope_base=500000.0, qkv_bias=True)
add("maincoder-1b", older.maincoder, approx=True, layers=32, embd=1536, heads=16, kv_heads=4, head_dim=96, ff=4096,
    vocab=151936, ctx=2048, rope_base=1000000.0, qk_norm=True, tied=True)
add("olmo-1.7-7b", older.olmo, layers=32, embd=4096, heads=32, kv_heads=32, ff=11008, vocab=50304, ctx=4096)
add("orion-14b", older.orion, layers=40, embd=5120, heads=40, kv_heads=40, ff=15360, vocab=84608, ctx=4096,
    rope_base=10000.0)
add("pangu-embedded-7b", older.pangu_embedded, layers=34, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=12800,
    vocab=153376, ctx=32768, rope_base=16000000.0, qkv_bias=True)
add("plamo-13b", older.plamo, layers=40, embd=5120, heads=40, kv_heads=5, ff=13824, vocab=50432, ctx=4096, eps=1e-6)
add("plamo-3-8b", older.plamo3, approx=True, layers=32, embd=4096, heads=32, kv_heads=4, head_dim=128, ff=12288,
    vocab=107520, ctx=4096, eps=1e-6, rope_base=1000000.0, window=2048, period=8)
add("qwen-7b", older.qwen, layers=32, embd=4096, heads=32, ff=22016, vocab=151936, ctx=8192, eps=1e-6, rope_base=10000.0,
    rope_dim=128)
add("refact-1.6b", older.refact, layers=32, embd=2048, heads=32, kv_heads=1, ff=5632, vocab=49216, ctx=4096)
add("starcoder-15b", older.starcoder, layers=40, embd=6144, heads=48, kv_heads=1, ff=24576, vocab=49152, ctx=8192,
    tied=True)
add("talkie-13b", older.talkie, approx=True, layers=40, embd=5120, heads=40, head_dim=128, ff=13696, vocab=65540,
    ctx=2048, rope_base=1000000.0, logit_scale=1.5)
add("xverse-13b", older.xverse, layers=40, embd=5120, heads=40, kv_heads=40, ff=13824, vocab=100608, ctx=8192, eps=1e-6)

# Diffusion ------------------------------------------------------------------------------------------------------------

add("dream-7b", diffusion.dream, layers=28, embd=3584, heads=28, kv_heads=4, ff=18944, vocab=152064, ctx=131072,
    eps=1e-6, rope_base=1000000.0, qkv_bias=True, pre="qwen2")
add("llada-8b", diffusion.llada, layers=32, embd=4096, heads=32, kv_heads=32, ff=12288, vocab=126464, ctx=4096,
    rope_base=500000.0)
add("llada-moe-7b-a1b", diffusion.llada_moe, approx=True, layers=16, embd=2048, heads=16, kv_heads=16, ff=8192,
    vocab=157184, ctx=8192, rope_base=50000.0, qk_norm=True, experts=64, experts_used=8, expert_ff=1024)
add("rnd1-30b-a3b", diffusion.rnd1, approx=True, layers=48, embd=2048, heads=32, kv_heads=4, head_dim=128, ff=6144,
    vocab=151936, ctx=32768, eps=1e-6, rope_base=1000000.0, qk_norm=True, experts=128, experts_used=8, expert_ff=768)

# Vision ---------------------------------------------------------------------------------------------------------------

add("cogvlm-17b", vision.cogvlm, layers=32, embd=4096, heads=32, ff=11008, vocab=32000, ctx=2048)
add("hunyuan-ocr", vision.hunyuan_vl, approx=True, layers=24, embd=1024, heads=16, kv_heads=8, head_dim=128, ff=3584,
    vocab=120818, ctx=32768, rope_base=10000.0, qk_norm=True, tied=True)
add("paddleocr-vl-0.9b", vision.paddleocr, approx=True, layers=18, embd=1024, heads=16, kv_heads=2, head_dim=128,
    ff=3072, vocab=103424, ctx=131072, rope_base=500000.0)
add("qwen3-vl-8b", vision.qwen3vl, layers=36, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=12288, vocab=151936,
    ctx=262144, eps=1e-6, rope_base=5000000.0, qk_norm=True, pre="qwen2")
add("qwen3-vl-30b-a3b", vision.qwen3vl, layers=48, embd=2048, heads=32, kv_heads=4, head_dim=128, ff=6144, vocab=151936,
    ctx=262144, eps=1e-6, rope_base=5000000.0, qk_norm=True, experts=128, experts_used=8, expert_ff=768, pre="qwen2")
add("granite-vision", vision.granite_vision, approx=True, layers=40, embd=2560, heads=40, kv_heads=8, ff=8192,
    vocab=100352, ctx=131072, rope_base=10000000.0, embedding_scale=12.0, residual_scale=0.22,
    attention_scale=0.015625, logit_scale=10.0, tied=True)

# Sparse ---------------------------------------------------------------------------------------------------------------

add("trinity-mini", sparse.afmoe, approx=True, layers=32, embd=2048, heads=32, kv_heads=4, head_dim=128, ff=6144,
    vocab=200192, ctx=131072, rope_base=10000.0, qk_norm=True, window=2048, period=4, experts=128, experts_used=8,
    expert_ff=1024, shared_experts=1, shared_ff=1024, dense_lead=2, expert_norm=True, expert_scale=2.826, gating=2)
add("arctic", sparse.arctic, layers=35, embd=7168, heads=56, kv_heads=8, ff=4864, vocab=32000, ctx=4096,
    rope_base=10000.0, experts=128, experts_used=2)
add("k-exaone-236b", sparse.exaone_moe, approx=True, layers=48, embd=6144, heads=64, kv_heads=8, head_dim=128,
    ff=18432, vocab=153600, ctx=262144, rope_base=1000000.0, qk_norm=True, window=128, period=4, experts=128,
    experts_used=8, expert_ff=2048, shared_experts=1, shared_ff=2048, dense_lead=1, expert_norm=True,
    expert_scale=2.5, gating=2, nextn=1)
add("grovemoe-33b", sparse.grovemoe, layers=48, embd=2048, heads=32, kv_heads=4, head_dim=128, ff=6144, vocab=151936,
    ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, experts=128, experts_used=8, expert_ff=768)
add("hy-v3", sparse.hy_v3, approx=True, layers=60, embd=4096, heads=64, kv_heads=8, head_dim=128, ff=13312,
    vocab=120832, ctx=262144, rope_base=11158840.0, qk_norm=True, experts=192, experts_used=8, expert_ff=1536,
    shared_ff=1536, dense_lead=1, expert_norm=True, expert_scale=2.5, gating=2, nextn=1)
add("laguna", sparse.laguna, approx=True, layers=40, embd=2048, kv_heads=8, head_dim=128, ff=8192, vocab=100352,
    ctx=131072, eps=1e-6, rope_base=500000.0, qk_norm=True, window=512, period=4,
    heads_list=tuple(64 if i % 4 else 48 for i in range(40)), experts=256, experts_used=8, expert_ff=512,
    shared_experts=1, shared_ff=512, dense_lead=1, expert_norm=True, expert_scale=2.5, gating=2)
add("maple", sparse.maple, approx=True, layers=32, embd=2560, heads=32, kv_heads=8, head_dim=128, vocab=131072,
    ctx=131072, rope_base=10000.0, qk_norm=True, window=1024, period=4, experts=64, experts_used=6, expert_ff=1024)
add("mellum2-12b", sparse.mellum, approx=True, layers=28, embd=2304, heads=32, kv_heads=4, head_dim=128, ff=7168,
    vocab=98304, ctx=131072, rope_base=500000.0, qk_norm=True, window=1024, period=4, experts=64, experts_used=8,
    expert_ff=896)
add("mimo-v2-flash", sparse.mimo2, approx=True, layers=48, embd=4096, heads=64, kv_heads=4, head_dim=192, value_dim=128,
    ff=16384, vocab=152576, ctx=262144, rope_base=5000000.0, rope_dim=64, window=128, period=6, experts=256,
    experts_used=8, expert_ff=2048, dense_lead=1)
add("step-3.5-flash", sparse.step35, approx=True, layers=45, embd=4096, heads=64, kv_heads=8, head_dim=128, ff=11264,
    vocab=128896, ctx=262144, rope_base=5000000.0, qk_norm=True, window=512, period=4, experts=288, experts_used=8,
    expert_ff=1280, shared_ff=1280, dense_lead=3, expert_norm=True, expert_scale=3.0, gating=2, nextn=3)
add("cohere2-moe", sparse.cohere2moe, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=14336,
    vocab=256000, ctx=131072, rope_base=50000.0, window=4096, period=4, experts=64, experts_used=4, expert_ff=2048,
    shared_experts=1, shared_ff=2048, dense_lead=2, expert_norm=True, gating=2, logit_scale=0.25, tied=True)

# Sliding window -------------------------------------------------------------------------------------------------------

add("gemma-2-9b", swa.gemma2, layers=42, embd=3584, heads=16, kv_heads=8, head_dim=256, ff=14336, vocab=256000,
    ctx=8192, eps=1e-6, window=4096, tied=True)
add("gemma-3-1b", swa.gemma3, layers=26, embd=1152, heads=4, kv_heads=1, head_dim=256, ff=6912, vocab=262144, ctx=32768,
    eps=1e-6, rope_base=1000000.0, window=512, qk_norm=True, tied=True)
add("gemma-3-4b", swa.gemma3, layers=34, embd=2560, heads=8, kv_heads=4, head_dim=256, ff=10240, vocab=262144,
    ctx=131072, eps=1e-6, rope_base=1000000.0, window=1024, qk_norm=True, tied=True)
add("gemma-3-12b", swa.gemma3, layers=48, embd=3840, heads=16, kv_heads=8, head_dim=256, ff=15360, vocab=262144,
    ctx=131072, eps=1e-6, rope_base=1000000.0, window=1024, qk_norm=True, tied=True)
add("gemma-3-27b", swa.gemma3, layers=62, embd=5376, heads=32, kv_heads=16, head_dim=128, ff=21504, vocab=262144,
    ctx=131072, eps=1e-6, rope_base=1000000.0, window=1024, qk_norm=True, tied=True)
add("gemma-3n-e4b", swa.gemma3n, approx=True, layers=35, embd=2048, heads=8, kv_heads=2, head_dim=256, ff=16384,
    vocab=262400, ctx=32768, eps=1e-6, rope_base=1000000.0, window=512, period=5, shared_kv=15, layer_embd=256,
    qk_norm=True, tied=True)
add("gemma-4-e2b", swa.gemma4, layers=35, embd=1536, heads=8, kv_heads=1, head_dim=256, global_head_dim=512, ff=6144,
    ff_list=runs((6144, 15), (12288, 20)), vocab=262144, ctx=131072, eps=1e-6, rope_base=1000000.0, window=512,
    period=5, shared_kv=20, layer_embd=256, tied=True)
add("gemma-4-e4b", swa.gemma4, layers=42, embd=2560, heads=8, kv_heads=2, head_dim=256, global_head_dim=512, ff=10240,
    vocab=262144, ctx=131072, eps=1e-6, rope_base=1000000.0, window=512, period=6, shared_kv=18, layer_embd=256,
    tied=True)
# Widths solved from compute buffers published for it, the rest after its siblings.
add("gemma-4-12b", swa.gemma4, approx=True, layers=48, embd=3840, heads=16, kv_heads=8, head_dim=256,
    global_head_dim=512, global_kv_heads=1, global_values=False, ff=15360, vocab=262144, ctx=262144, eps=1e-6,
    rope_base=1000000.0, window=1024, period=6, tied=True)
add("gemma-4-26b-a4b", swa.gemma4, layers=30, embd=2816, heads=16, kv_heads=8, head_dim=256, global_head_dim=512,
    global_kv_heads=2, global_values=False, ff=2112, experts=128, experts_used=8, expert_ff=704, vocab=262144,
    ctx=262144, eps=1e-6, rope_base=1000000.0, window=1024, period=6, tied=True)
add("gemma-4-31b", swa.gemma4, layers=60, embd=5376, heads=32, kv_heads=16, head_dim=256, global_head_dim=512,
    global_kv_heads=4, global_values=False, ff=21504, vocab=262144, ctx=262144, eps=1e-6, rope_base=1000000.0,
    window=1024, period=6, tied=True)
add("embedding-gemma-300m", swa.embedding_gemma, approx=True, layers=24, embd=768, heads=3, kv_heads=1, head_dim=256,
    ff=1152, vocab=262144, ctx=2048, eps=1e-6, rope_base=1000000.0, window=512, qk_norm=True, pooling=1, tied=True)
add("command-r7b", swa.cohere2, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, vocab=256000,
    ctx=132096, rope_base=50000.0, logit_scale=0.25, window=4096, tied=True)
add("gpt-oss-20b", swa.gpt_oss, ftype="MXFP4_MOE", layers=24, embd=2880, heads=64, kv_heads=8, head_dim=64, ff=2880,
    expert_ff=2880, experts=32, experts_used=4, vocab=201088, ctx=131072, rope_base=150000.0, rope_factor=32.0,
    rope_orig_ctx=4096, window=128, qkv_bias=True)
add("gpt-oss-120b", swa.gpt_oss, ftype="MXFP4_MOE", layers=36, embd=2880, heads=64, kv_heads=8, head_dim=64, ff=2880,
    expert_ff=2880, experts=128, experts_used=4, vocab=201088, ctx=131072, rope_base=150000.0, rope_factor=32.0,
    rope_orig_ctx=4096, window=128, qkv_bias=True)
add("llama-4-scout", swa.llama4, layers=48, embd=5120, heads=40, kv_heads=8, head_dim=128, ff=16384, expert_ff=8192,
    experts=16, experts_used=1, moe_step=1, vocab=202048, ctx=10485760, rope_base=500000.0, rope_freqs=True)
add("exaone-4-32b", swa.exaone4, layers=64, embd=5120, heads=40, kv_heads=8, head_dim=128, ff=27392, vocab=102400,
    ctx=131072, rope_base=1000000.0, rope_freqs=True, window=4096, period=4, qk_norm=True)
add("olmo-3-7b", dense.olmo2, layers=32, embd=4096, heads=32, kv_heads=32, ff=11008, vocab=100278, ctx=65536, eps=1e-6,
    rope_base=500000.0, window=4096)

add("granite-4-swa", swa.granite_swa, approx=True, layers=40, embd=2560, heads=40, kv_heads=8, head_dim=64, ff=8192,
    vocab=100352, ctx=131072, rope_base=10000000.0, embedding_scale=12.0, residual_scale=0.22,
    attention_scale=0.015625, logit_scale=10.0, window=4096, period=4, tied=True)
add("muse-glimmer", swa.muse_glimmer, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=11008,
    vocab=131072, ctx=131072, rope_base=10000.0, qk_norm=True, window=1024, period=4, logit_scale=0.25)
add("spark-2.5", swa.spark2_5, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=12288,
    vocab=131072, ctx=131072, rope_base=10000.0, window=1024, period=4)

# Experts --------------------------------------------------------------------------------------------------------------

add("mixtral-8x7b", dense.llama, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, experts=8, experts_used=2,
    vocab=32000, ctx=32768, rope_base=1000000.0)
add("qwen1.5-moe-a2.7b", moe.qwen2moe, layers=24, embd=2048, heads=16, kv_heads=16, ff=5632, expert_ff=1408,
    shared_ff=5632, experts=60, experts_used=4, vocab=151936, ctx=8192, eps=1e-6, rope_base=1000000.0, qkv_bias=True)
add("qwen3-30b-a3b", moe.qwen3moe, layers=48, embd=2048, heads=32, kv_heads=4, head_dim=128, ff=6144, expert_ff=768,
    experts=128, experts_used=8, vocab=151936, ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, pre="qwen2")
add("qwen3-235b-a22b", moe.qwen3moe, layers=94, embd=4096, heads=64, kv_heads=4, head_dim=128, ff=12288, expert_ff=1536,
    experts=128, experts_used=8, vocab=151936, ctx=40960, eps=1e-6, rope_base=1000000.0, qk_norm=True, pre="qwen2")
add("olmoe-7b", moe.olmoe, approx=True, layers=16, embd=2048, heads=16, kv_heads=16, ff=1024, experts=64,
    experts_used=8, vocab=50304, ctx=4096, rope_base=10000.0)
add("granite-3-3b-a800m", moe.granitemoe, approx=True, layers=32, embd=1536, heads=24, kv_heads=8, ff=512, experts=40,
    experts_used=8, vocab=49155, ctx=4096, eps=1e-6, rope_base=10000.0, embedding_scale=12.0, residual_scale=0.22,
    attention_scale=0.015625, logit_scale=6.0, tied=True)
add("dbrx", moe.dbrx, approx=True, layers=40, embd=6144, heads=48, kv_heads=8, ff=10752, experts=16, experts_used=4,
    vocab=100352, ctx=32768, rope_base=500000.0)
add("phi-3.5-moe", moe.phimoe, layers=32, embd=4096, heads=32, kv_heads=8, ff=6400, experts=16, experts_used=2,
    vocab=32064, ctx=131072, rope_base=10000.0, rope_orig_ctx=4096, rope_factors=True, window=131072, qkv_bias=True)
add("glm-4.5-air", moe.glm4moe, layers=46, nextn=1, embd=4096, heads=96, kv_heads=8, head_dim=128, ff=10944,
    expert_ff=1408, experts=128, experts_used=8, shared_experts=1, dense_lead=1, expert_scale=1.0, expert_norm=True,
    gating=2, vocab=151552, ctx=131072, rope_base=1000000.0, rope_dim=64, qkv_bias=True, pre="glm4")
add("deepseek-moe-16b", moe.deepseek, layers=28, embd=2048, heads=16, kv_heads=16, ff=10944, expert_ff=1408, experts=64,
    experts_used=6, shared_experts=2, dense_lead=1, expert_scale=1.0, vocab=102400, ctx=4096, eps=1e-6,
    rope_base=10000.0)
add("ernie-4.5-21b-a3b", moe.ernie4_5_moe, approx=True, layers=28, embd=2560, heads=20, kv_heads=4, head_dim=128,
    ff=12288, expert_ff=1536, shared_ff=3072, experts=64, experts_used=6, shared_experts=2, dense_lead=1, moe_step=1,
    vocab=103424, ctx=131072, rope_base=500000.0, tied=True)
add("hunyuan-a13b", moe.hunyuan_moe, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, head_dim=128, ff=3072,
    expert_ff=3072, shared_ff=3072, experts=64, experts_used=8, shared_experts=1, vocab=128167, ctx=262144,
    rope_base=11158840.0, qk_norm=True, tied=True)
add("ling-lite", moe.bailingmoe, approx=True, layers=28, embd=2048, heads=16, kv_heads=4, head_dim=128, ff=5632,
    expert_ff=1408, experts=64, experts_used=6, shared_experts=2, expert_norm=True, vocab=126464, ctx=16384, eps=1e-6,
    rope_base=600000.0)
add("ling-mini-2.0", moe.bailingmoe2, approx=True, layers=20, embd=2048, heads=16, kv_heads=4, head_dim=128, ff=5120,
    expert_ff=512, experts=256, experts_used=8, shared_experts=1, dense_lead=1, expert_scale=2.5, expert_norm=True,
    gating=2, groups=8, groups_used=4, vocab=157184, ctx=32768, eps=1e-6, rope_base=600000.0, rope_dim=64)
add("dots1", moe.dots1, approx=True, layers=62, embd=4096, heads=32, kv_heads=32, head_dim=128, ff=10944,
    expert_ff=1408, experts=128, experts_used=6, shared_experts=2, dense_lead=1, expert_scale=2.5, expert_norm=True,
    gating=2, vocab=152064, ctx=32768, rope_base=10000000.0, qk_norm=True)
add("minimax-m2.5", moe.minimax_m2, layers=62, embd=3072, heads=48, kv_heads=8, head_dim=128, ff=1536, expert_ff=1536,
    experts=256, experts_used=8, gating=2, vocab=200064, ctx=196608, eps=1e-6, rope_base=5000000.0, rope_dim=64)
add("minimax-m3", moe.minimax_m3, approx=True, layers=60, embd=6144, heads=64, kv_heads=4, head_dim=128, ff=12288,
    expert_ff=3072, experts=128, experts_used=4, shared_experts=1, dense_lead=3, expert_scale=2.0, expert_norm=True,
    gating=2, index_heads=4, index_dim=128, index_top=16, qk_norm=True, vocab=200064, ctx=1048576, eps=1e-6,
    rope_base=5000000.0, rope_dim=64)
add("grok-1", moe.grok, approx=True, layers=64, embd=6144, heads=48, kv_heads=8, ff=32768, experts=8, experts_used=2,
    vocab=131072, ctx=8192, rope_base=10000.0, tied=True)
add("smallthinker-21b", moe.smallthinker, approx=True, layers=52, embd=2560, heads=28, kv_heads=4, head_dim=128, ff=768,
    expert_ff=768, experts=64, experts_used=6, gating=2, vocab=151936, ctx=16384, eps=1e-6, rope_base=1500000.0,
    window=4096)

# Latent attention -----------------------------------------------------------------------------------------------------

add("deepseek-v2-lite", mla.deepseek2, layers=27, embd=2048, heads=16, ff=10944, expert_ff=1408, experts=64,
    experts_used=6, shared_experts=2, dense_lead=1, expert_scale=1.0, gating=1, kv_lora=512, nope_dim=128, rope_dim=64,
    value_dim=128, vocab=102400, ctx=163840, eps=1e-6, rope_base=10000.0, rope_factor=40.0, rope_orig_ctx=4096)
add("deepseek-v2-lite-old", mla.deepseek2_old, layers=27, embd=2048, heads=16, ff=10944, expert_ff=1408, experts=64,
    experts_used=6, shared_experts=2, dense_lead=1, expert_scale=1.0, kv_lora=512, nope_dim=128, rope_dim=64,
    value_dim=128, vocab=102400, ctx=163840, eps=1e-6, rope_base=10000.0, rope_factor=40.0, rope_orig_ctx=4096)
add("deepseek-v3", mla.deepseek2, layers=61, nextn=1, embd=7168, heads=128, ff=18432, expert_ff=2048, experts=256,
    experts_used=8, shared_experts=1, dense_lead=3, expert_scale=2.5, expert_norm=True, gating=2, groups=8,
    groups_used=4, q_lora=1536, kv_lora=512, nope_dim=128, rope_dim=64, value_dim=128, vocab=129280, ctx=163840,
    eps=1e-6, rope_base=10000.0, rope_factor=40.0, rope_orig_ctx=4096)
add("deepseek-v3.2", mla.deepseek32, layers=61, nextn=1, embd=7168, heads=128, ff=18432, expert_ff=2048, experts=256,
    experts_used=8, shared_experts=1, dense_lead=3, expert_scale=2.5, expert_norm=True, gating=2, groups=8,
    groups_used=4, q_lora=1536, kv_lora=512, nope_dim=128, rope_dim=64, value_dim=128, index_heads=64, index_dim=128,
    index_top=2048, vocab=129280, ctx=163840, eps=1e-6, rope_base=10000.0, rope_factor=40.0, rope_orig_ctx=4096)
add("glm-5.2", mla.glm_dsa, layers=78, nextn=1, embd=6144, heads=64, ff=12288, expert_ff=2048, experts=256,
    experts_used=8, shared_experts=1, dense_lead=3, expert_scale=2.5, expert_norm=True, gating=2, groups=1,
    groups_used=1, q_lora=2048, kv_lora=512, nope_dim=192, rope_dim=64, value_dim=256, index_heads=32, index_dim=128,
    index_top=2048, index_full=runs((True, 2)) + runs((True, 1), (False, 3)) * 19, vocab=154880, ctx=1048576,
    rope_base=8000000.0, pre="glm4")
add("glm-4.7-flash", mla.deepseek2, layers=47, nextn=1, embd=2048, heads=20, ff=10240, expert_ff=1536, experts=64,
    experts_used=4, shared_experts=1, dense_lead=1, expert_scale=1.8, expert_norm=True, gating=2, q_lora=768,
    kv_lora=512, nope_dim=192, rope_dim=64, value_dim=256, vocab=154880, ctx=202752, rope_base=1000000.0, pre="glm4")
add("kimi-k2", mla.deepseek2, layers=61, embd=7168, heads=64, ff=18432, expert_ff=2048, experts=384, experts_used=8,
    shared_experts=1, dense_lead=1, expert_scale=2.827, expert_norm=True, gating=2, groups=1, groups_used=1,
    q_lora=1536, kv_lora=512, nope_dim=128, rope_dim=64, value_dim=128, vocab=163840, ctx=131072, eps=1e-6,
    rope_base=50000.0, rope_factor=32.0, rope_orig_ctx=4096)
add("minicpm3-4b", mla.minicpm3, layers=62, embd=2560, heads=40, kv_heads=40, ff=6400, q_lora=768, kv_lora=256,
    nope_dim=64, rope_dim=32, value_dim=64, rope_factors=True, vocab=73448, ctx=32768, tied=True)
add("mistral-small-4-119b", mla.mistral4, approx=True, layers=36, embd=4096, heads=32, ff=12288, expert_ff=2048,
    experts=128, experts_used=4, shared_experts=1, expert_scale=1.0, expert_norm=True, gating=1, q_lora=1024,
    kv_lora=256, nope_dim=64, rope_dim=64, value_dim=128, vocab=131072, ctx=1048576, eps=1e-6, rope_base=10000.0,
    rope_factor=128.0, rope_orig_ctx=8192)
add("plm-1.8b", mla.plm, approx=True, layers=32, embd=2048, heads=16, ff=8192, kv_lora=512, nope_dim=128, rope_dim=64,
    value_dim=128, vocab=151936, ctx=4096, eps=1e-6, rope_base=100000.0, tied=True)
add("deepseek-ocr", mla.deepseek2_ocr, approx=True, layers=12, embd=1280, heads=10, kv_heads=10, ff=6848, expert_ff=896, experts=64,
    experts_used=6, shared_experts=2, dense_lead=1, expert_scale=1.0, gating=1, vocab=129280, ctx=8192, eps=1e-6,
    rope_base=10000.0)

# Without attention ----------------------------------------------------------------------------------------------------

add("mamba-2.8b", recurrent.mamba, layers=64, embd=2560, conv=4, inner=5120, state=16, dt_rank=160, vocab=50280,
    ctx=1048576, tied=True)
add("mamba2-2.7b", recurrent.mamba2, approx=True, layers=64, embd=2560, conv=4, inner=5120, state=128, dt_rank=80,
    ssm_groups=1, vocab=50288, ctx=1048576, tied=True)
add("mamba-codestral-7b", recurrent.mamba2, layers=64, embd=4096, conv=4, inner=8192, state=128, dt_rank=128,
    ssm_groups=8, vocab=32768, ctx=1048576)
add("rwkv6-7b", recurrent.rwkv6, approx=True, layers=32, embd=4096, ff=14336, state=64, lora_mix=64, lora_decay=128,
    vocab=65536, ctx=1048576)
add("rwkv7-2.9b", recurrent.rwkv7, approx=True, layers=32, embd=2560, ff=10240, state=64, lora_decay=96, lora_iclr=96,
    lora_value=64, lora_gate=320, vocab=65536, ctx=1048576)
add("qrwkv6-32b", recurrent.rwkv6qwen2, approx=True, layers=64, embd=5120, kv_heads=8, ff=27648, state=128, lora_mix=64,
    lora_decay=128, qkv_bias=True, vocab=152064, ctx=1048576)
add("arwkv7-7b", recurrent.arwkv7, approx=True, layers=28, embd=3584, ff=18944, state=64, lora_decay=64, lora_iclr=64,
    lora_value=32, vocab=152064, ctx=1048576, eps=1e-6)

# Hybrids --------------------------------------------------------------------------------------------------------------

add("jamba-v0.1", hybrid.jamba, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336, experts=16, experts_used=2,
    moe_step=2, attention_layers=(4, 12, 20, 28), conv=4, inner=8192, state=16, dt_rank=256, vocab=65536, ctx=262144,
    eps=1e-6)
add("granite-4.0-h-tiny", hybrid.granitehybrid, layers=40, embd=1536, heads=12, kv_heads=4, ff=512, shared_ff=1024,
    experts=64, experts_used=6, attention_layers=(5, 15, 25, 35), conv=4, inner=3072, state=128, dt_rank=48,
    ssm_groups=1, vocab=100352, ctx=1048576, embedding_scale=12.0, residual_scale=0.22, attention_scale=0.0078125,
    logit_scale=6.0, tied=True)
add("granite-4.0-h-micro", hybrid.granitehybrid, layers=40, embd=2048, heads=32, kv_heads=8, ff=8192,
    attention_layers=(5, 15, 25, 35), conv=4, inner=4096, state=128, dt_rank=64, ssm_groups=1, vocab=100352,
    ctx=1048576, embedding_scale=12.0, residual_scale=0.22, attention_scale=0.015625, logit_scale=8.0, tied=True)
add("falcon-h1-7b", hybrid.falcon_h1, approx=True, layers=44, embd=3072, heads=12, kv_heads=2, head_dim=128, ff=12288,
    conv=4, inner=3072, state=256, dt_rank=24, ssm_groups=1, vocab=130048, ctx=262144, rope_base=100000000000.0)
add("nemotron-h-56b", hybrid.nemotron_h, layers=118, embd=8192, heads=64, kv_heads=8, head_dim=128, ff=32768,
    pattern="M-M-M-M*-" + "M-M-M-M-M*-" * 9 + "M-M-M-M-M-", conv=4, inner=16384, state=256, dt_rank=256, ssm_groups=8,
    vocab=131072, ctx=1048576)
add("nemotron-3-nano-30b-a3b", hybrid.nemotron_h, layers=52, embd=2688, heads=32, kv_heads=2, head_dim=128, ff=1856,
    expert_ff=1856, shared_ff=3712, experts=128, experts_used=6, shared_experts=1, expert_scale=2.5, expert_norm=True,
    pattern="MEMEM*E" + "MEMEM*E" * 4 + "MEMEMEM*EMEMEMEME", conv=4, inner=4096, state=128, dt_rank=64, ssm_groups=8,
    vocab=131072, ctx=1048576)
add("lfm2-1.2b", hybrid.lfm2, layers=16, embd=2048, heads=32, kv_heads=8, ff=8192, qk_norm=True,
    attention_layers=(2, 5, 8, 10, 12, 14), conv=3, vocab=65536, ctx=128000, rope_base=1000000.0, tied=True)
add("lfm2-8b-a1b", hybrid.lfm2moe, approx=True, layers=24, embd=2048, heads=32, kv_heads=8, ff=7168, expert_ff=1792,
    experts=32, experts_used=4, dense_lead=2, gating=2, qk_norm=True, attention_layers=(2, 6, 10, 14, 18, 21), conv=3,
    vocab=65536, ctx=128000, rope_base=1000000.0, tied=True)
add("qwen3-next-80b-a3b", hybrid.qwen3next, layers=48, embd=2048, heads=16, kv_heads=2, head_dim=256, ff=5120,
    expert_ff=512, shared_ff=512, experts=512, experts_used=10, period=4, conv=4, inner=4096, state=128, dt_rank=32,
    ssm_groups=16, vocab=151936, ctx=262144, eps=1e-6, rope_base=10000000.0, rope_dim=64, pre="qwen2")
add("qwen3-next-80b-a3b-mtp", hybrid.qwen3next, layers=48, nextn=1, embd=2048, heads=16, kv_heads=2, head_dim=256,
    ff=5120, expert_ff=512, shared_ff=512, experts=512, experts_used=10, period=4, conv=4, inner=4096, state=128,
    dt_rank=32, ssm_groups=16, vocab=151936, ctx=262144, eps=1e-6, rope_base=10000000.0, rope_dim=64, pre="qwen2")
add("qwen3.5-4b", hybrid.qwen35, approx=True, layers=32, embd=2560, heads=16, kv_heads=4, head_dim=256, ff=9216,
    period=4, conv=4, inner=4096, state=128, dt_rank=32, ssm_groups=16, vocab=248320, ctx=262144, eps=1e-6,
    rope_base=10000000.0, rope_dim=64, tied=True, pre="qwen35")
add("qwen3.5-9b", hybrid.qwen35, layers=32, nextn=1, embd=4096, heads=16, kv_heads=4, head_dim=256, ff=12288, period=4,
    conv=4, inner=4096, state=128, dt_rank=32, ssm_groups=16, vocab=248320, ctx=262144, eps=1e-6, rope_base=10000000.0,
    rope_dim=64, pre="qwen35")
add("qwen3.5-35b-a3b", hybrid.qwen35moe, layers=40, nextn=1, embd=2048, heads=16, kv_heads=2, head_dim=256,
    expert_ff=512, shared_ff=512, experts=256, experts_used=8, period=4, conv=4, inner=4096, state=128, dt_rank=32,
    ssm_groups=16, vocab=248320, ctx=262144, eps=1e-6, rope_base=10000000.0, rope_dim=64, pre="qwen35")
add("plamo-2-8b", hybrid.plamo2, approx=True, layers=32, embd=4096, heads=32, kv_heads=4, head_dim=128, ff=16384,
    attention_layers=tuple(range(1, 32, 2)), conv=4, inner=8192, state=64, dt_rank=64, vocab=100000, ctx=10485760,
    eps=1e-6, rope_base=10000.0, tied=True)
add("kimi-linear-48b-a3b", hybrid.kimi_linear, approx=True, layers=27, embd=2304, heads=32, ff=9216, expert_ff=1024,
    experts=256, experts_used=8, shared_experts=1, dense_lead=1, expert_scale=2.446, expert_norm=True, gating=2,
    attention_layers=(3, 7, 11, 15, 19, 23, 26), kv_lora=512, nope_dim=128, rope_dim=64, value_dim=128, conv=4,
    state=128, vocab=163840, ctx=1048576, rope_base=10000.0)
add("ling-3-7.9b-a1.3b", hybrid.bailingmoe3, approx=True, layers=24, nextn=1, embd=1536, heads=16, ff=5120,
    expert_ff=512, experts=128, experts_used=8, shared_experts=1, dense_lead=1, expert_scale=2.5, expert_norm=True,
    gating=2, attention_layers=(3, 7, 11, 15, 19, 23), q_lora=768, kv_lora=512, nope_dim=128, rope_dim=64,
    value_dim=128, conv=4, state=128, vocab=157184, ctx=131072, eps=1e-6, rope_base=600000.0)
add("minimax-text-01", hybrid.minimax_01, approx=True, layers=80, embd=6144, heads=64, kv_heads=8, head_dim=128, ff=9216, experts=32,
    experts_used=2, period=8, vocab=200064, ctx=10240000, rope_base=10000000.0, rope_dim=64,
    residual_scale=3.5565588200778455)

# Encoders -------------------------------------------------------------------------------------------------------------

add("bert-base", encoders.bert, ftype="F16", layers=12, embd=768, heads=12, ff=3072, vocab=30522, ctx=512, eps=1e-12,
    token_types=2, pooling=1)
add("bge-large", encoders.bert, ftype="F16", layers=24, embd=1024, heads=16, ff=4096, vocab=30522, ctx=512, eps=1e-12,
    token_types=2, pooling=2)
add("bge-m3", encoders.bert, ftype="F16", layers=24, embd=1024, heads=16, ff=4096, vocab=250002, ctx=8192,
    token_types=1, pooling=2)
add("nomic-embed-v1.5", encoders.nomic_bert, approx=True, ftype="F16", layers=12, embd=768, heads=12, ff=3072,
    vocab=30522, ctx=2048, eps=1e-12, rope_base=1000.0, token_types=2, pooling=1)
add("jina-v2-base", encoders.jina_bert_v2, approx=True, ftype="F16", layers=12, embd=768, heads=12, ff=3072,
    vocab=30528, ctx=8192, eps=1e-12, token_types=2, pooling=1)
add("modern-bert-base", encoders.modern_bert, approx=True, ftype="F16", layers=22, embd=768, heads=12, ff=1152,
    vocab=50368, ctx=8192, rope_base=160000.0, window=128, period=3, pooling=1)
add("bge-reranker-v2-m3", encoders.bert_reranker, ftype="F16", layers=24, embd=1024, heads=16, ff=4096, vocab=250002,
    ctx=8192, token_types=1, pooling=4)
add("jina-v2-base-code", encoders.jina_bert_v2_code, approx=True, ftype="F16", layers=12, embd=768, heads=12, ff=3072,
    vocab=61056, ctx=8192, eps=1e-12, token_types=2, pooling=1)
add("jina-v3", encoders.jina_bert_v3, approx=True, ftype="F16", layers=24, embd=1024, heads=16, ff=4096, vocab=250002,
    ctx=8194, rope_base=20000.0, token_types=1, pooling=1)
add("nomic-embed-v2-moe", encoders.nomic_bert_moe, approx=True, ftype="F16", layers=12, embd=768, heads=12, ff=3072,
    vocab=250048, ctx=512, rope_base=10000.0, token_types=1, pooling=1, experts=8, experts_used=2, moe_step=2)
add("neobert", encoders.neo_bert, approx=True, ftype="F16", layers=28, embd=768, heads=12, ff=2048, vocab=30522,
    ctx=4096, pooling=2)
add("eurobert-210m", encoders.eurobert, approx=True, ftype="F16", layers=12, embd=768, heads=12, kv_heads=12, ff=3072,
    vocab=128256, ctx=8192, rope_base=250000.0, pooling=1)
add("llama-embed-8b", encoders.llama_embed, approx=True, layers=32, embd=4096, heads=32, kv_heads=8, ff=14336,
    vocab=128256, ctx=131072, rope_base=500000.0, rope_freqs=True, tied=True, pooling=1)
add("t5-v1_1-xxl-encoder", encoders.t5encoder, ftype="F16", layers=24, embd=4096, heads=64, head_dim=64, ff=10240,
    vocab=32128, ctx=512, eps=1e-6)
add("flan-t5-base", encoders.t5, ftype="F16", layers=12, embd=768, heads=12, head_dim=64, ff=2048, vocab=32128, ctx=512,
    eps=1e-6)

# Beside a model -------------------------------------------------------------------------------------------------------

add("mmproj-gemma-3-4b", extras.gemma3_projector, kind="mmproj", ftype="F16", layers=27, embd=1152, heads=16, ff=4304,
    image=896, patch=14, target_embd=2560, vocab=0, ctx=0, eps=1e-6)
add("mmproj-qwen2.5-vl-7b", extras.qwen25vl_projector, kind="mmproj", ftype="F16", layers=32, embd=1280, heads=16,
    ff=3420, image=560, patch=14, target_embd=3584, vocab=0, ctx=0, eps=1e-6)
add("lora-llama-3.1-8b", extras.llama_lora, kind="lora", ftype="F32", layers=32, embd=4096, heads=32, kv_heads=8,
    ff=14336, rank=16, vocab=0, ctx=0)
add("eagle3-llama-3.1-8b", extras.eagle3, approx=True, kind="draft", ftype="F16", layers=1, embd=4096, heads=32,
    kv_heads=8, ff=14336, target_embd=4096, target_layers=(2, 16, 29), draft_vocab=32000, vocab=128256, ctx=2048,
    rope_base=500000.0)
