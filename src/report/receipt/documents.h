/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_RECEIPT_DOCUMENTS_H
#define PLIMSOLL_REPORT_RECEIPT_DOCUMENTS_H

/* Reading back what Plimsoll writes: bills (plimsoll.fit/1) and receipts (plimsoll.receipt/1). */

#include "base/error.h"
#include "receipt/receipt.h"

/* True when text may be the beginning of such a document: an object with a schema of ours near its start. */
bool plim_document_is_near(const char *text, size_t length);

/* Either kind: ret_receipt->from says "bill" for a bill. */
int plim_document_read(const char *text, size_t length, struct plim_receipt *ret_receipt,
                       struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
