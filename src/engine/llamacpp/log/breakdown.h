/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LOG_BREAKDOWN_H
#define PLIMSOLL_ENGINE_LLAMACPP_LOG_BREAKDOWN_H

/*
 * The table that llama.cpp prints when it ends, and for each trial of --fit, in whole MiB, rounded down:
 *
 *     | memory breakdown [MiB] | total   free     self   model   context   compute    unaccounted |
 *     |   - CUDA0 (RTX 4060)   |  7806 = 1953 + (5543 =  4403 +    1024 +     116) +         308 |
 *     |   - Host               |                  305 =   281 +       0 +      24                |
 *
 * "context" is the KV cache and the recurrent state. The last table counts.
 */

#include "receipt/receipt.h"

struct plim_breakdown_row {
    char id[PLIM_RECEIPT_ID_BYTES], name[PLIM_RECEIPT_NAME_BYTES];
    uint64_t total_mib, free_mib, model_mib, context_mib, compute_mib;
    int64_t unaccounted_mib;
    bool has_total;
};

struct plim_breakdown {
    bool is_open;
    uint32_t n_rows;
    struct plim_breakdown_row row[PLIM_RECEIPT_MAX_DEVICES];
};

/* True when the line is part of a table. */
bool plim_breakdown_line(struct plim_breakdown *table, const char *line);

/* The engine had not allocated yet: its free memory and what it needs are more than there is. */
bool plim_breakdown_is_estimate(const struct plim_breakdown *table);

/* Cards and what is unaccounted for; with_lines: the other columns, too. */
void plim_breakdown_add(const struct plim_breakdown *table, bool with_lines, struct plim_receipt *receipt);

#endif
