/* SPDX-License-Identifier: MIT */
#include "report/watch/free.h"

#include "base/units.h"
#include "report/columns.h"
#include "report/paint.h"
#include "report/print.h"

#include <inttypes.h>
#include <string.h>

enum { PID_WIDTH = 8, USER_WIDTH = 9, BYTES_WIDTH = 10, CARD_WIDTH = 10, INDENT = 10, SENTENCE = 600 };

/* --- the list --- */

static void size_cell(char text[PLIM_SIZE_TEXT], int64_t bytes)
{
    if (bytes < 0)
        snprintf(text, PLIM_SIZE_TEXT, "?");
    else
        plim_size_text(text, (uint64_t)bytes);
}

/* "gpu0", "gpu0+2": the cards that a process holds memory on. */
static void cards_cell(const struct plim_choice *choice, uint32_t candidate, char text[24])
{
    unsigned n = 0;
    snprintf(text, 24, "-");
    for (uint32_t i = 0; i < choice->n_holdings; i++)
        if (choice->holding[i].candidate == candidate && n++ == 0)
            snprintf(text, 24, "%s", choice->card[choice->holding[i].card].id);
    if (n > 1)
        snprintf(text + strlen(text), 24 - strlen(text), "+%u", n - 1);
}

/* A command line without the folder of its program. */
static const char *command_of(const struct plim_kin *kin)
{
    const char *from = kin->command;
    for (const char *p = from; *p && *p != ' '; p++)
        if (*p == '/')
            from = p + 1;
    return *from ? from : "-";
}

static void print_row(FILE *out, const struct plim_choice *choice, uint32_t i)
{
    const struct plim_ending_candidate *c = &choice->candidate[i];
    char size[PLIM_SIZE_TEXT], cards[24];
    size_cell(size, c->bytes);
    cards_cell(choice, i, cards);
    plim_print(out, "%*" PRId64 "  ", PID_WIDTH, c->kin.pid);
    plim_print_padded(out, c->user[0] ? c->user : "-", USER_WIDTH);
    plim_print(out, "%*s  ", BYTES_WIDTH, c->part == PLIM_PART_HOLDER ? size : "-");
    plim_print_padded(out, cards, CARD_WIDTH);
    plim_print_last(out, command_of(&c->kin), PLIM_TEXT_WIDTH - PID_WIDTH - USER_WIDTH - BYTES_WIDTH - CARD_WIDTH - 4);
}

static void print_line(FILE *out, const char *text)
{
    plim_print(out, "%*s", INDENT, "");
    plim_print_wrapped(out, text, INDENT, INDENT);
}

/* Those that end with the root of a job: the holders one by one, the others as a number. */
static uint32_t count_children(const struct plim_choice *choice, int32_t job)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < choice->n_chosen; i++)
        n += choice->candidate[i].job == job && choice->candidate[i].part == PLIM_PART_CHILD;
    return n;
}

static void print_chosen(FILE *out, const struct plim_choice *choice, uint32_t i)
{
    const struct plim_ending_candidate *c = &choice->candidate[i];
    char text[SENTENCE];
    if (c->part == PLIM_PART_CHILD)
        return;
    print_row(out, choice, i);
    if (c->part == PLIM_PART_LAUNCHER)
        print_line(out, "starts those below, and is ended first");
    else if (c->why[0] && c->stale != PLIM_STALE_UNKNOWN) {
        snprintf(text, sizeof text, "%s: %s", c->stale == PLIM_STALE_YES ? "stale" : "not stale", c->why);
        print_line(out, text);
    }
    if (c->is_root_of_job && count_children(choice, c->job)) {
        snprintf(text, sizeof text, "with it end %" PRIu32 " that work for it and hold none",
                 count_children(choice, c->job));
        print_line(out, text);
    }
    if (c->is_root_of_job && c->works_for) {
        snprintf(text, sizeof text, "it works for pid %" PRId64 ", which goes on and may start it again", c->works_for);
        print_line(out, text);
    }
}

static void print_gentle(FILE *out, const struct plim_ending_candidate *c, const char *word)
{
    char text[SENTENCE];
    if (!c->gentle[0])
        return;
    snprintf(text, sizeof text, "%s: %s", word, c->gentle);
    print_line(out, text);
    if (c->gentle_command[0])
        plim_print_command(out, c->gentle_command, INDENT + 2);
}

static void print_cards(FILE *out, const struct plim_choice *choice)
{
    for (uint32_t i = 0; i < choice->n_cards; i++) {
        const struct plim_choice_card *card = &choice->card[i];
        char returns[PLIM_SIZE_TEXT], free_then[PLIM_SIZE_TEXT], total[PLIM_SIZE_TEXT];
        if (card->returns_bytes <= 0)
            continue;
        plim_print(out, "%s: %s would come back", card->id, plim_size_text(returns, (uint64_t)card->returns_bytes));
        if (card->free_bytes >= 0 && card->total_bytes > 0)
            plim_print(out, "; free then: %s of %s",
                       plim_size_text(free_then, (uint64_t)(card->free_bytes + card->returns_bytes)),
                       plim_size_text(total, (uint64_t)card->total_bytes));
        plim_print(out, "\n");
    }
}

void plim_report_free_list(FILE *out, const struct plim_free_answer *answer, const struct plim_style *style)
{
    const struct plim_choice *choice = answer->choice;
    if (choice->n_chosen) {
        plim_print(out, "%sto end:%s\n", plim_paint(style, PLIM_BOLD), plim_paint(style, PLIM_PLAIN));
        for (uint32_t i = 0; i < choice->n_chosen; i++) {
            print_chosen(out, choice, i);
            print_gentle(out, &choice->candidate[i], "gentler");
        }
    }
    if (choice->n > choice->n_chosen) {
        plim_print(out, "%skept:%s\n", plim_paint(style, PLIM_BOLD), plim_paint(style, PLIM_PLAIN));
        for (uint32_t i = choice->n_chosen; i < choice->n; i++) {
            const struct plim_ending_candidate *c = &choice->candidate[i];
            if (c->part == PLIM_PART_CHILD && c->keep == PLIM_KEEP_JOB)
                continue;
            print_row(out, choice, i);
            print_line(out, c->keep_why);
            print_gentle(out, c, c->keep <= PLIM_KEEP_DEFUNCT ? "what helps" : "gentler");
        }
    }
    print_cards(out, choice);
}

/* --- the end --- */

void plim_report_free_end(FILE *out, const struct plim_ended *e, const struct plim_style *style)
{
    const double took_s = (double)e->took_ms / 1000;
    const int64_t pid = e->candidate.kin.pid;
    switch (e->end) {
    case PLIM_END_BEFORE:
        plim_print(out, "pid %" PRId64 " had ended by itself\n", pid);
        break;
    case PLIM_END_TERM:
        plim_print(out, "pid %" PRId64 " ended after SIGTERM (%.1f s)\n", pid, took_s);
        break;
    case PLIM_END_KILL:
        plim_print(out, "pid %" PRId64 " was killed: SIGTERM had not ended it (%.1f s)\n", pid, took_s);
        break;
    default:
        plim_print(out, "%spid %" PRId64 " was not ended%s:", plim_paint(style, PLIM_RED), pid,
                   plim_paint(style, PLIM_PLAIN));
        plim_print_wrapped(out, e->why, 30, 4);
    }
}

static uint32_t count_ended(const struct plim_ending *ending)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < plim_ending_count(ending); i++) {
        const enum plim_ending_end end = plim_ending_at(ending, i)->end;
        n += end == PLIM_END_TERM || end == PLIM_END_KILL;
    }
    return n;
}

static bool is_all_ended(const struct plim_ending *ending)
{
    for (uint32_t i = 0; i < plim_ending_count(ending); i++)
        if (!plim_ending_has_ended(plim_ending_at(ending, i)->end))
            return false;
    return true;
}

static bool is_all_back(const struct plim_ending *ending)
{
    for (uint32_t i = 0; i < plim_ending_cards(ending); i++)
        if (!plim_ending_card(ending, i)->is_back)
            return false;
    return true;
}

/* What was named and is kept was asked for, too. */
static bool is_any_named_kept(const struct plim_choice *choice)
{
    for (uint32_t i = choice->n_chosen; i < choice->n; i++)
        if (choice->candidate[i].is_named)
            return true;
    return false;
}

bool plim_free_is_done(const struct plim_free_answer *answer)
{
    return !is_any_named_kept(answer->choice) && answer->stage == PLIM_FREE_DONE && is_all_ended(answer->ending) &&
           is_all_back(answer->ending) && plim_ending_count(answer->ending) > 0;
}

static void print_missing(FILE *out, const struct plim_ending *ending, const struct plim_style *style)
{
    for (uint32_t i = 0; i < plim_ending_cards(ending); i++) {
        const struct plim_returned *r = plim_ending_card(ending, i);
        if (r->is_back)
            continue;
        plim_print(out, "%snot back on %s%s:", plim_paint(style, PLIM_RED), r->id, plim_paint(style, PLIM_PLAIN));
        plim_print_wrapped(out, r->why, 14 + (int)strlen(r->id), 4);
    }
}

static void print_users(FILE *out, const struct plim_free_answer *answer)
{
    if (answer->n_users)
        plim_print(out, "have a card's device files open, and no memory that the driver lists:\n");
    for (uint32_t i = 0; i < answer->n_users && i < PLIM_FREE_MAX_USERS; i++) {
        plim_print(out, "%*" PRId64 "  ", PID_WIDTH, answer->user[i]->pid);
        plim_print_last(out, command_of(answer->user[i]), PLIM_TEXT_WIDTH - PID_WIDTH - 2);
    }
    if (answer->n_users > PLIM_FREE_MAX_USERS)
        plim_print(out, "%*s  and %" PRIu32 " more\n", PID_WIDTH, "", answer->n_users - PLIM_FREE_MAX_USERS);
}

/* "11.3 GiB back on gpu0 (now 14.1 GiB free)" */
static void print_returned(FILE *out, const struct plim_returned *r)
{
    char back[PLIM_SIZE_TEXT], free_now[PLIM_SIZE_TEXT];
    if (r->returned_bytes >= 0)
        plim_print(out, "; %s back on %s", plim_size_text(back, (uint64_t)r->returned_bytes), r->id);
    else
        plim_print(out, "; memory of unknown size back on %s", r->id);
    if (r->free_bytes >= 0)
        plim_print(out, " (now %s free)", plim_size_text(free_now, (uint64_t)r->free_bytes));
}

static void print_done(FILE *out, const struct plim_free_answer *answer, const struct plim_style *style)
{
    const struct plim_ending *ending = answer->ending;
    const uint32_t n = count_ended(ending);
    if (n == 0 && !is_all_ended(ending)) {
        plim_print(out, "nothing was ended\n");
        return;
    }
    print_missing(out, ending, style);
    print_users(out, answer);
    plim_print(out, "%s", plim_paint(style, plim_free_is_done(answer) ? PLIM_GREEN : PLIM_RED));
    if (n)
        plim_print(out, "%" PRIu32 " process%s ended", n, n == 1 ? "" : "es");
    else
        plim_print(out, "all had ended by themselves");
    plim_print(out, "%s", plim_paint(style, PLIM_PLAIN));
    for (uint32_t i = 0; i < plim_ending_cards(ending); i++)
        if (plim_ending_card(ending, i)->expected_bytes != 0 || !plim_ending_card(ending, i)->is_back)
            print_returned(out, plim_ending_card(ending, i));
    plim_print(out, "\n");
}

void plim_report_free_outcome(FILE *out, const struct plim_free_answer *answer, const struct plim_style *style)
{
    const uint32_t n = answer->choice->n_chosen;
    if (answer->stage == PLIM_FREE_DONE)
        print_done(out, answer, style);
    else if (n == 0 && answer->choice->n == 0)
        plim_print(out, "nothing stale holds memory on a card; 'plimsoll ps' lists who does\n");
    else if (n == 0)
        plim_print(out, "there is nothing to end\n");
    else if (answer->stage == PLIM_FREE_DRY_RUN)
        plim_print(out, "%" PRIu32 " process%s would be ended%s\n", n, n == 1 ? "" : "es",
                   !answer->is_bare ? ""
                   : n == 1         ? ": 'plimsoll free --stale' ends it"
                                    : ": 'plimsoll free --stale' ends them");
    else if (answer->stage == PLIM_FREE_LISTED)
        plim_print(out, "nothing was ended: there is no terminal to ask on; --yes ends without asking\n");
    else
        plim_print(out, "nothing was ended\n");
}
