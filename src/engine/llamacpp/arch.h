/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_ARCH_H
#define PLIMSOLL_ENGINE_LLAMACPP_ARCH_H

/*
 * The architectures llama.cpp knows, one row each: which memory a context keeps, which layers slide or recur, and how
 * the compute graph is built. A row holds only facts that the tensors of a file cannot show: the projections, norms,
 * biases and experts of a layer are read from the file itself.
 *
 * Source: src/llama-arch.cpp, src/llama-model.cpp (create_memory) and src/models/NAME.cpp (load_arch_hparams, graph)
 * of llama.cpp between v0.4.1 and v0.6.0. A row that builds a graph is compared with what v0.5.0 allocates: it has a
 * model in tests/gguf/zoo.py and tests/engine loads that.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_build;

/* The memory of a context. */
enum plim_llama_memory_kind {
    PLIM_LLAMA_MEMORY_ATTENTION = 0, /* K and V (K only with MLA) of every layer that attends */
    PLIM_LLAMA_MEMORY_NONE,          /* encoders and diffusion models: nothing */
    PLIM_LLAMA_MEMORY_RECURRENT,     /* a fixed state per sequence */
    PLIM_LLAMA_MEMORY_HYBRID,        /* attention in some layers, a state in others */
    PLIM_LLAMA_MEMORY_DSA,           /* MLA plus the keys of a sparse indexer (DeepSeek-3.2, GLM-5) */
    PLIM_LLAMA_MEMORY_MSA,           /* K and V plus indexer keys after the dense layers (MiniMax-M3) */
    PLIM_LLAMA_MEMORY_OTHER,         /* a layout that is not modelled: no figure */
};

/* The layers that see only a window. */
enum plim_swa_rule {
    PLIM_SWA_NEVER = 0,
    PLIM_SWA_IF_WINDOW, /* the file gives attention.sliding_window > 0 */
    PLIM_SWA_ALWAYS,    /* with the row's window unless the file gives one */
    PLIM_SWA_ARRAY,     /* the file lists the layers; all layers when it gives no list */
    PLIM_SWA_LLAMA4,    /* chunks of 8192 unless the file gives a window of 0 */
    PLIM_SWA_ATTENTION, /* if a window is given, every layer that attends (LFM2) */
    PLIM_SWA_64_LAYERS, /* only models of 64 layers (EXAONE 4: the 32B) */
};

/* The layers that keep a state instead of K and V. */
enum plim_recurrent_rule {
    PLIM_RECURRENT_NEVER = 0,
    PLIM_RECURRENT_ALL,
    PLIM_RECURRENT_NO_KV_HEADS, /* head_count_kv[il] == 0 */
    PLIM_RECURRENT_NO_KV_NO_FF, /* and feed_forward_length[il] == 0 (Nemotron-H) */
    PLIM_RECURRENT_INTERVAL,    /* all but every full_attention_interval-th layer (Qwen3-Next) */
    PLIM_RECURRENT_EVERY_BOTH,  /* every layer attends and keeps a state (Falcon-H1) */
};

/* The layers that rotate Q and K. */
enum plim_rope_rule {
    PLIM_ROPE_ALL = 0,
    PLIM_ROPE_NEVER,
    PLIM_ROPE_SLIDING,          /* sliding layers */
    PLIM_ROPE_SLIDING_OR_DENSE, /* sliding layers and the leading dense ones */
    PLIM_ROPE_NOT_4TH,          /* all but layers 3, 7, 11 ... */
    PLIM_ROPE_NOT_FIRST_OF_4,   /* all but layers 0, 4, 8 ... of models with a window */
    PLIM_ROPE_FINETUNED,        /* unless the file has rope.scaling.finetuned = false (Granite 4) */
    PLIM_ROPE_NOT_40_LAYERS,    /* Baichuan: the 13B has ALiBi instead */
};

/* The input of the feed-forward part, and the order in which the three parts of a layer are summed. */
enum plim_residual_rule {
    PLIM_RESIDUAL_SERIAL = 0,    /* h = attention + x; feed-forward(norm(h)) + h */
    PLIM_RESIDUAL_SHARED_NORM,   /* serial, but without a norm the feed-forward reads attention's input (StableLM) */
    PLIM_RESIDUAL_FFN_ATTN_X,    /* (feed-forward + attention) + x */
    PLIM_RESIDUAL_ATTN_FFN_X,    /* (attention + feed-forward) + x */
    PLIM_RESIDUAL_FFN_X_ATTN,    /* (feed-forward + x) + attention */
    PLIM_RESIDUAL_FFN_X_ATTN_IF, /* that, when use_parallel_residual (GPT-NeoX) */
};

/* The position at which the rows that need logits are picked out. */
enum plim_rows_rule {
    PLIM_ROWS_LAST_LAYER = 0, /* before the feed-forward part of the last layer */
    PLIM_ROWS_BEFORE_NORM,    /* before the output norm */
    PLIM_ROWS_AFTER_NORM,     /* after it */
    PLIM_ROWS_ALL,            /* never: every token has logits */
};

/* The other properties of a decoder that its tensors do not show. */
enum {
    PLIM_GGML_GRAPH_LAYER_NORM = 1 << 0,   /* LayerNorm: not in place */
    PLIM_GGML_GRAPH_BARE_NORM = 1 << 1,    /* norms without weights where the file has no weights */
    PLIM_GGML_GRAPH_QK_NORM_FLAT = 1 << 2, /* Q and K are normalized before they are split into heads */
    PLIM_GGML_GRAPH_QK_NORM_LATE = 1 << 3, /* ... or after RoPE */
    PLIM_GGML_GRAPH_QK_RMS = 1 << 4,       /* Q and K are RMS-normalized without weights after RoPE */
    PLIM_GGML_GRAPH_SOFTCAP = 1 << 5,      /* attention logits are soft-capped */
    PLIM_GGML_GRAPH_ATTN_SCALE = 1 << 6,   /* Q is scaled by a per-token input */
    PLIM_GGML_GRAPH_EMBD_SCALE = 1 << 7,   /* the embeddings are scaled */
    PLIM_GGML_GRAPH_EMBD_NORM = 1 << 8,    /* the embeddings are normalized, with token_embd_norm if the file has it */
    PLIM_GGML_GRAPH_MOE_NORM = 1 << 9,     /* the chosen weights are normalized, unless the file's key differs */
    PLIM_GGML_GRAPH_MOE_SOFTMAX_LATE = 1 << 10, /* softmax over the chosen experts only */
    PLIM_GGML_GRAPH_MOE_WEIGHT_EARLY = 1 << 11, /* inputs are weighted, not outputs (Llama 4) */
    PLIM_GGML_GRAPH_MOE_SELECT_EARLY =
        1 << 12, /* experts are selected by something other than their weights (Llama 4, Grove) */
    PLIM_GGML_GRAPH_SHARED_SILU_GATE = 1 << 13, /* the shared expert's gate is silu(x)/x, not sigmoid */
    PLIM_GGML_GRAPH_ROUTER_FIRST = 1 << 14,     /* the router reads the layer's input (SmallThinker) */
    PLIM_GGML_GRAPH_ENCODER = 1 << 15,          /* attends to the batch itself, no logits */
    PLIM_GGML_GRAPH_NOT_CAUSAL =
        1 << 16, /* attends to the batch itself, never causal, even if the file's key differs */
    PLIM_GGML_GRAPH_X_PLUS_ATTN = 1 << 17, /* x + attention instead of attention + x: the first can be written over */
    PLIM_GGML_GRAPH_X_PLUS_FFN = 1 << 18,  /* the same for the feed-forward part */
    PLIM_GGML_GRAPH_ROPE_FREQS_FULL = 1 << 19,  /* rope_freqs only where a layer sees everything (Gemma 4, Step) */
    PLIM_GGML_GRAPH_HEAD_SCALE = 1 << 20,       /* the final embedding is scaled before the output matrix (MiniCPM3) */
    PLIM_GGML_GRAPH_RANK_SOFTMAX = 1 << 21,     /* a reranker's score is a softmax (Qwen3) */
    PLIM_GGML_GRAPH_MOE_DOWN_F32 = 1 << 22,     /* experts' last product in f32: CUDA has no kernel (Mistral 4) */
    PLIM_GGML_GRAPH_ALL_OUTPUTS = 1 << 23,      /* n_outputs_max counts for nothing (llama_model_has_encoder) */
    PLIM_GGML_GRAPH_QK_LAYER_NORM = 1 << 24,    /* Q and K have LayerNorm (Chameleon) */
    PLIM_GGML_GRAPH_IMAGE_LOGITS = 1 << 25,     /* the logits of image tokens are overwritten, in a copy (Chameleon) */
    PLIM_GGML_GRAPH_NORM_BEFORE_ROWS = 1 << 26, /* the norm after attention comes before the last rows are picked out */
    PLIM_GGML_GRAPH_QKV_CONT = 1 << 27,         /* the parts of fused projections are copied out (Step 3.5) */
    PLIM_GGML_GRAPH_EMBD_SKIP = 1 << 28,        /* every layer adds the embeddings again, scaled (Talkie) */
    PLIM_GGML_GRAPH_REPEAT_KEYS = 1 << 29,      /* keys are repeated for every head of values (Qwen3-Next) */
};

struct plim_arch {
    const char *name;
    void (*build)(struct plim_build *b); /* NULL: not compared with the engine, the compute buffer is only bounded */
    uint32_t graph;                      /* PLIM_GGML_GRAPH_* */
    uint16_t swa_window;
    uint8_t memory; /* enum plim_llama_memory_kind */
    uint8_t swa;    /* enum plim_swa_rule */
    uint8_t swa_period;
    uint8_t recurrent; /* enum plim_recurrent_rule */
    uint8_t rope;      /* enum plim_rope_rule */
    uint8_t residual;  /* enum plim_residual_rule */
    uint8_t rows;      /* enum plim_rows_rule */
    bool swa_dense_first;
    bool reserves_one_seq; /* buffers are reserved for one sequence too (sched_reserve: TAG_RESERVE_DIAG_DECAY) */
    bool has_scan;         /* its states are advanced by SSM_SCAN (Mamba) */
    bool has_rollback;     /* keeps n_rs_seq earlier states (llama-arch.cpp: llm_arch_supports_rs_rollback) */
    bool no_logits_when_embedding; /* not in a context for embeddings */
    bool no_output;                /* the token embedding is not copied for the output (encoders, BitNet) */
};

/* The row of this name (general.architecture), or NULL. */
const struct plim_arch *plim_arch_find(const char *name);

/* All rows, sorted by name. */
const struct plim_arch *plim_arch_table(int *ret_n);

#endif
