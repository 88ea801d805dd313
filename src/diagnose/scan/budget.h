/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_BUDGET_H
#define PLIMSOLL_DIAGNOSE_SCAN_BUDGET_H

/*
 * What reading a log may take, in steps. A step is two bytes that an expression looks at, some nanoseconds; steps are
 * counted from the text alone and never from the clock, so that a log has one answer on every machine. A log may take
 * PLIM_MAX_LOG_STEPS, and some more for each of its bytes: real ones take a small part of it. When all is spent,
 * nothing is read until PLIM_LOG_SAMPLE_STEPS have come together: the rest of the log is sampled.
 * PLIM_MAX_LOG_END_STEPS are kept for the end of the log, where the failure is.
 */

#include <stdbool.h>
#include <stdint.h>

struct plim_budget {
    uint64_t spent, allowed;       /* steps; allowed at the offset that was asked for last */
    uint64_t end_start, end_bytes; /* offset: the end of the log begins here, and has so many bytes; 0: not known */
    bool is_resting;               /* all was spent, and less than a sample has come together since */
};

/* For a log. */
void plim_budget_reset(struct plim_budget *budget);

/* The log ends `bytes` behind this offset. */
void plim_budget_end(struct plim_budget *budget, uint64_t offset, uint64_t bytes);

/* True when the text at this offset may be read. */
bool plim_budget_may_read(struct plim_budget *budget, uint64_t offset);

static inline void plim_budget_spend(struct plim_budget *budget, uint64_t steps) { budget->spent += steps; }

static inline bool plim_budget_is_spent(const struct plim_budget *budget) { return budget->spent >= budget->allowed; }

#endif
