/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_STREAMS_SCHEDULE_H
#define PLIMSOLL_VGPU_DRIVER_STREAMS_SCHEDULE_H

/*
 * When the work of streams counts as done. Eager, the default: at once. Lazy (PLIM_VGPU_SCHEDULE=lazy): when the
 * program waits for it, or when as much more work was put into the stream as a card takes before the program has to
 * wait itself. A card is somewhere between the two, and so is memory that is held until another stream is done with it.
 */

#include "vgpu/core/session.h"

struct plim_stream;

/* A point in a stream: behind all that was put into it so far. */
struct plim_moment {
    struct plim_stream *stream; /* NULL: reached */
    uint64_t stream_id, work;
    uint64_t asked_at; /* work of all streams at the last question */
    unsigned n_asked;  /* questions since then */
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

/* What comes next in the stream comes after the moment. */
void plim_schedule_order(struct plim_stream *stream, const struct plim_moment *moment);

/* True when nothing is left to do in the stream; asked again and again, it will be. */
bool plim_schedule_is_idle(struct plim_stream *stream);

/* The stream goes: its work is taken for done. */
void plim_schedule_forget(struct plim_stream *stream);

/* What the program waits for when a copy is not asynchronous: the legacy stream and those that it waits for. */
PLIM_VGPU_EXPORT void plim_vgpu_wait_for_default(void);

#endif
