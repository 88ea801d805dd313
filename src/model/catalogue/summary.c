/* SPDX-License-Identifier: MIT */
/*
 * What a model of the catalogue weighs, from the GGUF that its config becomes.
 *
 * Parameters are counted in the tensors of that file. One token uses all of them but those of experts that it is not
 * sent to; the embedding counts as used, as in the figures that are published for most models.
 */
#include "model/catalogue/summary.h"

#include "plimsoll/convert.h"
#include "plimsoll/quant_recipe.h"

#include <stdio.h>
#include <string.h>

static const char *const quants[PLIM_SUMMARY_MAX_QUANTS] = { "Q4_K_M", "Q8_0", "F16", "Q5_K_M", "Q6_K" };
enum { N_BRIEF = 3 };

/* Factors of RoPE, which the converter computes: no parameters. */
static bool is_computed(const struct plim_tensor *tensor) { return !strncmp(tensor->name, "rope_", 5); }

static uint64_t elements(const struct plim_tensor *tensor)
{
    uint64_t n = 1;
    for (uint32_t i = 0; i < tensor->n_dims; i++)
        n *= tensor->ne[i];
    return n;
}

static void count(const struct plim_model *gguf, struct plim_model_summary *summary)
{
    size_t n = 0;
    const struct plim_tensor *tensors = plim_model_tensors(gguf, &n);
    const struct plim_hyperparameters *hp = plim_model_hyperparameters(gguf);
    const bool has_idle = hp->n_expert_used && hp->n_expert_used < hp->n_expert;
    for (size_t i = 0; i < n; i++) {
        const uint64_t all = is_computed(&tensors[i]) ? 0 : elements(&tensors[i]);
        summary->params += all;
        summary->params_active +=
            has_idle && strstr(tensors[i].name, "_exps.") ? all / hp->n_expert * hp->n_expert_used : all;
    }
    summary->params_from = PLIM_PARAMS_COUNTED;
}

static void take_doubts(const struct plim_model *gguf, struct plim_model_summary *summary)
{
    const struct plim_doubt *doubt;
    while (summary->n_doubts < PLIM_SUMMARY_MAX_DOUBTS && (doubt = plim_model_doubt(gguf, summary->n_doubts))) {
        snprintf(summary->doubts[summary->n_doubts], sizeof summary->doubts[0], "%s", doubt->text);
        summary->n_doubts++;
    }
}

static int take_sizes(const struct plim_model *gguf, size_t n, struct plim_model_summary *summary,
                      struct plim_error *reterr)
{
    for (size_t i = 0; i < n; i++) {
        struct plim_model *quantized = NULL;
        struct plim_error error = { 0 };
        int result = plim_model_requantize(gguf, quants[i], &quantized, &error);
        if (result == PLIM_E_NOMEM) {
            if (reterr)
                *reterr = error;
            return result;
        }
        if (result < 0)
            continue;
        summary->quants[summary->n_quants].name = quants[i];
        summary->quants[summary->n_quants++].tensor_bytes = plim_model_tensor_bytes(quantized);
        plim_model_free(quantized);
    }
    return 0;
}

static int take_forecast(const struct plim_model *config, size_t n, struct plim_model_summary *summary,
                         struct plim_error *reterr)
{
    struct plim_model *gguf = NULL;
    int result = plim_convert(config, NULL, &gguf, &summary->no_forecast);
    if (result == PLIM_E_NOMEM && reterr)
        *reterr = summary->no_forecast;
    if (result < 0)
        return result == PLIM_E_NOMEM ? result : 0;
    summary->forecast = plim_model_forecast(gguf);
    count(gguf, summary);
    snprintf(summary->arch, sizeof summary->arch, "%s", plim_model_arch(gguf));
    take_doubts(gguf, summary);
    result = take_sizes(gguf, n, summary, reterr);
    plim_model_free(gguf);
    return result;
}

/* What was published, when nothing can be counted. */
static void take_stated(struct plim_model_summary *summary)
{
    struct plim_catalogue_model entry;
    plim_catalogue_model_at(summary->model, &entry);
    if (summary->params_from != PLIM_PARAMS_UNKNOWN || entry.params <= 0)
        return;
    summary->params = (uint64_t)entry.params;
    summary->params_active = (uint64_t)entry.params_active;
    summary->params_from = PLIM_PARAMS_STATED;
}

int plim_model_summarize(size_t model, bool is_brief, struct plim_model_summary *ret_summary, struct plim_error *reterr)
{
    struct plim_model *config = NULL;
    struct plim_model_summary *summary = ret_summary;
    *summary = (struct plim_model_summary){ .model = model };
    int result = plim_catalogue_model_open(model, &config, &summary->no_forecast);
    if (result == 0) {
        summary->n_ctx_train = plim_model_hyperparameters(config)->n_ctx_train;
        snprintf(summary->arch, sizeof summary->arch, "%s", plim_model_arch(config));
        result = take_forecast(config, is_brief ? N_BRIEF : PLIM_SUMMARY_MAX_QUANTS, summary, reterr);
        plim_model_free(config);
    } else if (result == PLIM_E_NOMEM) {
        if (reterr)
            *reterr = summary->no_forecast;
    } else {
        result = 0;
    }
    take_stated(summary);
    return result;
}
