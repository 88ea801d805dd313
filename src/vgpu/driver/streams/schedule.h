/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_STREAMS_SCHEDULE_H
#define PLIMSOLL_VGPU_DRIVER_STREAMS_SCHEDULE_H

/*
 * When the work in streams counts as done. Eager, the default: at once. Lazy (PLIM_VGPU_SCHEDULE=lazy): when the
 * program waits for it, or when the queue of launches is full. A real card is between the two, and so is the memory
 * that is held until another stream is done with it.
 */

#include "vgpu/core/session.h"

struct plim_stream;

/* A point in a stream: after all work put into it so far. */
struct plim_moment {
    struct plim_stream *stream; /* NULL: reached */
    uint64_t stream_id, work;
    uint64_t asked_at; /* work of all streams at the last query */
    unsigned n_asked;  /* queries since then */
};

extern bool plim_schedule_is_lazy;

/* Work is put into a stream: for plim_capture_work(). */
void plim_schedule_add(struct plim_stream *stream);

void plim_schedule_mark(struct plim_stream *stream, struct plim_moment *ret_moment);
bool plim_schedule_is_reached(struct plim_moment *moment);

/* The program waits for a moment, for a stream, for all streams of a device (-1: of all). */
void plim_schedule_reach(const struct plim_moment *moment);
void plim_schedule_finish(struct plim_stream *stream);
void plim_schedule_finish_all(int device);

/* Later work of the stream waits for the moment. */
void plim_schedule_order(struct plim_stream *stream, const struct plim_moment *moment);

/* True when the stream has no work left; repeated queries finish it. */
bool plim_schedule_is_idle(struct plim_stream *stream);

/* The stream is destroyed: its work counts as done. */
void plim_schedule_forget(struct plim_stream *stream);

/* Wait as a synchronous copy does: for the legacy stream and the streams that it waits for. */
PLIM_VGPU_EXPORT void plim_vgpu_wait_for_default(void);

#endif
