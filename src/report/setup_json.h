/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_SETUP_JSON_H
#define PLIMSOLL_REPORT_SETUP_JSON_H

/* An engine's name and version, as receipts have them. */

#include "receipt/receipt.h"

#include <jansson.h>

json_t *plim_setup_json(const struct plim_receipt *receipt);

/* {"name", "version"}; empty texts are null. */
json_t *plim_engine_json(const struct plim_receipt *receipt);

#endif
