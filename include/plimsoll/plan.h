/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_PLAN_H
#define PLIMSOLL_PLAN_H

/*
 * Fixes: the changes to a setup that would make it fit, cheapest first, each with the bytes it frees, its costs and the
 * verdict of its own bill.
 */

#include "plimsoll/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_MAX_FIXES = 12, PLIM_FIX_MAX_CHANGES = 8, PLIM_FIX_MAX_ENDS = 8 };

/* An option of the engine with its new value; a switch has none. */
struct plim_change {
    const struct plim_option *option;
    char value[256];
};

struct plim_lever;

enum plim_fix_kind {
    PLIM_FIX_OTHERS = 0, /* free what other processes hold, where nobody knows which */
    PLIM_FIX_LEVER,      /* change one thing */
    PLIM_FIX_TOGETHER,   /* several at once, when no single one is enough */
    PLIM_FIX_QUANT,      /* another quantization of the same model: another file */
    PLIM_FIX_END,        /* end processes that nobody waits for */
    PLIM_FIX_MAX_
};

struct plim_fix {
    enum plim_fix_kind kind;
    const struct plim_lever *lever; /* PLIM_FIX_LEVER: the engine's */
    char change[160];               /* "a context of 9216 tokens instead of 32768" */
    char costs[160];                /* "conversations longer than that are cut off" */
    int64_t frees_bytes;            /* on the device that decides */
    uint64_t host_lacks_bytes;      /* RAM that the host lacks after it; 0: it has enough, or its RAM is unknown */
    enum plim_verdict verdict_after;
    double tokens_per_s_low, tokens_per_s_high; /* after it; 0: unknown */
    uint32_t n_changes;
    struct plim_change changes[PLIM_FIX_MAX_CHANGES];
    struct plim_setup setup;         /* after it (but for another quantization: that is another file) */
    const char *quant_recipe;        /* PLIM_FIX_QUANT: by llama-quantize's name, "Q3_K_M"; else NULL */
    bool is_from_quantized;          /* the file at hand is quantized itself: making another of it loses more quality */
    bool needs_imatrix;              /* llama-quantize wants an importance matrix for it */
    uint32_t n_ends;                 /* PLIM_FIX_END: */
    int64_t ends[PLIM_FIX_MAX_ENDS]; /* pids */
};

/* "context", "cache_type", "together" ...: the kind of a fix, as tests and programs name it. */
const char *plim_fix_name(const struct plim_fix *fix);

/*
 * Up to max fixes for a setup whose bill does not fit, or is tight. The setup's strings and models must outlive them.
 * An unknown verdict gets no fixes.
 */
int plim_plan_fixes(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, struct plim_fix *ret_fixes,
                    uint32_t max, uint32_t *ret_n, struct plim_error *reterr);

/*
 * The verdict with the memory of all other processes back. PLIM_VERDICT_UNKNOWN when there are none on the device that
 * decides.
 */
int plim_plan_alone(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, enum plim_verdict *ret_verdict,
                    struct plim_error *reterr);

/* The room in a setup that fits, each figure with everything else left as it is; 0: cannot be told. */
struct plim_room {
    uint32_t n_ctx;      /* the largest context that fits, all slots together */
    bool is_ctx_all;     /* it is all that the model was trained for */
    uint32_t n_slots;    /* the most slots that fit, each with a context of its own of ... */
    uint32_t n_ctx_slot; /* ... so many tokens: those that a slot has now */
};

/* All 0 when the bill does not fit. The values are exact at their edge: with one step more it does not fit. */
int plim_plan_room(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                   const struct plim_margin *margin, const struct plim_bill *bill, struct plim_room *ret_room,
                   struct plim_error *reterr);

/*
 * The setup with a context for a conversation where it leaves the context open, which would be all that the model was
 * trained for. Returns 1 when it does, 0 when it is as it was; *ret_n_ctx is the context of all slots together, 0 when
 * it cannot be told. ret_setup may be setup.
 */
int plim_plan_context(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                      const struct plim_margin *margin, struct plim_setup *ret_setup, uint32_t *ret_n_ctx,
                      struct plim_error *reterr);

/* --- quantizations of one model --- */

enum { PLIM_MAX_QUANT_ROWS = 64 };

/* A quantization of a model on a machine. */
struct plim_quant_row {
    const char *recipe; /* llama-quantize's name, "Q4_K_M"; NULL: the model as it is */
    char file_type[16]; /* of that: "Q4_K_M", "BF16"; "": unknown */
    bool needs_imatrix; /* llama-quantize wants an importance matrix for it */
    bool has_loss;
    double loss; /* perplexity above that of f16, on Llama 3 8B (data/quants.csv) */
    uint64_t tensor_bytes, file_bytes;
    double bits_per_weight;
    enum plim_verdict verdict;
    int64_t left_bytes; /* on the device that decides; negative when it does not fit */
    uint32_t n_ctx;     /* the largest context that fits, all slots together; 0: none, or it cannot be told */
    bool is_ctx_all;    /* it is all that the model was trained for */
    double tokens_per_s_low, tokens_per_s_high; /* 0: unknown */
};

struct plim_quant_table {
    struct plim_quant_row row[PLIM_MAX_QUANT_ROWS]; /* the model as it is, then from good to small */
    size_t n;
    int best;                     /* the row that fits and loses least; -1: none fits */
    struct plim_setup setup;      /* of all rows */
    uint32_t n_ctx;               /* its context, all slots together; 0: unknown */
    double least_bits_per_weight; /* as wished */
    bool is_ctx_assumed;          /* enough for a conversation, as the given setup leaves it open */
};

/* What a table of quantizations is asked for. */
struct plim_quant_wish {
    const char *version;          /* of the engine; NULL: the newest that is proven */
    double least_bits_per_weight; /* a row of less is never the best */
    bool has_contexts;            /* look for the largest context of each */
    /* NULL, or called for each row with the bill it comes from; both are gone when it returns. */
    void (*report)(void *data, struct plim_engine *engine, const struct plim_bill *bill,
                   const struct plim_quant_table *table);
    void *data;
};

/*
 * The quantizations of a model that are worth choosing (each is smaller than all that lose less), each with its verdict
 * and the largest context that fits. `model` is in full or half precision; what llama-quantize refuses to make is left
 * out. Where the setup leaves the context open, it gets one for a conversation. PLIM_E_UNSUPPORTED as below.
 */
int plim_plan_quant_table(const struct plim_model *model, const struct plim_setup *setup,
                          const struct plim_machine *machine, const struct plim_margin *margin,
                          const struct plim_quant_wish *wish, struct plim_quant_table *ret_table,
                          struct plim_error *reterr);

/* --- cards that carry a model --- */

/* One card of the catalogue, or several of them, and the verdict on a setup there. */
struct plim_carrier {
    size_t card; /* of the catalogue */
    uint32_t n_cards;
    enum plim_verdict verdict; /* fits or tight */
    uint64_t total_bytes;      /* of all of them */
    int64_t left_bytes;        /* on the one that decides */
    double tokens_per_s_low, tokens_per_s_high;
};

/*
 * The cards that carry a setup, smallest first: each alone, or where one is not enough two of it. `wanted` says which
 * of the catalogue count (NULL: all); PLIM_E_NOT_FOUND when none does. The list is the caller's to free with
 * plim_carriers_free(); it is empty when none carries it. PLIM_E_UNSUPPORTED when the engine refuses the setup or its
 * rules are not known. The host has RAM enough: the question is about cards.
 */
int plim_plan_carriers(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_margin *margin,
                       bool (*wanted)(size_t card, const void *data), const void *data,
                       struct plim_carrier **ret_carriers, size_t *ret_n, struct plim_error *reterr);
void plim_carriers_free(struct plim_carrier *carriers);

#ifdef __cplusplus
}
#endif

#endif
