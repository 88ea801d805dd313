/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_READ_LAYER_H
#define PLIMSOLL_TRACE_READ_LAYER_H

/*
 * What may lie around a snapshot, unpacked while it is read: gzip, the zip of torch.save(), base64 in a page of
 * memory_viz. A layer reads from the cursor below it and has a cursor of its own; nothing is ever unpacked as a whole.
 */

#include "base/cursor.h"
#include "base/error.h"

struct plim_trace_layer {
    struct plim_cursor cursor; /* over what was unpacked; its offsets count from there */
    struct plim_cursor *from;
    /* Write at most `room` bytes; 0 at the end, negative when they cannot be had, with the reason in `failure`. */
    long (*produce)(struct plim_trace_layer *layer, unsigned char *to, size_t room);
    void (*close)(struct plim_trace_layer *layer); /* the decoder; NULL: none */
    void *decoder;
    unsigned char *buffer; /* the bytes from `begin` on, `length` of them */
    uint64_t begin;
    size_t length;
    bool is_ended;
    struct plim_error failure;
};

/* Fill in what the kind of layer does not: `from`, `produce`, `close` and `decoder` are set. */
PLIM_MUST_CHECK int plim_trace_layer_start(struct plim_trace_layer *layer, struct plim_error *reterr);
void plim_trace_layer_done(struct plim_trace_layer *layer);

/* gzip of any number of parts; of a zip the first file, stored or deflated. The cursor is at the beginning of either.
 */
PLIM_MUST_CHECK int plim_trace_layer_gzip(struct plim_cursor *from, struct plim_trace_layer *ret_layer,
                                          struct plim_error *reterr);
PLIM_MUST_CHECK int plim_trace_layer_zip(struct plim_cursor *from, struct plim_trace_layer *ret_layer,
                                         struct plim_error *reterr);

/* The text behind the first "base64": of a page or of JSON. */
PLIM_MUST_CHECK int plim_trace_layer_base64(struct plim_cursor *from, struct plim_trace_layer *ret_layer,
                                            struct plim_error *reterr);

#endif
