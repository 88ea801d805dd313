/* SPDX-License-Identifier: MIT */
/*
 * Another quant of the same model: of all that llama-quantize would make of its tensors, the one that loses least and
 * fits. What a quant loses is the perplexity of Llama 3 8B in data/quants.csv; other models lose other amounts in much
 * the same order.
 */
#include "plan/planner.h"

#include "base/table.h"
#include "plimsoll/mixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LOSS 5.0 /* in perplexity, of 6.2: what loses more has stopped making sense */

enum { MAX_QUANTS = 64 };

struct quant {
    const struct plim_mixture *mixture;
    double loss;
    uint64_t tensor_bytes;
};

/* The perplexity that a mixture adds; false when nobody has measured it. */
static bool loss_of(const char *mixture, double *ret_loss)
{
    const struct plim_table *t = &plim_quants_table;
    const size_t name = plim_table_column(t, "name"), kind = plim_table_column(t, "kind");
    const size_t family = plim_table_column(t, "family"), delta = plim_table_column(t, "ppl_delta");
    *ret_loss = 0;
    if (!strcmp(mixture, "F32") || !strcmp(mixture, "F16") || !strcmp(mixture, "BF16"))
        return true;
    for (size_t row = 0; row < t->n_rows; row++)
        if (!strcmp(plim_table_cell(t, row, name), mixture) && !strcmp(plim_table_cell(t, row, kind), "mixture") &&
            !strcmp(plim_table_cell(t, row, family), "gguf-file")) {
            *ret_loss = strtod(plim_table_cell(t, row, delta), NULL);
            return *ret_loss > 0;
        }
    return false;
}

static int by_loss(const void *a, const void *b)
{
    const struct quant *x = a, *y = b;
    return (x->loss > y->loss) - (x->loss < y->loss);
}

/* The model as this mixture; false when llama-quantize would not make it, or memory runs out. */
static bool requantize(struct plim_planner *p, const struct plim_mixture *mixture, struct plim_model **ret_model)
{
    struct plim_error error = { 0 };
    const int result = plim_model_requantize(plim_engine_model(p->engine), mixture->name, ret_model, &error);
    if (result != PLIM_E_NOMEM)
        return result >= 0;
    p->result = result;
    if (p->err)
        *p->err = error;
    return false;
}

/* The quants worth choosing, from good to small: each is smaller than what loses less. */
static size_t list_quants(struct plim_planner *p, struct quant *quants)
{
    const struct plim_mixture *mixture;
    uint64_t smallest_bytes = plim_model_tensor_bytes(plim_engine_model(p->engine));
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; (mixture = plim_mixture_at(i)) && n < MAX_QUANTS && p->result >= 0; i++) {
        struct plim_model *made = NULL;
        double loss;
        if (!loss_of(mixture->name, &loss) || loss > MOST_LOSS || !requantize(p, mixture, &made))
            continue;
        quants[n++] = (struct quant){ mixture, loss, plim_model_tensor_bytes(made) };
        plim_model_free(made);
    }
    qsort(quants, n, sizeof *quants, by_loss);
    for (size_t i = 0; i < n; i++)
        if (quants[i].tensor_bytes < smallest_bytes) {
            smallest_bytes = quants[i].tensor_bytes;
            quants[n_kept++] = quants[i];
        }
    return n_kept;
}

/* The verdict on the setup with another quant; its bill is then in p->bill. */
static enum plim_verdict try_quant(struct plim_planner *p, const struct quant *quant)
{
    char spec[64];
    struct plim_model *made = NULL;
    struct plim_engine *engine = NULL, *before = p->engine;
    enum plim_verdict verdict = PLIM_VERDICT_UNKNOWN;
    snprintf(spec, sizeof spec, "%s@%s", plim_engine_name(before), plim_engine_version(before));
    if (requantize(p, quant->mixture, &made))
        p->result = plim_engine_new(made, spec, &engine, p->err);
    if (engine) {
        p->engine = engine;
        verdict = plim_try(p, p->setup);
        p->engine = before;
    }
    plim_engine_free(engine);
    plim_model_free(made);
    return verdict;
}

static void describe(const struct plim_planner *p, const struct quant *quant, struct plim_fix *fix)
{
    const char *file_type = plim_model_file_type(plim_engine_model(p->engine)), *name = quant->mixture->name;
    double loss = 0;
    const bool is_known = file_type && loss_of(file_type, &loss);
    fix->mixture = name;
    fix->is_from_quantized = !is_known || loss > 0;
    fix->needs_imatrix = quant->mixture->needs_imatrix;
    snprintf(fix->change, sizeof fix->change, "the %s file of this model%s%s", name, file_type ? " instead of " : "",
             file_type ? file_type : "");
    int n = snprintf(fix->costs, sizeof fix->costs, "quality: perplexity +%.2f over f16", quant->loss);
    if (is_known && loss > 0)
        n += snprintf(fix->costs + n, sizeof fix->costs - (size_t)n, ", where this one has +%.2f", loss);
    snprintf(fix->costs + n, sizeof fix->costs - (size_t)n, " (on Llama 3 8B)%s",
             fix->is_from_quantized ? "; download it: one made from this file is worse" : "");
}

void plim_fix_quant(struct plim_planner *p)
{
    struct quant quants[MAX_QUANTS];
    if (p->n == p->max)
        return;
    const size_t n = list_quants(p, quants);
    size_t low = 0, high = n; /* the first that fits, or n */
    while (low < high && p->result >= 0) {
        const size_t middle = low + (high - low) / 2;
        if (try_quant(p, &quants[middle]) == PLIM_VERDICT_FITS)
            high = middle;
        else
            low = middle + 1;
    }
    if (p->result < 0 || n == 0 || (high == n && p->n > 0))
        return; /* the smallest of all does not fit: no advice as long as there is other */
    const struct quant *best = &quants[high < n ? high : n - 1];
    try_quant(p, best);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_QUANT, p->setup);
    if (fix)
        describe(p, best, fix);
}
