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

enum { PLIM_MAX_FIXES = 12, PLIM_FIX_MAX_CHANGES = 8 };

/* An option of the engine with its new value; a switch has none. */
struct plim_change {
    const struct plim_option *option;
    char value[256];
};

struct plim_lever;

enum plim_fix_kind {
    PLIM_FIX_OTHERS = 0, /* free what other processes hold */
    PLIM_FIX_LEVER,      /* change one thing */
    PLIM_FIX_TOGETHER,   /* several at once, when no single one is enough */
    PLIM_FIX_QUANT,      /* another quantization of the same model: another file */
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
    struct plim_setup setup;  /* after it (but for another quantization: that is another file) */
    const char *quant_recipe; /* PLIM_FIX_QUANT: by llama-quantize's name, "Q3_K_M"; else NULL */
    bool is_from_quantized;   /* the file at hand is quantized itself: making another of it loses more quality */
    bool needs_imatrix;       /* llama-quantize wants an importance matrix for it */
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

#ifdef __cplusplus
}
#endif

#endif
