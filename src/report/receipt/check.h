/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_CHECK_H
#define PLIMSOLL_REPORT_RECEIPT_CHECK_H

/* A receipt, and a bill beside a receipt: for people and for programs. */

#include "receipt/check.h"
#include "report/paint.h"

struct plim_check_sides {
    const struct plim_receipt *bill, *receipt;
    const struct plim_check *check;
};

void plim_report_check_text(FILE *out, const struct plim_check_sides *sides, const struct plim_style *style);
void plim_report_receipt_text(FILE *out, const struct plim_receipt *receipt, const struct plim_style *style);

/* plimsoll.check/1 and plimsoll.receipt/1. False: out of memory, or not written. */
bool plim_report_check_json(FILE *out, const struct plim_check_sides *sides);
bool plim_report_receipt_json(FILE *out, const struct plim_receipt *receipt);

/* The runtime that a receipt is of; the default where it is not known. */
const struct plim_engine_type *plim_report_engine_type(const struct plim_receipt *receipt);

#endif
