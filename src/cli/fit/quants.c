/* SPDX-License-Identifier: MIT */
#include "cli/fit/quants.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "engine/option.h"

#include <string.h>

#define LEAST_BITS_STRICT 8.0 /* per weight, for --quality strict */

struct printer {
    const struct plim_quants_question *question;
    const struct plim_machine *machine;
    struct plim_command no_command;
    bool is_grid; /* printed as a whole: rows have a verdict for each card */
    bool has_head;
};

/* --- rows --- */

static void report_row(void *data, struct plim_engine *engine, const struct plim_bill *bill,
                       const struct plim_quant_table *table)
{
    struct printer *p = data;
    const struct plim_quants_question *q = p->question;
    const struct plim_quant_row *row = &table->row[table->n - 1];
    const struct plim_room none = { 0 };
    struct plim_answer answer = { .engine = engine,
                                  .setup = &table->setup,
                                  .machine = p->machine,
                                  .bill = bill,
                                  .margin = q->options->margin,
                                  .room = &none,
                                  .quant = row,
                                  .command = &p->no_command };
    for (unsigned i = 0; i < q->notes->n && i < PLIM_REPORT_MAX_NOTES; i++)
        answer.notes[answer.n_notes++] = q->notes->text[i];
    if (q->options->is_json) {
        plim_report_json(stdout, &answer, true, (*q->n_answers)++);
    } else {
        if (!p->has_head)
            plim_report_quants_head(stdout, &answer, !p->is_grid, q->style);
        p->has_head = true;
        if (!p->is_grid)
            plim_report_quants_row(stdout, row, q->style);
    }
}

/* The same question about one quantization, with the context that was assumed: alone it would be the model's own. */
static void next_question(const struct plim_quants_question *q, const struct plim_quant_table *table, const char *quant,
                          char text[PLIM_COMMAND_BYTES])
{
    struct plim_command command = { .n_words = 0 };
    const struct plim_option *context = plim_option_with_key(table->setup.type, "n_ctx");
    char name[PLIM_OPTION_NAME_BYTES], n_ctx[16];
    plim_command_add(&command, "plimsoll");
    for (int i = 0; i < q->argc && strcmp(q->argv[i], "--") != 0; i++)
        if (!strcmp(q->argv[i], "--quant"))
            i++;
        else if (strncmp(q->argv[i], "--quant=", 8) != 0)
            plim_command_add(&command, q->argv[i]);
    plim_command_add(&command, "--quant");
    plim_command_add(&command, quant);
    if (table->is_ctx_assumed && context && *plim_option_name(context, name) == '-') {
        snprintf(n_ctx, sizeof n_ctx, "%u", table->n_ctx);
        plim_command_add(&command, name);
        plim_command_add(&command, n_ctx);
    }
    if (q->options->has_command || !plim_command_text(&command, NULL, 0, text))
        text[0] = '\0';
}

static int plan(const struct plim_quants_question *q, struct printer *printer, bool has_contexts,
                struct plim_quant_table *table, struct plim_error *reterr)
{
    const struct plim_quant_wish wish = {
        .version = q->options->version,
        .least_bits_per_weight = q->options->is_quality_strict ? LEAST_BITS_STRICT : 0,
        .has_contexts = has_contexts,
        .report = report_row,
        .data = printer,
    };
    return plim_plan_quant_table(q->model, q->setup, printer->machine, &q->options->margin, &wish, table, reterr);
}

/* --- one machine --- */

int plim_quants_answer(const struct plim_quants_question *question, char ret_best[16], struct plim_error *reterr)
{
    struct printer printer = { .question = question, .machine = question->machine };
    char command[PLIM_COMMAND_BYTES] = "";
    struct plim_quant_table *table = plim_alloc(1, sizeof *table);
    ret_best[0] = '\0';
    if (!table)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    int result = plan(question, &printer, true, table, reterr);
    if (result < 0)
        goto out;
    if (table->best >= 0)
        memcpy(ret_best, table->row[table->best].file_type, sizeof table->row[0].file_type);
    if (!question->options->is_json) {
        if (table->best >= 0 && table->row[table->best].recipe)
            next_question(question, table, ret_best, command);
        plim_report_quants_end(stdout, table, command, question->style);
    }
    result = table->best >= 0 ? PLIM_EXIT_YES : PLIM_EXIT_NO;
out:
    plim_free(table);
    return result;
}

/* --- a card of each size --- */

int plim_quants_answer_ladder(const struct plim_quants_question *question, struct plim_error *reterr)
{
    struct plim_machine machine = *question->machine;
    struct printer printer = { .question = question, .machine = &machine, .is_grid = true };
    struct plim_quant_table *tables = plim_alloc(PLIM_LADDER_STEPS, sizeof *tables);
    char names[PLIM_LADDER_STEPS][sizeof machine.card[0].name];
    const char *cards[PLIM_LADDER_STEPS];
    bool fits = false;
    int result = 0;
    if (!tables)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (unsigned step = 0; step < PLIM_LADDER_STEPS && result >= 0; step++) {
        plim_cli_ladder_card(step, &machine.card[0]);
        memcpy(names[step], machine.card[0].name, sizeof names[step]);
        cards[step] = names[step];
        result = plan(question, &printer, false, &tables[step], reterr);
        fits = fits || tables[step].best >= 0;
    }
    if (result >= 0 && !question->options->is_json)
        plim_report_quants_grid(stdout, tables, cards, PLIM_LADDER_STEPS, question->style);
    plim_free(tables);
    return result < 0 ? result : fits ? PLIM_EXIT_YES : PLIM_EXIT_NO;
}
