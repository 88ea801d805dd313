/* SPDX-License-Identifier: MIT */
/* A line for each process on each card, its fields parted by tabs: for cut, awk and sort. */
#include "report/watch/ps.h"

#include "report/print.h"

#include <inttypes.h>

static const char *stale_word(enum plim_stale stale)
{
    return stale == PLIM_STALE_YES ? "yes" : stale == PLIM_STALE_NO ? "no" : "-";
}

/* Unknown is "-": an empty field is lost by programs that take several blanks for one. */
static void put_number(FILE *out, int64_t number)
{
    if (number >= 0)
        plim_print(out, "\t%jd", (intmax_t)number);
    else
        plim_print(out, "\t-");
}

/* Tabs and line ends are no characters that are shown: plim_print() writes '?' for them. */
static void put_text(FILE *out, const char *text) { plim_print(out, "\t%s", *text ? text : "-"); }

static void put_holding(FILE *out, const struct plim_ps *ps, uint32_t holding)
{
    const struct plim_holding *h = &ps->sample->holding[holding];
    const struct plim_sample_process *p = &ps->sample->process[h->process];
    const struct plim_watch_row *row = &ps->rows[holding];
    plim_print(out, "%s", ps->sample->card[h->card].id);
    put_number(out, p->pid);
    put_text(out, p->user);
    put_number(out, h->bytes);
    put_number(out, row->idle_s);
    put_text(out, stale_word(row->stale));
    put_text(out, plim_stale_reason_name(row->reason));
    put_number(out, p->started_unix_s > 0 ? p->started_unix_s : -1);
    put_text(out, p->container);
    put_text(out, row->framework);
    put_text(out, row->model);
    put_text(out, p->command);
    plim_print(out, "\n");
}

void plim_report_ps_plain(FILE *out, const struct plim_ps *ps)
{
    plim_print(out, "card\tpid\tuser\tbytes\tidle_s\tstale\treason\tstarted\tcontainer\tframework\tmodel\tcommand\n");
    for (uint32_t card = 0; card < ps->sample->n_cards; card++) {
        if (!ps->is_card_shown[card])
            continue;
        for (uint32_t i = 0; i < ps->n_shown; i++)
            if (ps->sample->holding[ps->order[i]].card == card)
                put_holding(out, ps, ps->order[i]);
        if (ps->cards[card].unattributed_bytes > 0)
            plim_print(out, "%s\t-\t-\t%jd\t-\t-\tunattributed\t-\t-\t-\t-\t-\n", ps->sample->card[card].id,
                       (intmax_t)ps->cards[card].unattributed_bytes);
    }
}
