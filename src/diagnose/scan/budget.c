/* SPDX-License-Identifier: MIT */
#include "diagnose/scan/budget.h"

#include "base/limits.h"

void plim_budget_reset(struct plim_budget *budget) { *budget = (struct plim_budget){ .allowed = PLIM_MAX_LOG_STEPS }; }

void plim_budget_end(struct plim_budget *budget, uint64_t offset, uint64_t bytes)
{
    if (budget->end_bytes > 0) /* the log went on behind what was its end: that one had the steps for it */
        return;
    budget->end_start = offset;
    budget->end_bytes = bytes;
    budget->is_resting = false;
}

/* Steps for the end come evenly with its bytes, so that the last line has its part of them. */
static uint64_t steps_of_end(const struct plim_budget *budget, uint64_t offset)
{
    const uint64_t bytes = offset - budget->end_start;
    if (budget->end_bytes == 0 || offset < budget->end_start)
        return 0;
    return bytes >= budget->end_bytes ? PLIM_MAX_LOG_END_STEPS : PLIM_MAX_LOG_END_STEPS * bytes / budget->end_bytes;
}

static uint64_t steps_of_bytes(uint64_t n)
{
    const uint64_t rich = n < PLIM_MAX_LOG_RICH_BYTES ? n : PLIM_MAX_LOG_RICH_BYTES;
    return PLIM_MAX_LOG_STEPS_OF_BYTE * rich + (n - rich);
}

bool plim_budget_may_read(struct plim_budget *budget, uint64_t offset)
{
    const uint64_t rest = budget->is_resting ? PLIM_LOG_SAMPLE_STEPS : 1;
    const uint64_t spent = budget->spent;
    budget->allowed = PLIM_MAX_LOG_STEPS + steps_of_bytes(offset) + steps_of_end(budget, offset);
    budget->is_resting = budget->allowed < spent + rest;
    return !budget->is_resting;
}
