/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_PLAN_QUANT_LOSSES_H
#define PLIMSOLL_PLAN_QUANT_LOSSES_H

/*
 * The quality that a quantization costs: the perplexity of Llama 3 8B above that of f16, as data/quants.csv has it.
 * Other models lose other amounts in much the same order.
 */

#include "plimsoll/quant_recipe.h"

enum { PLIM_MAX_QUANTS = 64 };

struct plim_quant_loss {
    const struct plim_quant_recipe *recipe;
    double loss, bits; /* bits per weight, of Llama 3 8B */
};

/* The loss of a quantization and its size; false when no measurement is known. */
bool plim_quant_measured(const char *name, double *ret_loss, double *ret_bits);

/*
 * The quantizations worth choosing, from good to small: each is smaller than all that lose less, and none loses so much
 * that the model is no longer usable. Returns how many.
 */
size_t plim_quants_worth_choosing(struct plim_quant_loss quants[PLIM_MAX_QUANTS]);

#endif
