/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TOP_TEXTS_H
#define PLIMSOLL_REPORT_TOP_TEXTS_H

/* Figures as short texts, for the cells of a table. Unknown figures are "?". Each returns buffer. */

#include "report/top/view.h"

enum { PLIM_TOP_TEXT_BYTES = 96 };

/* "18.24 GiB" */
char *plim_top_bytes(char buffer[PLIM_TOP_TEXT_BYTES], int64_t bytes);
/* "45s", "12m", "3h12m", "2d04h": narrower than plim_span_text(), for a column */
char *plim_top_duration(char buffer[PLIM_TOP_TEXT_BYTES], int64_t seconds);
/* "3h12m"; ">=10m" when it may be longer */
char *plim_top_idle(char buffer[PLIM_TOP_TEXT_BYTES], const struct plim_watch_row *row);
/* "+120 MiB/min"; "" when it is steady */
char *plim_top_rate(char buffer[PLIM_TOP_TEXT_BYTES], int64_t bytes_per_min);
/* "+120 MiB/min: full in 21 min"; "+120 MiB/min, may be a warm-up"; "" when it is steady */
char *plim_top_growth(char buffer[PLIM_TOP_TEXT_BYTES], const struct plim_watch_growth *growth);
/* "yes", "no", "?" */
const char *plim_top_stale(enum plim_stale stale);
/* The command without the folder of its program: "python3 train.py". Points into it. */
const char *plim_top_command(const struct plim_sample_process *process);

#endif
