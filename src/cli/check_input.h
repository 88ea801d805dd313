/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_CHECK_INPUT_H
#define PLIMSOLL_CLI_CHECK_INPUT_H

/* The two sides of `plimsoll check`: documents, logs, and bills of models. */

#include "base/error.h"
#include "receipt/receipt.h"

/* A bill, a receipt or a log; "-" is the standard input. ret_receipt->from says which. */
int plim_check_read(const char *path, struct plim_receipt *ret_receipt, struct plim_error *reterr) PLIM_MUST_CHECK;

/* True when the file begins like a model. */
bool plim_check_is_model(const char *path);

/*
 * The bill of a model: argv is the command line of `plimsoll fit` without its options for output. Without a card, it
 * answers for those that the log names.
 */
int plim_check_bill(int argc, char **argv, const struct plim_receipt *log, struct plim_receipt *ret_bill,
                    struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
