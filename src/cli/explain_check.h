/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_EXPLAIN_CHECK_H
#define PLIMSOLL_CLI_EXPLAIN_CHECK_H

/* What this machine can add to an explanation: a bill for the remedies, and the processes on the cards now. */

#include "report/explain.h"

/*
 * When the log is llama.cpp's, names a model that is here and says what its card had free: the remedies of `plimsoll
 * fit`, each tried by its own bill, come first. When a driver answers, the processes on the cards are added, with their
 * owners and what is known of their use; a process that the log blames and that is still there is named in the advice.
 * Nothing is said where there is nothing.
 */
void plim_cli_explain_check(struct plim_explanation *explanation);

#endif
