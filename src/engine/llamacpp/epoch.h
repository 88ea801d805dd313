/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_EPOCH_H
#define PLIMSOLL_ENGINE_LLAMACPP_EPOCH_H

/*
 * The rules that a version of llama.cpp follows. Only changes of a figure by more than a rounding are told apart; a
 * wider band, never called exact, covers the other differences of versions before the proven ones.
 */

#include "base/error.h"

#include <stdbool.h>

struct plim_epoch {
    char version[24];           /* as given: "v0.5.0", "b10256" */
    bool is_proven;             /* the rules are those the engine tests compare with */
    bool is_compared;           /* a build before those: its buffers are compared, on common architectures */
    bool is_newer;              /* than those: its changes are not known */
    bool caps_outputs;          /* llama-server reserves logits for its slots, not for the whole batch */
    bool reserves_kv_scratch;   /* f16 copies of a quantized cache are in the compute buffer, not in the pool */
    bool has_cublas_workspace;  /* an explicit one; before, cuBLAS took its own */
    bool has_fit;               /* --fit exists and is on */
    bool has_automatic_slots;   /* llama-server without -np: four slots that share one cache */
    bool has_gpu_defaults;      /* without -fa and -ngl: automatic, and all layers; before, off and no layers */
    bool has_swa_cache;         /* sliding layers keep their window; before, all of the context */
    bool offloads_output_first; /* -ngl counts the output layer first; before, last */
    bool has_streams;           /* a cache for each sequence; before, all share one */
    bool has_row_inputs;        /* the rows to write in a cache are inputs of the graph */
    bool has_wide_cells;        /* caches have a multiple of 256 cells; before, of 32 without flash attention */
    bool pads_masks;            /* masks have a multiple of 64 rows, and batches at least 64 tokens */
    bool has_embd_input;        /* a batch can be embeddings: an input of the graph, used or not */
    bool has_f16_mask;          /* with flash attention; before, the mask is f32 and converted on the device */
    bool loses_pins;            /* the scheduler is reset after the graph is built, and with it nodes' devices */
    bool has_flash_types;       /* CUDA's flash attention reads all cache types, K and V of different ones too */
    bool has_flash_bf16;        /* and bf16 */
    bool has_v_part;            /* V of latent attention is a part of K; before, it had a cache of its own */
    bool gets_quant_rows;       /* CUDA reads single rows of K- and I-quants */
    bool has_rotation;          /* Q, K and V of a quantized cache are rotated */
    bool shares_hybrid_cells;   /* sequences of a hybrid model share the context; before, each had all of it */
    bool has_layer_norms;       /* the embeddings' norm and per-layer projection go with the first layer */
    bool caches_nextn;          /* prediction layers have a cache that is not used */
    bool filters_nextn;         /* but not in all architectures */
    bool loads_nextn_bias;      /* the biases of Q, K and V of prediction layers are loaded */
    bool expands_layer_inputs;  /* Gemma 3n picks the embeddings of all layers before anything else */
    bool has_lfm2_output;       /* LFM2 has an output of its own, a copy of the embeddings */
    bool has_lfm2_norm;         /* and a norm before it; before, that was a norm of the embeddings by its name */
    bool reserves_all_seqs;     /* graphs have all sequences; before, one where they share a cache */
    bool rounds_outputs;        /* to a multiple of the sequences, as the tokens */
    bool keeps_fused;           /* fused CUDA kernels keep the tensors that they read */
};

/* The oldest and the newest version whose rules are those that v0.5.0 is compared with. */
#define PLIM_EPOCH_PROVEN_FROM "v0.4.1"
#define PLIM_EPOCH_PROVEN_TO   "v0.6.0"

/* The builds before that are compared (tests/data/receipts-llama.cpp-older.txt), NULL at the end; and as words. */
extern const char *const plim_epoch_compared[];
#define PLIM_EPOCH_COMPARED "b6133, b6845, b8390, b9842 and b10361"

/* From the version part of an engine spec ("v0.5.0", "b10256"); NULL or "" is the newest proven. */
int plim_epoch_find(const char *version, struct plim_epoch *ret_epoch, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
