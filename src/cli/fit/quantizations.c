/* SPDX-License-Identifier: MIT */
#include "cli/fit/quantizations.h"

#include <stdio.h>
#include <string.h>

static struct plim_quantizations first(const struct plim_model *model)
{
    const struct plim_hyperparameters *h = plim_model_hyperparameters(model);
    struct plim_quantizations q = { .n_params = plim_model_n_params(model),
                                    .n_layer = h->n_layer,
                                    .n_embd = h->n_embd,
                                    .n_ff = h->n_ff,
                                    .n_vocab = h->n_vocab,
                                    .tensor_bytes = plim_model_tensor_bytes(model) };
    snprintf(q.name, sizeof q.name, "%s", plim_model_name(model));
    snprintf(q.arch, sizeof q.arch, "%s", plim_model_arch(model));
    return q;
}

/* Of fine-tunes, which share all sizes, the name differs. */
static bool is_same(const struct plim_quantizations *a, const struct plim_quantizations *b)
{
    return a->n_params == b->n_params && a->n_layer == b->n_layer && a->n_embd == b->n_embd && a->n_ff == b->n_ff &&
           a->n_vocab == b->n_vocab && !strcmp(a->name, b->name) && !strcmp(a->arch, b->arch);
}

void plim_quantizations_add(struct plim_quantizations *q, const struct plim_model *model, const char *path,
                            bool is_fitting)
{
    const struct plim_quantizations this = first(model);
    if (q->n == 0)
        *q = this;
    q->n++;
    if (!is_same(q, &this))
        q->is_another_there = true;
    if (this.tensor_bytes != q->tensor_bytes)
        q->have_sizes = true;
    if (is_fitting && this.tensor_bytes > q->largest_bytes) {
        q->largest_bytes = this.tensor_bytes;
        q->largest = path;
    }
}

const char *plim_quantizations_largest(const struct plim_quantizations *q)
{
    return q->is_another_there || !q->have_sizes ? NULL : q->largest;
}
