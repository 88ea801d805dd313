/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_WATCH_PS_H
#define PLIMSOLL_REPORT_WATCH_PS_H

/* Who holds the memory of the cards: for people, and for programs as JSON, lines of fields and Prometheus's text. */

#include "base/notes.h"
#include "report/report.h"
#include "watch/watch.h"

#include <jansson.h>

/* What is shown of a sample. */
struct plim_ps {
    const struct plim_sample *sample;
    const struct plim_watch_row *rows;   /* of its holdings */
    const struct plim_watch_card *cards; /* of its cards */
    const bool *is_card_shown;
    const uint32_t *order; /* the holdings that are shown, those of a card together */
    uint32_t n_shown;
    const char *user; /* only this user's are shown; NULL: all */
    int64_t uid;      /* of whoever asks: other users' processes only root can end, who is 0 */
    const struct plim_notes *notes;
};

void plim_report_ps_text(FILE *out, const struct plim_ps *ps, const struct plim_style *style);
/* A line of names, then one for each holding and one for what nobody owns. */
void plim_report_ps_plain(FILE *out, const struct plim_ps *ps);
/* False: out of memory, or not written. */
bool plim_report_ps_json(FILE *out, const struct plim_ps *ps);

/* Prometheus's text format 0.0.4. `ps` is NULL when the cards could not be asked: that is not an idle card.
 * seconds: that asking took. */
void plim_report_ps_metrics(FILE *out, const struct plim_ps *ps, bool with_processes, double seconds);

#endif
