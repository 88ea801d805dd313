/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CLI_TOP_BILL_H
#define PLIMSOLL_CLI_TOP_BILL_H

/* The bill of the model that a running process has loaded, by its own command line. */

#include "report/top/view.h"

/*
 * For the process of this holding, on its card. Reads its command line, its environment and the header of its model
 * once more, in milliseconds. root: of /proc; NULL is "/". Where there is no bill, ret_bill->why says the reason.
 */
void plim_top_bill_make(const char *root, const struct plim_sample *sample, uint32_t holding,
                        struct plim_top_bill *ret_bill);

#endif
