/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_CATALOGUE_SUMMARY_H
#define PLIMSOLL_MODEL_CATALOGUE_SUMMARY_H

/* A model of the catalogue in figures: parameters, context, and the bytes of its tensors at common quantizations. */

#include "base/error.h"
#include "plimsoll/catalogue.h"

enum { PLIM_SUMMARY_MAX_QUANTS = 5, PLIM_SUMMARY_MAX_DOUBTS = 6 };

/* Where a number of parameters comes from. */
enum plim_params_from {
    PLIM_PARAMS_UNKNOWN = 0,
    PLIM_PARAMS_COUNTED, /* the tensors that follow from the config */
    PLIM_PARAMS_STATED,  /* a published figure, mostly rounded */
};

struct plim_model_summary {
    size_t model; /* in the catalogue */
    uint64_t params, params_active;
    enum plim_params_from params_from;
    uint32_t n_ctx_train; /* 0: unknown */
    char arch[64];        /* of the GGUF file; of the config when there is no forecast */
    enum plim_model_forecast forecast;
    struct plim_error no_forecast; /* why there is none; code 0 with one */
    uint32_t n_doubts;
    char doubts[PLIM_SUMMARY_MAX_DOUBTS][160];
    uint32_t n_quants; /* 0 without a forecast */
    struct {
        const char *name;
        uint64_t tensor_bytes;
    } quants[PLIM_SUMMARY_MAX_QUANTS];
};

/* Fails for want of memory only; a model without rules has one without sizes. is_brief: at Q4_K_M, Q8_0 and F16. */
int plim_model_summarize(size_t model, bool is_brief, struct plim_model_summary *ret_summary,
                         struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
