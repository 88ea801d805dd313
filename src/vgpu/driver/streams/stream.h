/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_STREAMS_STREAM_H
#define PLIMSOLL_VGPU_DRIVER_STREAMS_STREAM_H

/* Streams and their handles. */

#include "vgpu/driver/graphs/nodes.h"

enum { PLIM_STREAM_NON_BLOCKING = 1 };

struct plim_stream {
    unsigned flags; /* PLIM_STREAM_NON_BLOCKING: does not wait for the legacy stream */
    int priority, device;
    void *context;
    struct plim_capture *_Atomic capture;
    struct plim_nodes last; /* while it captures: the nodes that the next one waits for */
    struct plim_stream *next_member;
    struct plim_stream_work *work; /* not done yet (schedule.c) */
};

/* The stream of a handle; NULL, 1 and 2 are default streams. Returns NULL: no such stream. */
struct plim_stream *plim_stream_of(const void *handle);
bool plim_stream_is_legacy(const struct plim_stream *stream);

#endif
