/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_CAUSE_GROWTH_H
#define PLIMSOLL_DIAGNOSE_CAUSE_GROWTH_H

/* Memory that rose from figure to figure of a log, and how fast. */

#include "diagnose/finding.h"

struct plim_rise {
    uint32_t n; /* figures */
    int64_t first_bytes, last_bytes;
    int64_t seconds, bytes_per_hour; /* PLIM_UNKNOWN: the log has no times at these lines */
};

/*
 * True when the series of the log rises at nearly every figure, by more than rounding and one in a hundred of the card.
 * Figures without steps rise while a model is loaded, too: they have to last ten minutes.
 */
bool plim_rise_read(const struct plim_log_context *context, int64_t total_bytes, struct plim_rise *ret_rise);

/*
 * The same of lines that the program printed in words of its own (printed.h), which have no steps: fewer figures do
 * when they are of one thing that grows, the keys and values or the work of a step.
 */
bool plim_rise_read_printed(const struct plim_printed *printed, int64_t total_bytes, struct plim_rise *ret_rise);

/* Seconds from the first figure until the card is full at that pace, of a minute or more; else PLIM_UNKNOWN. */
int64_t plim_rise_lasts(const struct plim_log_context *context, int64_t total_bytes);

/* Seconds that what was killed had run; PLIM_UNKNOWN when the log does not say. */
int64_t plim_lifetime(const struct plim_finding *finding);

#endif
