/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_CHECK_INPUT_H
#define PLIMSOLL_CLI_CHECK_INPUT_H

/* What `plimsoll check` lays side by side: documents, logs, and bills made on the spot. */

#include "base/error.h"
#include "receipt/receipt.h"

/* A bill, a receipt or a log; "-" is the standard input. ret_receipt->from says which. */
int plim_check_read(const char *path, struct plim_receipt *ret_receipt, struct plim_error *reterr) PLIM_MUST_CHECK;

/* True when the file begins as models do. */
bool plim_check_is_model(const char *path);

/*
 * The bill of a model: argv is the command line of `plimsoll fit` without its options for output. Without a card, it
 * answers for those that the log names.
 */
int plim_check_bill(int argc, char **argv, const struct plim_receipt *log, struct plim_receipt *ret_bill,
                    struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
