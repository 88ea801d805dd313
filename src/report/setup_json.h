/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_SETUP_JSON_H
#define PLIMSOLL_REPORT_SETUP_JSON_H

/* What an engine says of itself, as receipts have it. */

#include "receipt/receipt.h"

#include <jansson.h>

json_t *plim_setup_json(const struct plim_receipt *receipt);

/* {"name", "version"}; what is empty is null. */
json_t *plim_engine_json(const struct plim_receipt *receipt);

#endif
