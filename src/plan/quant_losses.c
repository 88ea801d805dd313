/* SPDX-License-Identifier: MIT */
#include "plan/quant_losses.h"

#include "base/table.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LOSS   5.0           /* in perplexity, of 6.2: with more the model is no longer usable */
#define BITS_OF_GIB (8.59 / 8.03) /* bits per weight for each GiB of a file of 8.03e9 weights */

static double number_in(size_t row, const char *column)
{
    return plim_decimal(plim_table_cell(&plim_quants_table, row, plim_table_column(&plim_quants_table, column)), NULL);
}

bool plim_quant_measured(const char *name, double *ret_loss, double *ret_bits)
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
    const struct plim_quant_loss *x = a, *y = b;
    return (x->loss > y->loss) - (x->loss < y->loss);
}

size_t plim_quants_worth_choosing(struct plim_quant_loss quants[PLIM_MAX_QUANTS])
{
    const struct plim_quant_recipe *recipe;
    size_t n = 0, n_kept = 0;
    for (size_t i = 0; (recipe = plim_quant_recipe_at(i)) && n < PLIM_MAX_QUANTS; i++) {
        struct plim_quant_loss *q = &quants[n];
        q->recipe = recipe;
        n += plim_quant_measured(recipe->name, &q->loss, &q->bits) && q->loss <= MOST_LOSS;
    }
    qsort(quants, n, sizeof *quants, by_loss);
    for (size_t i = 0; i < n; i++)
        if (n_kept == 0 || quants[i].bits < quants[n_kept - 1].bits)
            quants[n_kept++] = quants[i];
    return n_kept;
}
