/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BILL_BILL_H
#define PLIMSOLL_BILL_BILL_H

/* Writing bills, for the engines. */

#include "plimsoll/bill.h"

/*
 * Append a line and add it to the device's need; lines of 0 bytes (high end included) are left out, what a full bill
 * has no line for counts to its last one. The returned line takes the reason; NULL, when there is none, takes it too.
 */
struct plim_line *plim_bill_add(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                enum plim_basis basis, uint64_t bytes);
struct plim_line *plim_bill_add_band(struct plim_device_bill *device, enum plim_pillar pillar, const char *label,
                                     enum plim_basis basis, uint64_t bytes, uint64_t low_bytes, uint64_t high_bytes);

/*
 * The reason of a line. In the template %0 ... %5 stand for the arguments as numbers, %b0 ... %b5 for them as sizes,
 * %d0 ... %d5 for them as types (enum plim_dtype), %t for the text and %% for a percent sign.
 */
void plim_line_because(struct plim_line *line, const char *why, const uint64_t *arguments, unsigned n_arguments);

/* The text of a line, static as the template is. */
void plim_line_text(struct plim_line *line, const char *text);

#endif
