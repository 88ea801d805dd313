/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECEIPT_CHECK_H
#define PLIMSOLL_RECEIPT_CHECK_H

/* A bill beside a receipt, line by line: what was predicted and what was allocated. */

#include "receipt/receipt.h"

struct plim_check_line {
    char label[PLIM_RECEIPT_LABEL_BYTES];
    enum plim_pillar pillar;
    enum plim_basis basis; /* of the bill */
    bool has_bill, has_receipt;
    uint64_t bill_bytes, low_bytes, high_bytes;
    uint64_t receipt_bytes, receipt_low_bytes, receipt_high_bytes;
    bool has_others; /* memory of other programs is in it */
    bool is_judged;  /* the receipt has a figure for it, and it counts for the verdict */
    bool is_in_band; /* the printed and the claimed figure can be the same */
};

/* The lines of the bill, and those that only the receipt has. */
enum { PLIM_CHECK_MAX_LINES = 2 * PLIM_RECEIPT_MAX_LINES };

struct plim_check_device {
    char id[PLIM_RECEIPT_ID_BYTES], name[PLIM_RECEIPT_NAME_BYTES];
    uint64_t bill_bytes, receipt_bytes; /* sums of the lines that were judged */
    uint64_t peak_bytes;                /* of a rehearsal; 0: unknown */
    uint32_t n_lines;
    struct plim_check_line line[PLIM_CHECK_MAX_LINES];
};

struct plim_check {
    uint32_t n_devices;
    struct plim_check_device device[2 * PLIM_RECEIPT_MAX_DEVICES];
    uint32_t n_exact, n_bands; /* lines judged: without and with freedom */
    uint32_t n_outside;        /* of them, those outside the bill */
    uint32_t worst_device;     /* where the largest difference outside its band is */
    const struct plim_check_line *worst;
    uint32_t n_differs;                     /* settings that both sides know and that are not the same: */
    const char *differs[PLIM_SETTINGS_MAX]; /* their keys, in the bill */
    bool is_coarse;                         /* figures of the receipt are rounded to more than 0.01 MiB */
    bool agrees;
};

void plim_check(const struct plim_receipt *bill, const struct plim_receipt *receipt, struct plim_check *ret_check);

/* Receipt less bill. */
int64_t plim_check_difference_bytes(const struct plim_check_line *line);

#endif
