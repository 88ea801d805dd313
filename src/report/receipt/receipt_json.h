/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_JSON_H
#define PLIMSOLL_REPORT_RECEIPT_JSON_H

/* Parts of plimsoll.receipt/1 that every receipt has. */

#include "receipt/receipt.h"
#include "report/json_text.h"

#include <jansson.h>

json_t *plim_bytes_json(uint64_t n);

/* An unknown pillar is null. */
json_t *plim_pillar_json(enum plim_pillar pillar);

/* The lines of a device; those of a rehearsal have "what" and "why" besides. */
json_t *plim_receipt_lines_json(const struct plim_receipt_device *device);

struct plim_receipt_sums {
    uint64_t bytes, low_bytes, high_bytes;
};

struct plim_receipt_sums plim_receipt_sum_lines(const struct plim_receipt_device *device);

#endif
