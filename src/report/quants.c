/* SPDX-License-Identifier: MIT */
/* The quantizations of one model: a row for each, and which to take. */
#include "base/units.h"
#include "report/columns.h"
#include "report/head.h"
#include "report/paint.h"
#include "report/print.h"

#include <string.h>

enum { NAME_WIDTH = 10, CELL_BYTES = 24 };

/* "12288", "40960*": the largest context that fits, and that it is all there is. */
static void context_text(const struct plim_quant_row *row, char cell[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, "-");
    if (row->n_ctx)
        snprintf(cell, CELL_BYTES, "%u%s", row->n_ctx, row->is_ctx_all ? "*" : "");
}

static void loss_text(const struct plim_quant_row *row, char cell[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, row->has_loss ? "+%.*f" : "-", row->loss < 0.01 ? 3 : 2, row->loss);
}

static const char *row_name(const struct plim_quant_row *row) { return *row->file_type ? row->file_type : "as it is"; }

void plim_report_quants_head(FILE *out, const struct plim_answer *answer, bool has_rows, const struct plim_style *style)
{
    const struct plim_machine *machine = answer->machine;
    char total[PLIM_SIZE_TEXT];
    plim_report_head(out, answer, style);
    if (!has_rows)
        return;
    for (uint32_t i = 0; i < machine->n_cards; i++)
        plim_print(out, i ? "gpu%u  %s, %s\n" : "\ngpu%u  %s, %s\n", i, machine->card[i].name,
                   plim_size_text(total, machine->card[i].total_bytes));
    plim_print(out, "\n%s%-*s %11s %11s  %-7s %9s %9s  %s%s\n", plim_paint(style, PLIM_BOLD), NAME_WIDTH, "", "file",
               "left", "verdict", "context", "tokens/s", "loss", plim_paint(style, PLIM_PLAIN));
}

void plim_report_quants_row(FILE *out, const struct plim_quant_row *row, const struct plim_style *style)
{
    char file[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT], context[CELL_BYTES], speed[PLIM_SPEED_TEXT], loss[CELL_BYTES];
    plim_size_text_signed(left, row->left_bytes);
    context_text(row, context);
    plim_speed_text(row->tokens_per_s_low, row->tokens_per_s_high, speed);
    loss_text(row, loss);
    plim_print(out, "%-*s %11s %11s  %s%-7s%s %9s %9s  %s\n", NAME_WIDTH, row_name(row),
               plim_size_text(file, row->file_bytes), row->left_bytes < 0 ? left : left + 1,
               plim_paint_verdict(style, row->verdict), plim_verdict_name(row->verdict), plim_paint(style, PLIM_PLAIN),
               context, speed, loss);
}

/* --- the end --- */

static bool has_contexts(const struct plim_quant_table *table)
{
    bool has = false;
    for (size_t i = 0; i < table->n; i++)
        has = has || table->row[i].n_ctx;
    return has;
}

static void print_remarks(FILE *out, const struct plim_quant_table *table, bool has_star,
                          const struct plim_style *style)
{
    char text[320];
    plim_print(out, "\n%s", plim_paint(style, PLIM_DIM));
    snprintf(text, sizeof text,
             "%s%sloss: perplexity above that of f16, 6.23, measured on Llama 3 8B; other models lose "
             "other amounts in much the same order.",
             has_contexts(table) ? "context: the largest that fits" : "",
             !has_contexts(table) ? ""
             : has_star           ? ", * all that the model was trained for; "
                                  : "; ");
    plim_print_wrapped(out, text, 0, 0);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    if (table->is_ctx_assumed)
        plim_print(out, "No context is given: %u tokens are assumed, enough for a conversation.\n", table->n_ctx);
}

static bool has_all_context(const struct plim_quant_table *table)
{
    bool has = false;
    for (size_t i = 0; i < table->n; i++)
        has = has || table->row[i].is_ctx_all;
    return has;
}

/* The row that comes nearest: of those that are wanted the one that leaves most. */
static const struct plim_quant_row *nearest(const struct plim_quant_table *table)
{
    const struct plim_quant_row *best = NULL;
    for (size_t i = 0; i < table->n; i++)
        if (table->row[i].bits_per_weight >= table->least_bits_per_weight &&
            (!best || table->row[i].left_bytes > best->left_bytes))
            best = &table->row[i];
    return best;
}

/* Whether a row may fit all the same: the engine has figures that are at most so large. */
static bool has_unknown(const struct plim_quant_table *table)
{
    bool has = false;
    for (size_t i = 0; i < table->n; i++)
        has = has || table->row[i].verdict == PLIM_VERDICT_UNKNOWN;
    return has;
}

static void print_best(FILE *out, const struct plim_quant_table *table, const struct plim_style *style)
{
    const struct plim_quant_row *row = table->best >= 0 ? &table->row[table->best] : NULL;
    char text[240], more[64] = "";
    if (row && row->n_ctx > table->n_ctx)
        snprintf(more, sizeof more, " (up to %u)", row->n_ctx);
    if (row && !table->n_ctx) /* an encoder: it has no context to choose */
        snprintf(text, sizeof text, "%s is the best that fits", row->file_type);
    else if (row)
        snprintf(text, sizeof text, "%s is the best that fits a context of %u tokens%s", row->file_type, table->n_ctx,
                 more);
    else if (has_unknown(table))
        snprintf(text, sizeof text, "of no quantization it is certain that it fits with a context of %u tokens",
                 table->n_ctx);
    else if ((row = nearest(table)) && row->n_ctx)
        snprintf(text, sizeof text, "none fits with a context of %u tokens; %s does with %u", table->n_ctx,
                 row->file_type, row->n_ctx);
    else
        snprintf(text, sizeof text, "no quantization of this model fits with a context of %u tokens%s", table->n_ctx,
                 table->least_bits_per_weight > 0 ? " and 8 bits per weight or more" : "");
    const enum plim_verdict verdict = table->best >= 0     ? PLIM_VERDICT_FITS
                                      : has_unknown(table) ? PLIM_VERDICT_UNKNOWN
                                                           : PLIM_VERDICT_NO;
    const char *word = verdict == PLIM_VERDICT_FITS ? "FITS:" : verdict == PLIM_VERDICT_NO ? "NO:" : "UNKNOWN:";
    plim_print(out, "%s%s%s%s", plim_paint(style, PLIM_BOLD), plim_paint_verdict(style, verdict), word,
               plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, text, (int)strlen(word), 2);
}

void plim_report_quants_end(FILE *out, const struct plim_quant_table *table, const char *command,
                            const struct plim_style *style)
{
    print_remarks(out, table, has_all_context(table), style);
    if (*command) {
        plim_print(out, "The bill:\n");
        plim_print_command(out, command, 2);
    }
    print_best(out, table, style);
}

/* --- cards of several sizes --- */

static const char *card_size(const char *card)
{
    const char *size = strstr(card, " of ");
    return size ? size + 4 : card;
}

static void print_grid_row(FILE *out, const struct plim_quant_table *tables, size_t row, unsigned n_cards,
                           const struct plim_style *style)
{
    static const char *const words[PLIM_VERDICT_MAX_] = { "?", "fits", "tight", "no" };
    const struct plim_quant_row *r = &tables[0].row[row];
    char file[PLIM_SIZE_TEXT], loss[CELL_BYTES];
    loss_text(r, loss);
    plim_print(out, "%-*s %11s", NAME_WIDTH, row_name(r), plim_size_text(file, r->file_bytes));
    for (unsigned i = 0; i < n_cards; i++) {
        const enum plim_verdict verdict = tables[i].row[row].verdict;
        plim_print(out, " %s%5s%s", plim_paint_verdict(style, verdict), words[verdict], plim_paint(style, PLIM_PLAIN));
    }
    plim_print(out, "  %s\n", loss);
}

/* "FITS: Q5_K_S on 8 GB, Q8_0 on 12 GB, F16 on 24 GB": the best of each size, where a larger one changes it. */
static void print_best_of_sizes(FILE *out, const struct plim_quant_table *tables, const char *const *cards,
                                unsigned n_cards, const struct plim_style *style)
{
    char text[256] = "";
    size_t n = 0;
    int last = -1;
    for (unsigned i = 0; i < n_cards; i++) {
        const int best = tables[i].best;
        if (best >= 0 && best != last && n < sizeof text)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s on %s", n ? ", " : "",
                                  row_name(&tables[i].row[best]), card_size(cards[i]));
        last = best;
    }
    const enum plim_verdict verdict = n ? PLIM_VERDICT_FITS : PLIM_VERDICT_NO;
    plim_print(out, "%s%s%s%s", plim_paint(style, PLIM_BOLD), plim_paint_verdict(style, verdict),
               n ? "FITS:" : "NO:", plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, n ? text : "no quantization fits on one of these cards", n ? 5 : 3, 2);
}

/* The same quantizations can be made for every card. */
void plim_report_quants_grid(FILE *out, const struct plim_quant_table *tables, const char *const *cards,
                             unsigned n_cards, const struct plim_style *style)
{
    plim_print(out, "\n%s%-*s %11s", plim_paint(style, PLIM_BOLD), NAME_WIDTH, "", "file");
    for (unsigned i = 0; i < n_cards; i++)
        plim_print(out, " %5s", card_size(cards[i]));
    plim_print(out, "  loss%s\n", plim_paint(style, PLIM_PLAIN));
    for (size_t row = 0; row < tables[0].n; row++)
        print_grid_row(out, tables, row, n_cards, style);
    print_remarks(out, &tables[0], false, style);
    plim_print(out, "--card NAME shows the contexts that fit, and the speed on your card.\n");
    print_best_of_sizes(out, tables, cards, n_cards, style);
}
