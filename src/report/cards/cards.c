/* SPDX-License-Identifier: MIT */
#include "report/cards/cards.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <string.h>

enum { CELL_BYTES = 40, NAME_WIDTH = 34, NAME_WIDTH_PRICED = 24 };

static void bandwidth_text(const struct plim_card *card, char cell[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, "unknown");
    if (card->bandwidth_bytes_per_s > 0)
        snprintf(cell, CELL_BYTES, "%.0f GB/s", card->bandwidth_bytes_per_s / 1e9);
}

/* --- the catalogue --- */

void plim_report_catalogue_text(FILE *out, const size_t *rows, size_t n, const struct plim_style *style)
{
    plim_print(out, "%s%-38s %11s %-8s %10s %7s%s\n", plim_paint(style, PLIM_BOLD), "card", "total", "basis",
               "bandwidth", "compute", plim_paint(style, PLIM_PLAIN));
    for (size_t i = 0; i < n; i++) {
        struct plim_card card;
        char total[PLIM_SIZE_TEXT], bandwidth[CELL_BYTES], capability[16] = "";
        plim_catalogue_card(rows[i], &card);
        bandwidth_text(&card, bandwidth);
        snprintf(capability, sizeof capability, "%.10s", plim_catalogue_field(rows[i], "compute_capability"));
        plim_print(out, "%-38.38s %11s %-8s %10s", card.name, plim_size_text(total, card.total_bytes),
                   plim_basis_name(card.total_basis), bandwidth);
        plim_print(out, *capability ? " %7s\n" : "%s\n", capability);
    }
    plim_print(out, "%zu card%s\n", n, n == 1 ? "" : "s");
}

/* --- cards that carry a model --- */

static void price_text(double price, char cell[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, "-");
    if (price > 0)
        snprintf(cell, CELL_BYTES, price < 100 ? "%.2f" : "%.0f", price);
}

/* "2x GeForce RTX 3060 12GB" */
static void carrier_name(const struct plim_carrier *carrier, char *text, size_t size)
{
    struct plim_card card;
    plim_catalogue_card(carrier->card, &card);
    snprintf(text, size, carrier->n_cards > 1 ? "%ux %s" : "%.0u%s", carrier->n_cards > 1 ? carrier->n_cards : 0,
             card.name);
}

static void print_prices(FILE *out, const struct plim_carrier *carrier, const struct plim_price *prices)
{
    char buy[CELL_BYTES], rent[CELL_BYTES], hours[CELL_BYTES] = "-";
    const struct plim_price *price = &prices[carrier->card];
    const double even = plim_price_break_even_hours(price);
    price_text(carrier->n_cards * price->buy, buy);
    price_text(carrier->n_cards * price->per_hour, rent);
    if (even > 0)
        snprintf(hours, sizeof hours, "%.0f h", even);
    plim_print(out, "  %8s %7s %8s", buy, rent, hours);
}

static void print_carrier(FILE *out, const struct plim_carriers_answer *answer, const struct plim_carrier *carrier,
                          const struct plim_style *style)
{
    char name[96], total[PLIM_SIZE_TEXT], left[PLIM_SIZE_TEXT], speed[CELL_BYTES];
    carrier_name(carrier, name, sizeof name);
    plim_speed_text(carrier->tokens_per_s_low, carrier->tokens_per_s_high, speed);
    plim_size_text_signed(left, carrier->left_bytes);
    plim_print_padded(out, name, answer->prices ? NAME_WIDTH_PRICED : NAME_WIDTH);
    if (!answer->prices)
        plim_print(out, " %10s", plim_size_text(total, carrier->total_bytes));
    plim_print(out, " %10s  %s%-5s%s %9s", left + 1, plim_paint_verdict(style, carrier->verdict),
               plim_verdict_name(carrier->verdict), plim_paint(style, PLIM_PLAIN), speed);
    if (answer->prices)
        print_prices(out, carrier, answer->prices);
    plim_print(out, "\n");
}

static void print_subject(FILE *out, const struct plim_carriers_answer *answer, const struct plim_style *style)
{
    const char *file_type = plim_model_file_type(answer->model);
    char size[PLIM_SIZE_TEXT];
    plim_print(out, "%s%s%s", plim_paint(style, PLIM_BOLD), plim_model_name(answer->model),
               plim_paint(style, PLIM_PLAIN));
    if (*answer->step) {
        plim_print(out, ", a recorded step\n  ");
        plim_print_wrapped(out, answer->step, 2, 2);
        return;
    }
    plim_print(out, ", %s, %s", file_type ? file_type : "unknown type",
               plim_size_text(size, plim_model_tensor_bytes(answer->model)));
    if (answer->n_ctx)
        plim_print(out, ", context %u%s", answer->n_ctx, answer->is_ctx_assumed ? " (none is given)" : "");
    plim_print(out, "\n");
}

static void print_carriers_head(FILE *out, const struct plim_carriers_answer *answer, const struct plim_style *style)
{
    print_subject(out, answer, style);
    for (unsigned i = 0; i < answer->notes->n; i++) {
        plim_print(out, "  note:");
        plim_print_wrapped(out, answer->notes->text[i], 7, 4);
    }
    plim_print(out, "\n%s%-*s", plim_paint(style, PLIM_BOLD), answer->prices ? NAME_WIDTH_PRICED : NAME_WIDTH, "");
    if (!answer->prices)
        plim_print(out, " %10s", "memory");
    plim_print(out, " %10s  %-5s %9s", "left", "", "tokens/s");
    if (answer->prices)
        plim_print(out, "  %8s %7s %8s", "to buy", "an hour", "even at");
    plim_print(out, "%s\n", plim_paint(style, PLIM_PLAIN));
}

/* The smallest that fits; NULL when all are tight. */
static const struct plim_carrier *smallest(const struct plim_carriers_answer *answer)
{
    for (size_t i = 0; i < answer->n; i++)
        if (answer->carriers[i].verdict == PLIM_VERDICT_FITS)
            return &answer->carriers[i];
    return NULL;
}

void plim_report_carriers_text(FILE *out, const struct plim_carriers_answer *answer, const struct plim_style *style)
{
    char text[240], name[96];
    print_carriers_head(out, answer, style);
    const struct plim_carrier *best = smallest(answer);
    const bool is_beyond = best && best >= &answer->carriers[answer->n_shown]; /* all above it are tight */
    for (size_t i = 0; i < answer->n_shown; i++)
        print_carrier(out, answer, &answer->carriers[i], style);
    if (is_beyond) {
        plim_print(out, "...\n");
        print_carrier(out, answer, best, style);
    }
    plim_print(out, "\n");
    if (answer->prices)
        plim_print(out, "even at: hours of renting that cost as much as buying.\n");
    if (answer->n > answer->n_shown)
        plim_print(out, "%zu more cards and pairs: --all lists them, a word of a name selects.\n",
                   answer->n - answer->n_shown - is_beyond);
    const enum plim_verdict verdict = best ? PLIM_VERDICT_FITS : answer->n ? PLIM_VERDICT_TIGHT : PLIM_VERDICT_NO;
    const char *word = best ? "FITS:" : answer->n ? "TIGHT:" : "NO:";
    if (!best && answer->n)
        best = &answer->carriers[0];
    if (best)
        carrier_name(best, name, sizeof name);
    if (!best)
        snprintf(text, sizeof text, "no card carries it");
    else if (answer->n == 1)
        snprintf(text, sizeof text, "%s alone carries it", name);
    else
        snprintf(text, sizeof text, "%s is the smallest%s; %zu carry it", name,
                 verdict == PLIM_VERDICT_FITS ? " that fits" : "", answer->n);
    plim_print(out, "%s%s%s%s", plim_paint(style, PLIM_BOLD), plim_paint_verdict(style, verdict), word,
               plim_paint(style, PLIM_PLAIN));
    plim_print_wrapped(out, text, (int)strlen(word), 2);
}

/* --- two cards --- */

static void print_pair(FILE *out, const char *label, const char *a, const char *b)
{
    plim_print(out, "%-20.20s %28s %28s\n", label, a, b);
}

static void best_text(const struct plim_quant_row *row, char cell[CELL_BYTES], char speed[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, "no quantization fits");
    speed[0] = '\0';
    if (row->verdict != PLIM_VERDICT_FITS)
        return;
    char rate[PLIM_SPEED_TEXT];
    snprintf(cell, CELL_BYTES, row->n_ctx ? "%s, context %u" : "%s", row->file_type, row->n_ctx);
    if (row->tokens_per_s_high > 0)
        snprintf(speed, CELL_BYTES, "%.20s tokens/s",
                 plim_speed_text(row->tokens_per_s_low, row->tokens_per_s_high, rate));
}

static void print_figures(FILE *out, const struct plim_card card[2], const size_t row[2])
{
    char a[CELL_BYTES], b[CELL_BYTES], size[2][PLIM_SIZE_TEXT];
    print_pair(out, "memory", plim_size_text(size[0], card[0].total_bytes),
               plim_size_text(size[1], card[1].total_bytes));
    print_pair(out, "for programs", plim_size_text(size[0], plim_card_free_bytes(&card[0])),
               plim_size_text(size[1], plim_card_free_bytes(&card[1])));
    bandwidth_text(&card[0], a);
    bandwidth_text(&card[1], b);
    print_pair(out, "bandwidth", a, b);
    print_pair(out, "compute capability", plim_catalogue_field(row[0], "compute_capability"),
               plim_catalogue_field(row[1], "compute_capability"));
}

void plim_report_comparison_text(FILE *out, const struct plim_cards_comparison *comparison,
                                 const struct plim_style *style)
{
    const struct plim_cards_comparison *c = comparison;
    struct plim_card card[2];
    char a[CELL_BYTES], b[CELL_BYTES], speed[2][CELL_BYTES];
    for (int i = 0; i < 2; i++)
        plim_catalogue_card(c->card[i], &card[i]);
    plim_print(out, "%s", plim_paint(style, PLIM_BOLD));
    print_pair(out, "", card[0].name, card[1].name);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    print_figures(out, card, c->card);
    if (c->prices) {
        price_text(c->prices[c->card[0]].buy, a);
        price_text(c->prices[c->card[1]].buy, b);
        print_pair(out, "to buy", a, b);
        price_text(c->prices[c->card[0]].per_hour, a);
        price_text(c->prices[c->card[1]].per_hour, b);
        print_pair(out, "an hour", a, b);
    }
    for (size_t i = 0; i < c->n_models; i++) {
        best_text(&c->model[i].best[0], a, speed[0]);
        best_text(&c->model[i].best[1], b, speed[1]);
        print_pair(out, c->model[i].name, a, b);
        if (*speed[0] || *speed[1])
            print_pair(out, "", speed[0], speed[1]);
    }
    if (c->n_models)
        plim_print(out, "\nOf each model the best quantization that fits with a context of %u tokens.\n",
                   c->model[0].n_ctx);
}
