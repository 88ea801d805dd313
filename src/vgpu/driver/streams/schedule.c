/* SPDX-License-Identifier: MIT */
/*
 * One lock for everything: only rehearsals with a lazy schedule pay for it. The moments that a stream waits for in
 * other streams are kept, up to a few; a stream with more waits for all streams.
 */
#include "vgpu/driver/streams/schedule.h"

#include "vgpu/driver/streams/stream.h"

#include <stdlib.h>
#include <string.h>

/*
 * A card's launch queue: the amount of work in a stream at which the next launch waits. Not documented; 1024 launches
 * go through without a wait on cards.
 */
enum { QUEUE_LENGTH = 1024 };

/* After so many queries without new work in between, the program is polling. */
enum { MOST_QUESTIONS = 100 };

enum { MOST_ORDERS = 8 };

bool plim_schedule_is_lazy;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t n_work, last_id;
static struct plim_stream_work *works; /* of the streams that had work */

/* The work of a stream. Waiting for another stream is work, too. */
struct plim_stream_work {
    uint64_t id, n_put, n_done;
    uint64_t asked_at;
    unsigned n_asked, n_orders;
    struct plim_moment orders[MOST_ORDERS];
    bool is_after_all;
    struct plim_stream *stream;
    struct plim_stream_work *next;
};

__attribute__((constructor)) static void read_schedule(void)
{
    const char *text = getenv("PLIM_VGPU_SCHEDULE");
    plim_schedule_is_lazy = text && !strcmp(text, "lazy");
}

/* --- with the lock held --- */

/* NULL: no memory; the stream counts as idle then. */
static struct plim_stream_work *work_of(struct plim_stream *stream)
{
    if (!stream->work && (stream->work = calloc(1, sizeof *stream->work))) {
        stream->work->id = ++last_id;
        stream->work->stream = stream;
        stream->work->next = works;
        works = stream->work;
    }
    return stream->work;
}

static struct plim_stream_work *work_at(const struct plim_moment *moment)
{
    struct plim_stream_work *work = moment->stream ? moment->stream->work : NULL;
    return work && work->id == moment->stream_id ? work : NULL;
}

static bool is_reached(const struct plim_moment *moment)
{
    const struct plim_stream_work *work = work_at(moment);
    return !work || work->n_done >= moment->work;
}

static void finish_all(int device)
{
    for (struct plim_stream_work *w = works; w; w = w->next)
        if (device < 0 || w->stream->device == device || plim_stream_is_legacy(w->stream)) {
            w->n_done = w->n_put;
            w->n_orders = 0;
            w->is_after_all = false;
        }
}

/* With the work that it waits for. An order is dropped before it is followed, so the recursion ends. */
static void finish(struct plim_stream_work *work, uint64_t to)
{
    struct plim_moment orders[MOST_ORDERS];
    const unsigned n = work->n_orders;
    if (to > work->n_done)
        work->n_done = to;
    if (work->is_after_all) {
        finish_all(-1);
        return;
    }
    memcpy(orders, work->orders, sizeof orders);
    work->n_orders = 0;
    for (unsigned i = 0; i < n; i++)
        if (!is_reached(&orders[i]))
            finish(work_at(&orders[i]), orders[i].work);
    for (struct plim_stream_work *w = works; plim_stream_is_legacy(work->stream) && w; w = w->next)
        if (w != work && !(w->stream->flags & PLIM_STREAM_NON_BLOCKING) && w->n_done < w->n_put)
            finish(w, w->n_put);
}

/* Repeated queries without new work are a wait. */
static bool is_waiting(uint64_t *asked_at, unsigned *n_asked)
{
    *n_asked = *asked_at == n_work ? *n_asked + 1 : 1;
    *asked_at = n_work;
    return *n_asked > MOST_QUESTIONS;
}

static void put(struct plim_stream_work *work)
{
    n_work++;
    work->n_put++;
    if (work->n_put - work->n_done > QUEUE_LENGTH)
        work->n_done = work->n_put - QUEUE_LENGTH;
}

/* --- interface --- */

void plim_schedule_add(struct plim_stream *stream)
{
    pthread_mutex_lock(&lock);
    struct plim_stream_work *work = work_of(stream);
    if (work)
        put(work);
    pthread_mutex_unlock(&lock);
}

void plim_schedule_mark(struct plim_stream *stream, struct plim_moment *ret_moment)
{
    *ret_moment = (struct plim_moment){ .stream = NULL };
    if (!plim_schedule_is_lazy || !stream)
        return;
    pthread_mutex_lock(&lock);
    const struct plim_stream_work *work = stream->work;
    if (work && work->n_done < work->n_put)
        *ret_moment = (struct plim_moment){ .stream = stream, .stream_id = work->id, .work = work->n_put };
    pthread_mutex_unlock(&lock);
}

bool plim_schedule_is_reached(struct plim_moment *moment)
{
    if (!moment->stream)
        return true;
    pthread_mutex_lock(&lock);
    if (!is_reached(moment) && is_waiting(&moment->asked_at, &moment->n_asked))
        finish(work_at(moment), moment->work);
    const bool is_done = is_reached(moment);
    if (is_done)
        moment->stream = NULL;
    pthread_mutex_unlock(&lock);
    return is_done;
}

void plim_schedule_reach(const struct plim_moment *moment)
{
    if (!moment->stream)
        return;
    pthread_mutex_lock(&lock);
    if (!is_reached(moment))
        finish(work_at(moment), moment->work);
    pthread_mutex_unlock(&lock);
}

void plim_schedule_finish(struct plim_stream *stream)
{
    if (!plim_schedule_is_lazy || !stream)
        return;
    pthread_mutex_lock(&lock);
    struct plim_stream_work *work = work_of(stream);
    if (work)
        finish(work, work->n_put);
    pthread_mutex_unlock(&lock);
}

void plim_schedule_finish_all(int device)
{
    if (!plim_schedule_is_lazy)
        return;
    pthread_mutex_lock(&lock);
    finish_all(device);
    pthread_mutex_unlock(&lock);
}

void plim_schedule_order(struct plim_stream *stream, const struct plim_moment *moment)
{
    if (!plim_schedule_is_lazy || !stream || !moment->stream || moment->stream == stream)
        return;
    pthread_mutex_lock(&lock);
    struct plim_stream_work *work = is_reached(moment) ? NULL : work_of(stream);
    unsigned i = 0;
    while (work && i < work->n_orders && work->orders[i].stream != moment->stream)
        i++;
    if (work) {
        put(work);
        if (i == MOST_ORDERS) {
            work->is_after_all = true;
        } else {
            work->orders[i] = *moment;
            work->n_orders += i == work->n_orders;
        }
    }
    pthread_mutex_unlock(&lock);
}

bool plim_schedule_is_idle(struct plim_stream *stream)
{
    if (!plim_schedule_is_lazy || !stream)
        return true;
    pthread_mutex_lock(&lock);
    struct plim_stream_work *work = stream->work;
    if (work && work->n_done < work->n_put && is_waiting(&work->asked_at, &work->n_asked))
        finish(work, work->n_put);
    const bool is_done = !work || work->n_done >= work->n_put;
    pthread_mutex_unlock(&lock);
    return is_done;
}

void plim_schedule_forget(struct plim_stream *stream)
{
    if (!plim_schedule_is_lazy)
        return;
    pthread_mutex_lock(&lock);
    struct plim_stream_work **link = &works;
    while (*link && *link != stream->work)
        link = &(*link)->next;
    if (*link)
        *link = stream->work->next;
    free(stream->work);
    stream->work = NULL;
    pthread_mutex_unlock(&lock);
}

void plim_vgpu_wait_for_default(void)
{
    if (plim_schedule_is_lazy)
        plim_schedule_finish(plim_stream_of(NULL));
}
