/* SPDX-License-Identifier: MIT */
/* The quantizations of one model on one machine: a row for each, and the best that fits. */
#include "plan/planner.h"

#include "base/mem.h"
#include "engine/type.h"
#include "plan/quant_losses.h"

#include <stdio.h>

struct table {
    struct plim_planner planner;
    struct plim_quant_table *q;
    const struct plim_growth *growth; /* NULL: the context cannot be told */
    const struct plim_quant_wish *wish;
};

/* --- one row --- */

/* The largest context that fits, below or above the one of the bill. */
static void find_context(struct table *t, struct plim_quant_row *row)
{
    struct plim_planner *p = &t->planner;
    struct plim_lever_range range;
    const struct plim_lever *lever = t->growth ? t->growth->context : NULL;
    if (!t->wish->has_contexts || !lever || !lever->range(&p->at, &t->q->setup, &range))
        return;
    const uint32_t given = range.now / range.unit;
    if (row->verdict != PLIM_VERDICT_FITS) {
        range.high = given;
        range.low = 1;
    }
    const uint32_t value = plim_search(p, lever, &range, &t->q->setup);
    row->n_ctx = value || row->verdict != PLIM_VERDICT_FITS ? value : range.now;
    row->is_ctx_all = row->verdict == PLIM_VERDICT_FITS && row->n_ctx / range.unit + 1 >= range.high;
}

static void fill(struct table *t, struct plim_quant_row *row)
{
    struct plim_planner *p = &t->planner;
    struct plim_bill *bill = plim_alloc(1, sizeof *bill);
    if (!bill) {
        p->result = plim_fail(p->err, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
        return;
    }
    row->verdict = plim_try(p, &t->q->setup);
    *bill = *p->bill;
    if (p->result >= 0 && !row->recipe && (bill->is_refused || bill->is_bound || bill->is_contradicted))
        p->result = plim_need_verdict(bill, p->err); /* the same of all rows */
    if (p->result >= 0 && bill->limiting_device < bill->n_devices) {
        const struct plim_device_bill *device = &bill->device[bill->limiting_device];
        row->left_bytes = device->total_bytes ? plim_device_left_bytes(device) : 0;
        row->tokens_per_s_low = bill->tokens_per_s_low;
        row->tokens_per_s_high = bill->tokens_per_s_high;
        p->at = (struct plim_situation){ p->engine, &t->q->setup, bill };
        find_context(t, row);
    }
    if (p->result >= 0 && t->wish->report)
        t->wish->report(t->wish->data, p->engine, bill, t->q);
    plim_free(bill);
}

static void assume_context(struct table *t)
{
    struct plim_planner *p = &t->planner;
    struct plim_quant_table *q = t->q;
    const int result = plim_plan_context(p->engine, &q->setup, p->machine, p->margin, &q->setup, &q->n_ctx, p->err);
    q->is_ctx_assumed = result > 0;
    p->result = result < 0 ? result : 0;
}

/* One more row; without a recipe the model is as it is. */
static void add(struct table *t, const struct plim_model *model, const struct plim_quant_recipe *recipe)
{
    struct plim_planner *p = &t->planner;
    struct plim_quant_table *q = t->q;
    const uint64_t n_params = plim_model_n_params(model);
    if (p->result < 0 || q->n == PLIM_MAX_QUANT_ROWS)
        return;
    p->result = plim_engine_new(model, q->setup.type, t->wish->version, &p->engine, p->err);
    if (p->result < 0)
        return;
    struct plim_quant_row *row = &q->row[q->n++];
    double bits;
    *row = (struct plim_quant_row){
        .recipe = recipe ? recipe->name : NULL,
        .needs_imatrix = recipe && recipe->needs_imatrix,
        .tensor_bytes = plim_model_tensor_bytes(model),
        .file_bytes = plim_model_file_bytes(model),
        .bits_per_weight = n_params ? 8.0 * (double)plim_model_tensor_bytes(model) / (double)n_params : 0,
    };
    const char *file_type = recipe ? recipe->name : plim_model_file_type(model);
    snprintf(row->file_type, sizeof row->file_type, "%s", file_type ? file_type : "");
    row->has_loss = recipe && plim_quant_measured(recipe->name, &row->loss, &bits);
    if (!recipe)
        assume_context(t);
    fill(t, row);
    p->engine = plim_engine_free(p->engine);
}

/* The same by a recipe, unless llama-quantize would not make it or it would be no smaller than the row before. */
static void add_recipe(struct table *t, const struct plim_model *model, const struct plim_quant_recipe *recipe)
{
    struct plim_planner *p = &t->planner;
    struct plim_error error = { 0 };
    struct plim_model *made = NULL;
    const int result = plim_model_requantize(model, recipe->name, &made, &error);
    if (result == PLIM_E_NOMEM) {
        p->result = result;
        if (p->err)
            *p->err = error;
    }
    if (result < 0)
        return;
    if (plim_model_tensor_bytes(made) < t->q->row[t->q->n - 1].tensor_bytes)
        add(t, made, recipe);
    plim_model_free(made);
}

/* --- all of them --- */

static int best_of(const struct plim_quant_table *q)
{
    for (size_t i = 0; i < q->n; i++) /* from good to small */
        if (q->row[i].verdict == PLIM_VERDICT_FITS && q->row[i].bits_per_weight >= q->least_bits_per_weight)
            return (int)i;
    return -1;
}

int plim_plan_quant_table(const struct plim_model *model, const struct plim_setup *setup,
                          const struct plim_machine *machine, const struct plim_margin *margin,
                          const struct plim_quant_wish *wish, struct plim_quant_table *ret_table,
                          struct plim_error *reterr)
{
    struct plim_quant_loss quants[PLIM_MAX_QUANTS];
    struct table t = {
        .planner = { .machine = machine, .margin = margin, .err = reterr },
        .q = ret_table,
        .growth = setup->type->growth,
        .wish = wish,
    };
    *t.q =
        (struct plim_quant_table){ .best = -1, .setup = *setup, .least_bits_per_weight = wish->least_bits_per_weight };
    t.planner.bill = plim_alloc(1, sizeof *t.planner.bill);
    if (!t.planner.bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    add(&t, model, NULL);
    const size_t n = setup->type->has_quant_recipes ? plim_quants_worth_choosing(quants) : 0;
    for (size_t i = 0; i < n && t.planner.result >= 0; i++)
        add_recipe(&t, model, quants[i].recipe);
    plim_free(t.planner.bill);
    t.q->best = best_of(t.q);
    return t.planner.result;
}
