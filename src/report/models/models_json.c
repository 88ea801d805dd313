/* SPDX-License-Identifier: MIT */
#include "report/models/models.h"

#include "report/json_text.h"

#include <string.h>

static json_t *whole(uint64_t number) { return number ? json_integer((json_int_t)number) : json_null(); }

static json_t *fills_json(size_t model)
{
    struct plim_catalogue_fill fills[PLIM_REPORT_MAX_FILLS];
    const size_t n = plim_catalogue_model_fills(model, fills, PLIM_REPORT_MAX_FILLS);
    json_t *list = json_array();
    for (size_t i = 0; i < n && i < PLIM_REPORT_MAX_FILLS; i++) {
        json_t *value = json_loads(fills[i].value, JSON_DECODE_ANY, NULL);
        json_array_append_new(list,
                              json_pack("{s:s, s:o, s:s, s:s}", "key", fills[i].key, "value",
                                        value ? value : json_null(), "how", fills[i].how, "source", fills[i].source));
    }
    return list;
}

static json_t *words_json(const char *words)
{
    json_t *list = json_array();
    for (const char *p = words; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        json_array_append_new(list, plim_text_part_json(p, n));
        p += n;
    }
    return list;
}

static json_t *quants_json(const struct plim_model_summary *summary)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < summary->n_quants; i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "name", summary->quants[i].name, "tensor_bytes",
                                              whole(summary->quants[i].tensor_bytes)));
    return list;
}

static const char *basis_of(enum plim_params_from from)
{
    return from == PLIM_PARAMS_COUNTED ? "counted" : from == PLIM_PARAMS_STATED ? "stated" : NULL;
}

json_t *plim_report_model_json(const struct plim_model_summary *summary)
{
    struct plim_catalogue_model entry;
    static const char *const forecasts[PLIM_FORECAST_MAX_] = {
        [PLIM_FORECAST_EXACT] = "exact", [PLIM_FORECAST_FORMULA] = "formula"
    };
    json_t *doubts = json_array();
    plim_catalogue_model_at(summary->model, &entry);
    for (uint32_t i = 0; i < summary->n_doubts; i++)
        json_array_append_new(doubts, plim_text_json(summary->doubts[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:s?, s:o, s:o, s:s, s:o, s:o, s:s?, s:o, s:o, s:o}", "id",
                     entry.id, "name", entry.name, "family", plim_text_or_null_json(entry.family), "arch",
                     plim_text_or_null_json(summary->arch), "params", whole(summary->params), "params_active",
                     whole(summary->params_active), "params_basis", basis_of(summary->params_from), "params_source",
                     summary->params_from == PLIM_PARAMS_STATED ? plim_text_json(entry.params_source) : json_null(),
                     "n_ctx_train", whole(summary->n_ctx_train), "config_source", entry.source, "filled",
                     fills_json(summary->model), "disputed", words_json(entry.disputed), "forecast",
                     forecasts[summary->forecast], "doubts", doubts, "no_forecast",
                     plim_text_or_null_json(summary->no_forecast.what), "quantizations", quants_json(summary));
}

bool plim_report_models_json(FILE *out, json_t *models)
{
    return plim_json_write(out, json_pack("{s:s, s:o}", "schema", "plimsoll.models/1", "models", models),
                           JSON_INDENT(2) | JSON_PRESERVE_ORDER);
}
