/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LOG_TYPE_H
#define PLIMSOLL_ENGINE_LOG_TYPE_H

/* The reader of one engine's log: one static table each. Nothing outside the engine's folder knows its lines. */

#include "receipt/receipt.h"

struct plim_engine_log_type {
    size_t size;                                                    /* of the reader's state */
    void (*init)(void *state);                                      /* on zeroed memory */
    void (*line)(void *state, const char *line);                    /* one line of the log, without its end */
    bool (*receipt)(void *state, struct plim_receipt *ret_receipt); /* false: nothing of this engine was read */
    const struct plim_receipt_labels *labels; /* NULL: labels are those of the bills, and a missing line is unknown */
    const char *engine;                       /* as in its receipts */
    const char *reads;                        /* for people: the lines that have the figures */
};

/* Several may read one log: the first that finds figures gives the receipt. */
enum { PLIM_ENGINE_LOG_TYPES = 3 };
extern const struct plim_engine_log_type *const plim_engine_log_types[PLIM_ENGINE_LOG_TYPES];

#endif
