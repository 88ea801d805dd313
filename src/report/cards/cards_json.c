/* SPDX-License-Identifier: MIT */
/* plimsoll.cards/1, as docs/json.md has it. */
#include "report/cards/cards.h"
#include "report/json_text.h"

#include <jansson.h>
#include <math.h>

enum { DUMP_FLAGS = JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(10) };

static json_t *bytes(uint64_t n) { return json_integer((json_int_t)n); }
static json_t *real_or_null(double x) { return x > 0 ? json_real(round(x * 100) / 100) : json_null(); }

static json_t *card_json(size_t row)
{
    struct plim_card card;
    plim_catalogue_card(row, &card);
    json_t *capability =
        card.compute_capability ? json_pack("s", plim_catalogue_field(row, "compute_capability")) : json_null();
    json_t *bandwidth =
        card.bandwidth_bytes_per_s > 0 ? json_integer((json_int_t)card.bandwidth_bytes_per_s) : json_null();
    return json_pack("{s:s, s:s, s:s, s:o, s:s, s:o, s:o, s:s, s:o, s:o, s:b, s:o}", "name", card.name, "vendor",
                     plim_catalogue_field(row, "vendor"), "architecture", plim_catalogue_field(row, "architecture"),
                     "total_bytes", bytes(card.total_bytes), "total_basis", plim_basis_name(card.total_basis),
                     "total_low", bytes(card.total_low_bytes), "reserved_bytes", bytes(card.reserved_bytes),
                     "reserved_basis", plim_basis_name(card.reserved_basis), "compute_capability", capability,
                     "bandwidth_bytes_per_s", bandwidth, "unified", card.is_unified, "launch_year",
                     plim_text_or_null_json(plim_catalogue_field(row, "launch_year")));
}

static json_t *root_json(json_t *cards)
{
    return json_pack("{s:s, s:o}", "schema", "plimsoll.cards/1", "cards", cards);
}

bool plim_report_catalogue_json(FILE *out, const size_t *rows, size_t n)
{
    json_t *cards = json_array();
    for (size_t i = 0; cards && i < n; i++)
        json_array_append_new(cards, card_json(rows[i]));
    return plim_json_write(out, root_json(cards), DUMP_FLAGS);
}

static json_t *price_json(const struct plim_price *price, uint32_t n_cards)
{
    if (price->buy <= 0 && price->per_hour <= 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o}", "buy", real_or_null(n_cards * price->buy), "per_hour",
                     real_or_null(n_cards * price->per_hour), "break_even_hours",
                     real_or_null(plim_price_break_even_hours(price)));
}

static json_t *carrier_json(const struct plim_carrier *carrier, const struct plim_price *prices)
{
    json_t *object = card_json(carrier->card);
    json_object_set_new(object, "n_cards", json_integer(carrier->n_cards));
    json_object_set_new(object, "verdict", plim_text_json(plim_verdict_name(carrier->verdict)));
    json_object_set_new(object, "margin_bytes", json_integer(carrier->left_bytes));
    json_object_set_new(object, "tokens_per_s_low", real_or_null(carrier->tokens_per_s_low));
    json_object_set_new(object, "tokens_per_s_high", real_or_null(carrier->tokens_per_s_high));
    json_object_set_new(object, "price", prices ? price_json(&prices[carrier->card], carrier->n_cards) : json_null());
    return object;
}

bool plim_report_carriers_json(FILE *out, const struct plim_carriers_answer *answer)
{
    const struct plim_model *model = answer->model;
    json_t *cards = json_array(), *notes = json_array();
    for (size_t i = 0; cards && i < answer->n; i++)
        json_array_append_new(cards, carrier_json(&answer->carriers[i], answer->prices));
    for (unsigned i = 0; notes && i < answer->notes->n; i++)
        json_array_append_new(notes, plim_text_json(answer->notes->text[i]));
    json_t *root = root_json(cards);
    json_object_set_new(root, "model",
                        json_pack("{s:o, s:o, s:o, s:o}", "name", plim_text_or_null_json(plim_model_name(model)),
                                  "arch", plim_text_or_null_json(plim_model_arch(model)), "file_type",
                                  plim_text_or_null_json(plim_model_file_type(model)), "tensor_bytes",
                                  bytes(plim_model_tensor_bytes(model))));
    json_object_set_new(root, "n_ctx", answer->n_ctx ? json_integer(answer->n_ctx) : json_null());
    json_object_set_new(root, "n_ctx_is_assumed", json_boolean(answer->is_ctx_assumed));
    json_object_set_new(root, "notes", notes);
    return plim_json_write(out, root, DUMP_FLAGS);
}

static json_t *best_json(const struct plim_quant_row *row)
{
    if (row->verdict != PLIM_VERDICT_FITS)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "file_type", plim_text_or_null_json(row->file_type), "file_bytes",
                     bytes(row->file_bytes), "n_ctx", bytes(row->n_ctx), "tokens_per_s_low",
                     real_or_null(row->tokens_per_s_low), "tokens_per_s_high", real_or_null(row->tokens_per_s_high));
}

bool plim_report_comparison_json(FILE *out, const struct plim_cards_comparison *comparison)
{
    const struct plim_cards_comparison *c = comparison;
    json_t *cards = json_array(), *models = json_array();
    for (int i = 0; i < 2; i++) {
        json_t *card = card_json(c->card[i]);
        json_object_set_new(card, "price", c->prices ? price_json(&c->prices[c->card[i]], 1) : json_null());
        json_array_append_new(cards, card);
    }
    for (size_t i = 0; i < c->n_models; i++)
        json_array_append_new(models, json_pack("{s:o, s:o, s:[o, o]}", "name", plim_text_json(c->model[i].name),
                                                "n_ctx", bytes(c->model[i].n_ctx), "best",
                                                best_json(&c->model[i].best[0]), best_json(&c->model[i].best[1])));
    json_t *root = root_json(cards);
    json_object_set_new(root, "models", models);
    return plim_json_write(out, root, DUMP_FLAGS);
}
