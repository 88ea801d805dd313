/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_HISTORY_CHART_H
#define PLIMSOLL_REPORT_HISTORY_CHART_H

/* Memory over a history, as a chart for a terminal: a column is a slice of it and shows the most that was held in it.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PLIM_HISTORY_COLUMNS = 64, PLIM_HISTORY_LABEL = 11 };

struct plim_history {
    uint64_t bytes[PLIM_HISTORY_COLUMNS];
    uint64_t outer_bytes[PLIM_HISTORY_COLUMNS]; /* drawn lightly above them; not above bytes: nothing is drawn */
    uint64_t full_bytes;                        /* the height of the chart; not 0 */
    unsigned peak_column;
    unsigned oom_column;            /* where memory ran out; PLIM_HISTORY_COLUMNS: it did not */
    const char *peak, *start, *end; /* texts below the axis */
};

void plim_history_print(FILE *out, const struct plim_history *history, bool is_unicode);
/* What stands for outer_bytes in the chart. */
const char *plim_history_outer_cell(bool is_unicode);

#endif
