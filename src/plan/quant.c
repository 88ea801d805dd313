/* SPDX-License-Identifier: MIT */
/*
 * Another quantization of the same model: of all that llama-quantize can make, the one that fits and loses least.
 */
#include "plan/planner.h"

#include "plan/quant_losses.h"

#include <stdio.h>
#include <string.h>

/* --- trying --- */

/* The model by this recipe; false when llama-quantize would not make it, or memory runs out. */
static bool requantize(struct plim_planner *p, const struct plim_quant_loss *quant, struct plim_model **ret_model)
{
    struct plim_error error = { 0 };
    const int result = plim_model_requantize(plim_engine_model(p->engine), quant->recipe->name, ret_model, &error);
    if (result != PLIM_E_NOMEM)
        return result >= 0;
    p->result = result;
    if (p->err)
        *p->err = error;
    return false;
}

/* The verdict on the setup with another quantization; its bill is then in p->bill. UNKNOWN: it cannot be made. */
static enum plim_verdict try_quant(struct plim_planner *p, const struct plim_quant_loss *quant)
{
    struct plim_model *made = NULL;
    struct plim_engine *engine = NULL, *before = p->engine;
    enum plim_verdict verdict = PLIM_VERDICT_UNKNOWN;
    if (requantize(p, quant, &made))
        p->result = plim_engine_new(made, p->at.setup->type, plim_engine_version(before), &engine, p->err);
    if (engine) {
        p->engine = engine;
        verdict = plim_try(p, p->at.setup);
        p->engine = before;
    }
    plim_engine_free(engine);
    plim_model_free(made);
    return verdict;
}

/* The first quantization that fits, or the last; -1 without any. */
static int search(struct plim_planner *p, struct plim_quant_loss *quants, size_t n)
{
    size_t low = 0, high = n;
    while (low < high && p->result >= 0) {
        const size_t middle = low + (high - low) / 2;
        const enum plim_verdict verdict = try_quant(p, &quants[middle]);
        if (verdict == PLIM_VERDICT_FITS) {
            high = middle;
        } else if (verdict != PLIM_VERDICT_UNKNOWN) {
            low = middle + 1;
        } else {
            memmove(&quants[middle], &quants[middle + 1], (--n - middle) * sizeof *quants);
            high--;
        }
    }
    return high < n ? (int)high : (int)n - 1;
}

/* --- */

static void describe(const struct plim_planner *p, const struct plim_quant_loss *quant, struct plim_fix *fix)
{
    const char *file_type = plim_model_file_type(plim_engine_model(p->engine)), *name = quant->recipe->name;
    double loss = 0, bits;
    const bool is_full =
        file_type && (!strcmp(file_type, "F16") || !strcmp(file_type, "BF16") || !strcmp(file_type, "F32"));
    const bool is_known = file_type && plim_quant_measured(file_type, &loss, &bits);
    fix->quant_recipe = name;
    fix->is_from_quantized = !is_full;
    fix->needs_imatrix = quant->recipe->needs_imatrix;
    snprintf(fix->change, sizeof fix->change, "the %s file of this model%s%s", name, file_type ? " instead of " : "",
             file_type ? file_type : "");
    int n = snprintf(fix->costs, sizeof fix->costs, "quality: perplexity +%.2f over f16", quant->loss);
    if (is_known)
        n += snprintf(fix->costs + n, sizeof fix->costs - (size_t)n, ", where this one has +%.2f", loss);
    snprintf(fix->costs + n, sizeof fix->costs - (size_t)n, " (on Llama 3 8B)%s",
             fix->is_from_quantized ? "; better downloaded than made from this file" : "");
}

void plim_fix_quant(struct plim_planner *p)
{
    struct plim_quant_loss quants[PLIM_MAX_QUANTS];
    if (p->n == p->max)
        return;
    const int best = search(p, quants, plim_quants_worth_choosing(quants));
    if (p->result < 0 || best < 0)
        return;
    const bool is_fit = try_quant(p, &quants[best]) == PLIM_VERDICT_FITS;
    if (!is_fit && p->n > 0)
        return; /* not even the smallest fits: offered only without other fixes */
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_QUANT, NULL, p->at.setup);
    if (fix)
        describe(p, &quants[best], fix);
}
