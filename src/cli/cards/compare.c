/* SPDX-License-Identifier: MIT */
/* plimsoll cards --compare A B: two cards, by what they carry of models of three sizes. */
#include "base/error.h"
#include "base/mem.h"
#include "cli/cards/model.h"
#include "cli/cli.h"
#include "cli/fit/machine.h"
#include "report/cards/cards.h"

#include <string.h>

/* Of one family, so that the size alone differs. */
static const char *const usual_models[PLIM_COMPARED_MODELS] = { "Qwen3-8B", "Qwen3-14B", "Qwen3-32B" };

/* The place of a card in the catalogue. */
static int find_card(const char *name, size_t *ret_card, struct plim_error *reterr)
{
    struct plim_card card, other;
    const int result = plim_catalogue_find(name, &card, reterr);
    if (result < 0)
        return result;
    for (*ret_card = 0; *ret_card < plim_catalogue_size(); ++*ret_card) {
        plim_catalogue_card(*ret_card, &other);
        if (!strcmp(other.name, card.name))
            break;
    }
    return 0;
}

/* The best quantization of a model on one card, by itself and with RAM to spare. */
static int best_on(struct plim_cards_question *q, const struct plim_model *model, size_t card,
                   struct plim_quant_table *table, struct plim_quant_row *ret_best, struct plim_error *reterr)
{
    const struct plim_quant_wish wish = { .version = q->options.version, .has_contexts = true };
    struct plim_machine *machine = plim_alloc(1, sizeof *machine);
    if (!machine)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    machine->n_cards = 1;
    plim_catalogue_card(card, &machine->card[0]);
    plim_host_of_card(&machine->card[0], &machine->host);
    const int result =
        plim_plan_quant_table(model, &q->options.arguments.setup, machine, &q->options.margin, &wish, table, reterr);
    *ret_best = (struct plim_quant_row){ .verdict = PLIM_VERDICT_UNKNOWN };
    if (result == 0 && table->best >= 0)
        *ret_best = table->row[table->best];
    plim_free(machine);
    return result;
}

static int compare_model(struct plim_cards_question *q, const char *name, struct plim_cards_comparison *c,
                         struct plim_quant_table *table, struct plim_error *reterr)
{
    struct plim_cards_model model;
    int result = plim_cards_model_open(q, name, "all", &model, reterr);
    for (int i = 0; i < 2 && result == 0; i++)
        result = best_on(q, model.subject.model, c->card[i], table, &c->model[c->n_models].best[i], reterr);
    if (result == 0) {
        snprintf(c->model[c->n_models].name, sizeof c->model[0].name, "%s", name);
        c->model[c->n_models++].n_ctx = table->n_ctx;
    }
    if (result < 0 && result != PLIM_E_USAGE)
        plim_error_where(reterr, name);
    plim_cards_model_done(&model);
    return result;
}

int plim_cards_compare(struct plim_cards_question *question, struct plim_error *reterr)
{
    struct plim_cards_question *q = question;
    struct plim_cards_comparison c = { .prices = q->prices.of_card };
    int result = 0;
    if (q->options.n_paths != 2) {
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--compare takes two cards; given: %d", q->options.n_paths);
        plim_error_hint(reterr, "plimsoll cards --compare 'RTX 3090' 'RTX 5070 Ti'");
        return PLIM_E_USAGE;
    }
    struct plim_quant_table *table = plim_alloc(1, sizeof *table);
    if (!table)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (int i = 0; i < 2 && result == 0; i++)
        result = find_card(q->options.paths[i], &c.card[i], reterr);
    if (result == 0 && q->model)
        result = compare_model(q, q->model, &c, table, reterr);
    for (int i = 0; i < PLIM_COMPARED_MODELS && result == 0 && !q->model; i++)
        result = compare_model(q, usual_models[i], &c, table, reterr);
    if (result == 0 && q->options.is_json)
        plim_report_comparison_json(stdout, &c);
    else if (result == 0)
        plim_report_comparison_text(stdout, &c, &q->style);
    plim_free(table);
    return result;
}
