/* SPDX-License-Identifier: MIT */
#include "report/models/models.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum { NAME_WIDTH = 31, LABEL_WIDTH = 16, TEXT = 24 };

/* --- figures --- */

/* "14.8B", "596M"; stated figures are marked. */
static const char *params_text(char text[TEXT], uint64_t params, enum plim_params_from from)
{
    const char *mark = from == PLIM_PARAMS_STATED ? "~" : "";
    if (from == PLIM_PARAMS_UNKNOWN || params == 0)
        snprintf(text, TEXT, "-");
    else if (params >= UINT64_C(999500000000))
        snprintf(text, TEXT, "%s%.2fT", mark, (double)params / 1e12);
    else if (params >= 999500000)
        snprintf(text, TEXT, "%s%.*fB", mark, params < UINT64_C(99950000000), (double)params / 1e9);
    else
        snprintf(text, TEXT, "%s%.0fM", mark, (double)params / 1e6);
    return text;
}

/* GiB of a quantization; marked where the file may differ. */
static const char *gib_text(char text[TEXT], const struct plim_model_summary *s, const char *quant)
{
    for (uint32_t i = 0; i < s->n_quants; i++)
        if (!strcmp(s->quants[i].name, quant)) {
            snprintf(text, TEXT, "%s%.1f", s->forecast == PLIM_FORECAST_EXACT ? "" : "~",
                     (double)s->quants[i].tensor_bytes / (double)PLIM_GIB);
            return text;
        }
    return strcpy(text, "-");
}

/* --- the table --- */

void plim_report_models_table_head(FILE *out, const struct plim_style *style)
{
    plim_print(out, "%s%-*s %7s %7s %8s %7s %7s %7s%s\n", plim_paint(style, PLIM_BOLD), NAME_WIDTH, "model", "params",
               "active", "context", "Q4_K_M", "Q8_0", "F16", plim_paint(style, PLIM_PLAIN));
}

void plim_report_models_table_row(FILE *out, const struct plim_model_summary *summary)
{
    struct plim_catalogue_model entry;
    char params[TEXT], active[TEXT] = "", context[TEXT] = "-", sizes[3][TEXT];
    plim_catalogue_model_at(summary->model, &entry);
    if (summary->params_active && summary->params_active != summary->params)
        params_text(active, summary->params_active, summary->params_from);
    if (summary->n_ctx_train)
        snprintf(context, sizeof context, "%" PRIu32, summary->n_ctx_train);
    plim_print_padded(out, entry.name, NAME_WIDTH);
    plim_print(out, " %7s %7s %8s %7s %7s %7s\n", params_text(params, summary->params, summary->params_from), active,
               context, gib_text(sizes[0], summary, "Q4_K_M"), gib_text(sizes[1], summary, "Q8_0"),
               gib_text(sizes[2], summary, "F16"));
}

void plim_report_models_table_end(FILE *out, size_t n)
{
    plim_print(out, "%zu model%s; GiB of tensors as GGUF. ~ published or not certain, - not known\n", n,
               n == 1 ? "" : "s");
}

/* --- one model --- */

static void label(FILE *out, const char *text) { plim_print(out, "  %-*s", LABEL_WIDTH - 2, text); }

static void line(FILE *out, const char *name, const char *text)
{
    if (!*text)
        return;
    label(out, name);
    plim_print_wrapped(out, text, LABEL_WIDTH, LABEL_WIDTH);
}

static const char *how_text(const char *how)
{
    static const struct {
        const char *how, *text;
    } texts[] = { { "source", "from" }, { "sibling", "as" }, { "default", "by" }, { "instead", "replaced, from" } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(how, texts[i].how))
            return texts[i].text;
    return how;
}

static void print_sources(FILE *out, const struct plim_model_summary *summary, const struct plim_catalogue_model *entry)
{
    struct plim_catalogue_fill fills[PLIM_REPORT_MAX_FILLS];
    char text[512];
    const size_t n = plim_catalogue_model_fills(summary->model, fills, PLIM_REPORT_MAX_FILLS);
    line(out, "config", entry->source);
    for (size_t i = 0; i < n && i < PLIM_REPORT_MAX_FILLS; i++) {
        snprintf(text, sizeof text, "%s = %s, %s %s", fills[i].key, fills[i].value, how_text(fills[i].how),
                 fills[i].source);
        line(out, i ? "" : "filled in", text);
    }
    line(out, "disputed", entry->disputed);
    for (uint32_t i = 0; i < summary->n_doubts; i++)
        line(out, i ? "" : "open", summary->doubts[i]);
}

static void print_figures(FILE *out, const struct plim_model_summary *summary, const struct plim_catalogue_model *entry)
{
    char text[512];
    if (summary->params_from == PLIM_PARAMS_COUNTED)
        snprintf(text, sizeof text, "%" PRIu64 ", counted in its tensors", summary->params);
    else if (summary->params_from == PLIM_PARAMS_STATED)
        snprintf(text, sizeof text, "about %.4g billion, as stated by %s", (double)summary->params / 1e9,
                 entry->params_source);
    else
        snprintf(text, sizeof text, "not known");
    line(out, "parameters", text);
    if (summary->params_active && summary->params_active != summary->params) {
        if (summary->params_from == PLIM_PARAMS_COUNTED)
            snprintf(text, sizeof text, "%" PRIu64 " of them for one token", summary->params_active);
        else
            snprintf(text, sizeof text, "about %.4g billion for one token", (double)summary->params_active / 1e9);
        line(out, "active", text);
    }
    if (summary->n_ctx_train) {
        snprintf(text, sizeof text, "%" PRIu32 " tokens", summary->n_ctx_train);
        line(out, "context", text);
    }
}

static void print_sizes(FILE *out, const struct plim_model_summary *summary)
{
    static const char *const order[] = { "F16", "Q8_0", "Q6_K", "Q5_K_M", "Q4_K_M" };
    char size[PLIM_SIZE_TEXT];
    if (summary->no_forecast.code)
        line(out, "GGUF", summary->no_forecast.what);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (uint32_t i = 0; i < summary->n_quants; i++)
            if (!strcmp(summary->quants[i].name, order[k])) {
                label(out, order[k]);
                plim_print(out, "%s%s of tensors\n", summary->forecast == PLIM_FORECAST_EXACT ? "" : "about ",
                           plim_size_text(size, summary->quants[i].tensor_bytes));
            }
}

void plim_report_model_text(FILE *out, const struct plim_model_summary *summary, const struct plim_style *style)
{
    struct plim_catalogue_model entry;
    plim_catalogue_model_at(summary->model, &entry);
    plim_print(out, "%s%s%s\n", plim_paint(style, PLIM_BOLD), entry.id, plim_paint(style, PLIM_PLAIN));
    print_sources(out, summary, &entry);
    line(out, "architecture", summary->arch);
    print_figures(out, summary, &entry);
    print_sizes(out, summary);
}
