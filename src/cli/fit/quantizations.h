/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_FIT_QUANTIZATIONS_H
#define PLIMSOLL_CLI_FIT_QUANTIZATIONS_H

/* Whether the models of a table are quantizations of one model, and the largest that fits. All zero: no model. */

#include "plimsoll/model.h"

struct plim_quantizations {
    /* of the first model */
    char name[256], arch[64];
    uint64_t n_params, n_layer, n_embd, n_ff, n_vocab, tensor_bytes;
    unsigned n;
    bool is_another_there; /* a model that is no quantization of the first */
    bool have_sizes;       /* of several sizes */
    uint64_t largest_bytes;
    const char *largest;
};

/* Note a model of the table; path stays with the caller. */
void plim_quantizations_add(struct plim_quantizations *q, const struct plim_model *model, const char *path,
                            bool is_fitting);

/* The path of the largest that fits; NULL: none does, or they are not several quantizations of one model. */
const char *plim_quantizations_largest(const struct plim_quantizations *q);

#endif
