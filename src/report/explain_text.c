/* SPDX-License-Identifier: MIT */
/*
 * The screen of `plimsoll explain`, for a reader who has never met the error: what happened, why, what to do first with
 * the line to paste, then the rest. The last line has the cause and the first thing to do once more, as it is what
 * stays in sight.
 */
#include "report/explain_parts.h"

#include "base/units.h"
#include "diagnose/scan/patterns/pattern.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum {
    LINE_BYTES = 640,
    REMEDIES = 4,
    USELESS = 3,
};

/* --- what happened --- */

static void print_happened(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_field_text means =
        item->has_entry ? plim_entry_field(&item->entry, PLIM_FIELD_MEANS, 0) : (struct plim_field_text){ NULL, NULL };
    plim_explain_print_head(out, "What happened", style);
    if (means.text)
        plim_explain_print_paragraph(out, means.text);
    plim_explain_print_account(out, item, style);
}

/* --- why --- */

static const char *const cause_words[PLIM_CAUSE_MAX_] = {
    [PLIM_CAUSE_UNKNOWN] = "the reason is not in this log",
    [PLIM_CAUSE_MODEL_TOO_BIG] = "the model is larger than the card",
    [PLIM_CAUSE_OTHER_PROCESS] = "another process holds the memory",
    [PLIM_CAUSE_FRAGMENTATION] = "memory is there, but in pieces",
    [PLIM_CAUSE_KV_CACHE_CONTEXT] = "the cache for the context does not fit",
    [PLIM_CAUSE_BATCH_OR_ACTIVATION] = "one step needs more than is left",
    [PLIM_CAUSE_LEAK_OR_GROWTH] = "memory grows from step to step",
    [PLIM_CAUSE_OPTIMIZER_STATES] = "the optimizer does not fit",
    [PLIM_CAUSE_HOST_RAM] = "RAM ran out, not the memory of the GPU",
    [PLIM_CAUSE_SHM] = "shared memory is full (/dev/shm)",
    [PLIM_CAUSE_ALLOCATOR_LIMIT] = "a limit that was set, not the card",
    [PLIM_CAUSE_MISCONFIGURATION_UTILIZATION] = "the share of the card is set wrongly",
    [PLIM_CAUSE_DRIVER_OR_CONTEXT] = "the driver, the system or a library refused",
    [PLIM_CAUSE_NOT_OOM] = "not a lack of memory",
};

static const char *const sure_words[] = { "", "a guess", "likely", "sure" };

/* The cause is only the most common one for a log without further clues: then it is not stated as if it were known. */
static bool is_open(const struct plim_explained *item)
{
    const struct plim_guess *best = &item->cause.best;
    return best->rule && (!strcmp(best->rule, "rest") ||
                          (best->confidence == PLIM_CONFIDENCE_LOW && !strcmp(best->rule, "compute-stage")));
}

static const char *say_cause(const struct plim_explained *item)
{
    return plim_explain_is_recovered(item) ? "no failure, the program went on"
           : is_open(item)                 ? "GPU memory ran out"
                                           : cause_words[item->cause.best.cause];
}

static void print_why(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_cause_answer *a = &item->cause;
    char text[LINE_BYTES];
    const char *sure = is_open(item) ? "" : sure_words[a->best.confidence];
    snprintf(text, sizeof text, "Why: %s%s%s%s", say_cause(item), *sure ? " (" : "", sure, *sure ? ")" : "");
    plim_explain_print_head(out, text, style);
    plim_explain_print_paragraph(out, a->best.why);
    plim_explain_print_evidence(out, item, style);
    for (uint32_t i = 0; i < a->n_second; i++) {
        if (a->best.confidence == PLIM_CONFIDENCE_HIGH && i > 0)
            break;
        snprintf(text, sizeof text, "Less likely: %s.", cause_words[a->second[i].cause]);
        plim_explain_print_paragraph(out, text);
    }
}

/* --- what to do --- */

static void print_remedy(FILE *out, const struct plim_remedy *remedy, unsigned number, const struct plim_style *style)
{
    char text[LINE_BYTES], size[PLIM_SIZE_TEXT];
    plim_print(out, "%2u. %s", number, number == 1 ? plim_paint(style, PLIM_BOLD) : "");
    plim_print_wrapped(out, remedy->change, 4, 4);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    if (remedy->command[0]) {
        plim_print(out, "%s", plim_paint(style, PLIM_CYAN));
        plim_print_command(out, remedy->command, 6);
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
    if (remedy->costs[0] && number == 1) {
        snprintf(text, sizeof text, "costs: %s%s%s", remedy->costs,
                 plim_explain_is_known(remedy->frees_bytes) ? "; frees " : "",
                 plim_explain_is_known(remedy->frees_bytes) && remedy->frees_bytes >= 0
                     ? plim_size_text(size, (uint64_t)remedy->frees_bytes)
                     : "");
        plim_print(out, "    %s", plim_paint(style, PLIM_DIM));
        plim_print_wrapped(out, text, 4, 6);
        plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    }
    if (remedy->verified[0]) {
        plim_print(out, "    ");
        plim_print_wrapped(out, remedy->verified, 4, 6);
    }
}

static void print_remedies(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    const struct plim_remedies *r = &item->remedies;
    char text[LINE_BYTES];
    if (r->n)
        plim_explain_print_head(out, "Do this first", style);
    for (uint32_t i = 0; i < r->n && i < REMEDIES; i++) {
        if (i == 1)
            plim_explain_print_head(out, "If that is not enough, or not wanted", style);
        print_remedy(out, &r->item[i], i + 1, style);
    }
    if (r->n_useless)
        plim_explain_print_head(out, "What will not help here", style);
    for (uint32_t i = 0; i < r->n_useless && i < USELESS; i++) {
        snprintf(text, sizeof text, "%s%s%s", r->useless[i].what, r->useless[i].why[0] ? ": " : "", r->useless[i].why);
        plim_print(out, "  - ");
        plim_print_wrapped(out, text, 4, 4);
    }
}

/* --- the rest --- */

static void print_processes(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    char size[PLIM_SIZE_TEXT], text[280];
    if (!explanation->n_processes)
        return;
    plim_explain_print_head(out, "On the cards of this machine now", style);
    for (uint32_t i = 0; i < explanation->n_processes; i++) {
        const struct plim_explain_process *p = &explanation->processes[i];
        plim_print(out, "  %8" PRId64 " %11s  %.40s (%.24s)\n", p->pid,
                   plim_explain_is_known(p->bytes) && p->bytes >= 0 ? plim_size_text(size, (uint64_t)p->bytes) : "?",
                   p->name, p->card);
        if (!*p->why && !p->is_of_log)
            continue;
        snprintf(text, sizeof text, "%s%s%s%s", p->is_of_log ? "of the log; " : "", p->user, *p->user ? ": " : "",
                 *p->why ? p->why : "holds it now");
        plim_print(out, "%22s", "");
        plim_print_wrapped(out, text, 22, 22);
    }
}

/* "ANOTHER PROCESS HOLDS THE MEMORY: end process 19239, which holds 14.26 GiB, if it is yours" */
static void print_last(FILE *out, const struct plim_explained *item, const struct plim_style *style)
{
    char text[LINE_BYTES], cause[96];
    const enum plim_colour colour = item->cause.best.cause == PLIM_CAUSE_NOT_OOM ? PLIM_YELLOW : PLIM_RED;
    const bool is_guess = item->cause.best.confidence == PLIM_CONFIDENCE_LOW && !is_open(item);
    snprintf(cause, sizeof cause, "%s%s", is_guess ? "perhaps " : "", say_cause(item));
    for (char *c = cause; *c && *c != '('; c++) /* a path in brackets stays as it is */
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    plim_print(out, "%s%s%s%s", plim_paint(style, PLIM_BOLD), plim_paint(style, colour), cause,
               plim_paint(style, PLIM_PLAIN));
    snprintf(text, sizeof text, "%s%s", item->remedies.n ? ": " : "",
             item->remedies.n ? item->remedies.item[0].change : "");
    if (!*text) {
        plim_print(out, "\n");
        return;
    }
    char *detail = strstr(text + 2, ": "); /* the step itself has it above */
    if (detail && detail > text + 20)
        *detail = '\0';
    plim_print(out, ":");
    plim_print_wrapped(out, text + 2, (int)strlen(cause) + 1, 2);
}

void plim_report_explain_text(FILE *out, const struct plim_explanation *explanation, const struct plim_style *style)
{
    if (explanation->n_items == 0) {
        plim_explain_print_nothing(out, explanation);
        return;
    }
    const struct plim_explained *root = &explanation->items[0];
    const char *name = plim_explain_program_name(root->finding->framework);
    const struct plim_field_text title = plim_explain_title(root);
    char text[LINE_BYTES];
    char where[32] = "";
    if (root->finding->line) /* 0 when only an exit status is known */
        snprintf(where, sizeof where, ", line %" PRIu64, root->finding->line);
    const char *what = title.text ? title.text : root->finding->pattern->id;
    bool is_named = strstr(what, name) || !strcmp(root->finding->framework, "other");
    snprintf(text, sizeof text, "%s%s: %s%s%s%s", explanation->source, where, what, is_named ? "" : " [",
             is_named ? "" : name, is_named ? "" : "]");
    plim_print(out, "%s", plim_paint(style, PLIM_BOLD));
    plim_print_wrapped(out, text, 0, 2);
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    print_happened(out, root, style);
    print_why(out, root, style);
    print_remedies(out, root, style);
    print_processes(out, explanation, style);
    plim_explain_print_related(out, explanation, style);
    plim_print(out, "\n");
    plim_explain_print_unread(out, explanation);
    if (root->has_entry)
        plim_print(out, "'plimsoll errors %s' has more of it.\n", root->entry.id);
    print_last(out, root, style);
}
