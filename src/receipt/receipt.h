/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECEIPT_RECEIPT_H
#define PLIMSOLL_RECEIPT_RECEIPT_H

/*
 * A receipt: what was allocated, in the lines of a bill. It comes from an engine's log or from a rehearsal; a bill is
 * made a receipt to be compared with one. A receipt is a plain struct that owns nothing.
 *
 * A printed figure is known to its last digit: low and high are the least and the most bytes that round to it.
 */

#include "plimsoll/bill.h"
#include "receipt/allocation.h"
#include "receipt/settings.h"

enum {
    PLIM_RECEIPT_MAX_DEVICES = PLIM_MAX_DEVICES + 2, /* the GPUs, the host, and one that is elsewhere */
    PLIM_RECEIPT_MAX_LINES = 24,
    PLIM_RECEIPT_LABEL_BYTES = 40,
    PLIM_RECEIPT_ID_BYTES = 16,
    PLIM_RECEIPT_NAME_BYTES = 64,
};

/* The most of one line: the sum of the lines of a device is less than 2^63. */
#define PLIM_RECEIPT_MAX_BYTES ((uint64_t)1 << 57)

struct plim_receipt_line {
    char label[PLIM_RECEIPT_LABEL_BYTES];
    enum plim_pillar pillar; /* of a rehearsal PLIM_PILLAR_MAX_: unknown */
    enum plim_basis basis;
    enum plim_allocation_kind kind; /* of a rehearsal */
    uint64_t bytes, low_bytes, high_bytes;
};

struct plim_receipt_device {
    char id[PLIM_RECEIPT_ID_BYTES]; /* "gpu0", "host" */
    char name[PLIM_RECEIPT_NAME_BYTES];
    uint64_t total_bytes; /* 0: unknown */
    uint64_t free_bytes;  /* when the engine started; 0: unknown */
    uint64_t peak_bytes;  /* of a rehearsal; 0: unknown */
    uint32_t n_lines;
    struct plim_receipt_line line[PLIM_RECEIPT_MAX_LINES];
};

/* A line of a log that stands for several lines of a bill. */
struct plim_receipt_sum {
    const char *label;        /* in the receipt */
    const char *const *parts; /* labels in the bill, NULL-terminated; NULL: all lines of these pillars */
    unsigned pillars;         /* a bit for each: 1 << enum plim_pillar */
    const char *except;       /* of those pillars, a label that is not part of it; may be NULL */
    const char *hides;        /* where this line is, the log has no line with this label; may be NULL */
    bool has_others;          /* memory of other programs is in it: the line is shown and not judged */
};

/* How the labels of an engine's log stand to those of its bills. */
struct plim_receipt_labels {
    const char *const *always; /* printed by every complete log, NULL-terminated: a missing line means 0 bytes */
    const struct plim_receipt_sum *sum;
    size_t n_sums;
};

struct plim_receipt {
    char engine[16];  /* "llama.cpp", "ollama", "vllm" */
    char version[24]; /* "v0.5.0", "b3813"; may be empty */
    char from[16];    /* "log", "rehearse", "bill" */
    char model[PLIM_RECEIPT_NAME_BYTES];
    struct plim_receipt_settings settings;    /* that are known */
    const struct plim_receipt_labels *labels; /* of a log; NULL: those of a bill, and a missing line is unknown */
    uint32_t n_starts;                        /* of the engine in the log: the receipt is of the last one */
    bool is_whole;                            /* the engine came as far as its compute buffers */
    bool is_lower_bound;                      /* of a rehearsal: its path was guessed, or did not come to its end */
    bool is_estimate;                         /* the engine's own forecast, from before it allocated anything */
    int64_t kv_n_tokens;                      /* that the KV cache holds; -1: unknown */
    uint32_t n_devices;
    struct plim_receipt_device device[PLIM_RECEIPT_MAX_DEVICES];
};

void plim_receipt_init(struct plim_receipt *receipt, const char *engine, const char *from);

/* The device with this id, added when it is new; a full receipt returns its last one. */
struct plim_receipt_device *plim_receipt_device(struct plim_receipt *receipt, const char *id);

/* NULL when there is none. */
const struct plim_receipt_device *plim_receipt_find(const struct plim_receipt *receipt, const char *id);
struct plim_receipt_line *plim_receipt_line(struct plim_receipt_device *device, const char *label);

/* Add to the line with this label. The sum is off by at most half_bytes more. Lines over the limit are dropped. */
void plim_receipt_add(struct plim_receipt_device *device, enum plim_pillar pillar, const char *label, uint64_t bytes,
                      uint64_t half_bytes);

/* The GPUs in their order, then the others. */
void plim_receipt_sort(struct plim_receipt *receipt);

/* Copy what an engine says of itself: its name and version, the model, the settings. */
void plim_receipt_copy_engine(struct plim_receipt *receipt, const struct plim_receipt *from);

/* The lines of a bill, as a receipt of this engine. */
void plim_receipt_of_bill(const struct plim_bill *bill, const char *engine, struct plim_receipt *ret_receipt);

#endif
