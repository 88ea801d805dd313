/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECEIPT_ALLOCATION_H
#define PLIMSOLL_RECEIPT_ALLOCATION_H

/* The kinds of allocation that a rehearsal tells apart: what the program called, or what the driver takes unasked. */

enum plim_allocation_kind {
    PLIM_ALLOCATION_UNKNOWN, /* in a log or a bill */
    PLIM_ALLOCATION_MALLOC,
    PLIM_ALLOCATION_MANAGED,
    PLIM_ALLOCATION_POOL,
    PLIM_ALLOCATION_CONTEXT,
    PLIM_ALLOCATION_KERNELS,
    PLIM_ALLOCATION_CUBLAS,
    PLIM_ALLOCATION_NCCL,
    PLIM_ALLOCATION_LIBRARIES,
    PLIM_ALLOCATION_ROUNDING,
    PLIM_ALLOCATION_PINNED,
    PLIM_ALLOCATION_MAX_
};

/* "cudaMalloc", "CUDA context"; "?" for the unknown kind. */
const char *plim_allocation_name(enum plim_allocation_kind kind);

/* By that name; NULL and other words: unknown. */
enum plim_allocation_kind plim_allocation_named(const char *name);

/* One sentence on where such an amount comes from. */
const char *plim_allocation_why(enum plim_allocation_kind kind);

#endif
