/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LOG_H
#define PLIMSOLL_ENGINE_LOG_H

/*
 * Any engine's log as a receipt. The log comes in pieces of any size and may have any length; memory use is constant.
 * Colours are dropped, a line over PLIM_MAX_LOG_LINE_BYTES is cut.
 */

#include "base/error.h"
#include "receipt/receipt.h"

struct plim_log;

/* NULL: out of memory. */
struct plim_log *plim_log_new(void);
void plim_log_free(struct plim_log *log);

void plim_log_feed(struct plim_log *log, const char *data, size_t size);

/* The end of the log. An error when the log has no memory figures. */
int plim_log_receipt(struct plim_log *log, struct plim_receipt *ret_receipt, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The labels of this engine's log for those of its bills; NULL: they are the same, or the engine is unknown. */
const struct plim_receipt_labels *plim_log_labels(const char *engine);

#endif
