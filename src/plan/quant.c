/* SPDX-License-Identifier: MIT */
/*
 * Another quantization of the same model: of all that llama-quantize can make, the one that fits and loses least. The
 * loss is the perplexity of Llama 3 8B in data/quants.csv; other models lose other amounts in much the same order.
 */
#include "plan/planner.h"

#include "base/table.h"
#include "base/text.h"
#include "plimsoll/quant_recipe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LOSS   5.0           /* in perplexity, of 6.2: with more the model is no longer usable */
#define BITS_OF_GIB (8.59 / 8.03) /* bits per weight for each GiB of a file of 8.03e9 weights */

enum { MAX_QUANTS = 64 };

struct quant {
    const struct plim_quant_recipe *recipe;
    double loss, bits; /* bits per weight, of Llama 3 8B */
};

/* --- the table --- */

static double number_in(size_t row, const char *column)
{
    return plim_decimal(plim_table_cell(&plim_quants_table, row, plim_table_column(&plim_quants_table, column)), NULL);
}

/* The loss of a quantization and its size; false when no measurement is known. */
static bool measured(const char *name, double *ret_loss, double *ret_bits)
{
    const struct plim_table *t = &plim_quants_table;
    const size_t names = plim_table_column(t, "name"), families = plim_table_column(t, "family");
    for (size_t row = 0; row < t->n_rows; row++)
        if (!strcmp(plim_table_cell(t, row, names), name) && !strcmp(plim_table_cell(t, row, families), "gguf-file")) {
            const double bits = number_in(row, "model_bpw_llama31_8b");
            *ret_loss = number_in(row, "ppl_delta");
            *ret_bits = bits > 0 ? bits : number_in(row, "file_gib_llama3_8b") * BITS_OF_GIB;
            return *ret_loss > 0 && *ret_bits > 0;
        }
    return false;
}

static int by_loss(const void *a, const void *b)
{
    const struct quant *x = a, *y = b;
    return (x->loss > y->loss) - (x->loss < y->loss);
}

/* The quantizations worth choosing, from good to small: each is smaller than all that lose less. */
static size_t list_quants(struct quant *quants)
{
    const struct plim_quant_recipe *recipe;
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; (recipe = plim_quant_recipe_at(i)) && n < MAX_QUANTS; i++) {
        struct quant *q = &quants[n];
        q->recipe = recipe;
        n += measured(recipe->name, &q->loss, &q->bits) && q->loss <= MOST_LOSS;
    }
    qsort(quants, n, sizeof *quants, by_loss);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || quants[i].bits < quants[n_kept - 1].bits)
            quants[n_kept++] = quants[i];
    return n_kept;
}

/* --- trying --- */

/* The model by this recipe; false when llama-quantize would not make it, or memory runs out. */
static bool requantize(struct plim_planner *p, const struct quant *quant, struct plim_model **ret_model)
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
static enum plim_verdict try_quant(struct plim_planner *p, const struct quant *quant)
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
static int search(struct plim_planner *p, struct quant *quants, size_t n)
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

static void describe(const struct plim_planner *p, const struct quant *quant, struct plim_fix *fix)
{
    const char *file_type = plim_model_file_type(plim_engine_model(p->engine)), *name = quant->recipe->name;
    double loss = 0, bits;
    const bool is_full =
        file_type && (!strcmp(file_type, "F16") || !strcmp(file_type, "BF16") || !strcmp(file_type, "F32"));
    const bool is_known = file_type && measured(file_type, &loss, &bits);
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
    struct quant quants[MAX_QUANTS];
    if (p->n == p->max)
        return;
    const int best = search(p, quants, list_quants(quants));
    if (p->result < 0 || best < 0)
        return;
    const bool is_fit = try_quant(p, &quants[best]) == PLIM_VERDICT_FITS;
    if (!is_fit && p->n > 0)
        return; /* not even the smallest fits: offered only without other fixes */
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_QUANT, NULL, p->at.setup);
    if (fix)
        describe(p, &quants[best], fix);
}
