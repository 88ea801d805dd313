/* SPDX-License-Identifier: MIT */
/* plimsoll cards --for MODEL: the cards that carry it. */
#include "base/error.h"
#include "base/mem.h"
#include "cli/cards/model.h"
#include "cli/cli.h"
#include "cli/fit/answer.h"
#include "engine/type.h"
#include "report/cards/cards.h"

#include <string.h>

#define USUAL_QUANT "Q4_K_M" /* of the files that are published most */

enum { MOST_SHOWN = 24 };

/* Cards of the query; with prices those that have one. */
static bool is_wanted(size_t card, const void *data)
{
    const struct plim_cards_question *q = data;
    const struct plim_price *price = q->prices.of_card ? &q->prices.of_card[card] : NULL;
    bool is = !price || q->is_all || price->buy > 0 || price->per_hour > 0;
    for (int i = 0; i < q->options.n_paths; i++)
        is = is && plim_catalogue_matches(card, q->options.paths[i]);
    return is;
}

/* A name without a quantization means the usual one here: the table of all would be one for each card. */
static int open_model(struct plim_cards_question *q, struct plim_cards_model *m, struct plim_error *reterr)
{
    const char *quant = q->options.quant;
    int result = quant && !strcmp(quant, "all")
                     ? plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "--for takes one quantization, not all")
                     : plim_cards_model_open(q, q->model, quant, m, reterr);
    if (result < 0 || !m->subject.is_table)
        return result;
    plim_subject_done(&m->subject);
    return plim_subject_open(&m->subject, &m->paths.paths[0], USUAL_QUANT, reterr);
}

/* The machine decides no context: any card will do to read it from the model. */
static int settle_context(struct plim_cards_question *q, struct plim_engine *engine, struct plim_setup *setup,
                          struct plim_carriers_answer *answer, struct plim_error *reterr)
{
    struct plim_machine machine = { .n_cards = 1 };
    plim_card_of_size(80, &machine.card[0]);
    const int result = plim_plan_context(engine, setup, &machine, &q->options.margin, setup, &answer->n_ctx, reterr);
    answer->is_ctx_assumed = result > 0;
    return result < 0 ? result : 0;
}

/* The point and the settings that the cards are compared for; they are the same on all. */
static int describe_step(const struct plim_cards_question *q, struct plim_engine *engine,
                         const struct plim_setup *setup, struct plim_carriers_answer *answer, struct plim_error *reterr)
{
    struct plim_machine machine = { .n_cards = 1 };
    if (plim_model_kind(answer->model) != PLIM_MODEL_STEP)
        return 0;
    struct plim_bill *bill = plim_alloc(1, sizeof *bill);
    if (!bill)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    plim_card_of_size(80, &machine.card[0]);
    const int result = plim_engine_bill(engine, setup, &machine, &q->options.margin, bill, reterr);
    if (result == 0)
        setup->type->describe(bill, 1, answer->step, sizeof answer->step);
    plim_free(bill);
    return result;
}

/* What would be found for each card cannot be said of all. */
static int refuse_search(const struct plim_setup *setup, const char *model, struct plim_error *reterr)
{
    char asked[64];
    if (!setup->type->asks_machine || !setup->type->asks_machine(setup, asked, sizeof asked))
        return 0;
    const int code =
        plim_fail(reterr, PLIM_E_USAGE, PLIM_NO_OFFSET, "%s differs from card to card: ask for one of them", asked);
    plim_error_hint(reterr, "plimsoll fit %s --card NAME %s", model, asked);
    return code;
}

static int answer_for(struct plim_cards_question *q, const struct plim_subject *subject, struct plim_error *reterr)
{
    struct plim_carriers_answer answer = { .model = subject->model, .notes = &subject->notes };
    struct plim_engine *engine = NULL;
    struct plim_carrier *carriers = NULL;
    const struct plim_engine_type *type;
    struct plim_setup setup = q->options.arguments.setup;
    int result = plim_answer_engine_type(&q->options, subject->model, &type, reterr);
    if (result == 0)
        plim_setup_change_type(&setup, type);
    if (result == 0)
        result = refuse_search(&setup, q->model, reterr);
    if (result == 0)
        result = plim_engine_new(subject->model, type, q->options.version, &engine, reterr);
    if (result == 0)
        result = settle_context(q, engine, &setup, &answer, reterr);
    if (result == 0)
        result = describe_step(q, engine, &setup, &answer, reterr);
    if (result == 0)
        result = plim_plan_carriers(engine, &setup, &q->options.margin, is_wanted, q, &carriers, &answer.n, reterr);
    if (result == 0) {
        answer.carriers = carriers;
        answer.n_shown = q->is_all || answer.n < MOST_SHOWN ? answer.n : MOST_SHOWN;
        answer.prices = q->prices.of_card;
        if (q->options.is_json)
            plim_report_carriers_json(stdout, &answer);
        else
            plim_report_carriers_text(stdout, &answer, &q->style);
        result = answer.n ? PLIM_EXIT_YES : PLIM_EXIT_NO;
    }
    plim_carriers_free(carriers);
    plim_engine_free(engine);
    return result;
}

int plim_cards_for_model(struct plim_cards_question *question, struct plim_error *reterr)
{
    struct plim_cards_question *q = question;
    struct plim_cards_model model = { .paths = { .n = 0 } };
    int result = open_model(q, &model, reterr);
    if (result == 0 && q->prices.of_card && !q->is_all)
        plim_note(&model.subject.notes, "cards without a price are left out; --all lists them too");
    if (result == 0 && q->prices.n_unknown)
        plim_note(&model.subject.notes, "prices without a card of the catalogue: %u, the first of '%.60s'",
                  q->prices.n_unknown, q->prices.unknown);
    if (result == 0)
        result = answer_for(q, &model.subject, reterr);
    if (result < 0 && result != PLIM_E_USAGE)
        plim_error_where(reterr, q->model);
    plim_cards_model_done(&model);
    return result;
}
