/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_PLAN_H
#define PLIMSOLL_PLAN_H

/*
 * What to change first: the changes to a setup that would make it fit, in the order a careful friend would give them,
 * each with the bytes it frees, what it costs and the verdict its own bill gives.
 */

#include "plimsoll/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PLIM_MAX_FIXES = 12, PLIM_FIX_MAX_CHANGES = 8 };

/* A flag of the engine with its new value (NULL: a switch). */
struct plim_flag_change {
    const char *flag;
    char value[256];
    bool is_switch;
};

enum plim_fix_kind {
    PLIM_FIX_OTHERS = 0, /* free what other processes hold */
    PLIM_FIX_CONTEXT,
    PLIM_FIX_CACHE_TYPE,
    PLIM_FIX_FLASH_ATTN,
    PLIM_FIX_UBATCH,
    PLIM_FIX_SLOTS,
    PLIM_FIX_EXPERTS,
    PLIM_FIX_LAYERS,
    PLIM_FIX_TOGETHER, /* several at once, when none is enough by itself */
    PLIM_FIX_QUANT,    /* another quant of the same model: another file */
    PLIM_FIX_MAX_
};

struct plim_fix {
    enum plim_fix_kind kind;
    char change[160];          /* "a context of 9216 tokens instead of 32768" */
    char costs[160];           /* "conversations longer than that are cut off" */
    int64_t frees_bytes;       /* on the device that decides */
    uint64_t host_lacks_bytes; /* after it, what the host has too little; 0: nothing, or it is not known */
    enum plim_verdict verdict_after;
    double tokens_per_s_low, tokens_per_s_high; /* after it; 0: unknown */
    uint32_t n_changes;
    struct plim_flag_change changes[PLIM_FIX_MAX_CHANGES];
    struct plim_setup setup; /* after it (but for another quant: that is another file) */
    const char *mixture;     /* PLIM_FIX_QUANT: the quant by llama-quantize's name, "Q3_K_M"; else NULL */
    bool is_from_quantized;  /* the file at hand is quantized itself: making another of it loses more than it must */
    bool needs_imatrix;      /* llama-quantize wants an importance matrix for it */
};

/*
 * Up to max fixes for a setup whose bill does not fit, or is tight. The setup's strings and models must outlive them.
 * For verdicts that are unknown there are none.
 */
int plim_plan_fixes(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, struct plim_fix *ret_fixes,
                    uint32_t max, uint32_t *ret_n, struct plim_error *reterr);

#ifdef __cplusplus
}
#endif

#endif
