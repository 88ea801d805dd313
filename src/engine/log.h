/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LOG_H
#define PLIMSOLL_ENGINE_LOG_H

/*
 * An engine's log as a receipt, whichever engine it is. It comes in pieces of any size and may have any length: what is
 * kept of it does not grow. Colours are dropped, a line over PLIM_MAX_LOG_LINE_BYTES is cut.
 */

#include "base/error.h"
#include "receipt/receipt.h"

struct plim_log;

/* NULL: out of memory. */
struct plim_log *plim_log_new(void);
void plim_log_free(struct plim_log *log);

void plim_log_feed(struct plim_log *log, const char *data, size_t size);

/* The log is over. An error when it says nothing of memory. */
int plim_log_receipt(struct plim_log *log, struct plim_receipt *ret_receipt, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
