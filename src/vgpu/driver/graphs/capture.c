/* SPDX-License-Identifier: MIT */
/*
 * The rules are those of the driver API reference, "Stream Management": a capture belongs to the stream where it began;
 * another stream joins it by waiting for an event recorded in it, and must be joined back before the end. Each broken
 * rule has its own error (900 to 908).
 */
#include "vgpu/driver/graphs/capture.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/contexts.h"
#include "vgpu/driver/streams/schedule.h"

#include <stdlib.h>

enum { MODE_GLOBAL = 0, MODE_THREAD_LOCAL = 1, MODE_RELAXED = 2 };

static struct plim_capture *captures; /* active ones */
static atomic_int n_captures;
static uint64_t last_id;
static _Thread_local int thread_mode = MODE_GLOBAL;

static status lose(struct plim_capture *capture, status error)
{
    capture->status = PLIM_CAPTURE_INVALIDATED;
    return error;
}

/* A given graph goes with the node that owns it. */
static bool is_invalid(const struct plim_capture *capture)
{
    return capture->status == PLIM_CAPTURE_INVALIDATED || !plim_object_of(capture->graph, PLIM_OBJECT_GRAPH);
}

bool plim_capture_is_active(void) { return atomic_load_explicit(&n_captures, memory_order_relaxed) > 0; }

/* Work in the legacy stream waits for all blocking streams: so it would have to join their captures. */
static status check_legacy(void)
{
    status error = PLIM_CUDA_SUCCESS;
    if (!plim_capture_is_active())
        return error;
    plim_objects_lock();
    for (struct plim_capture *c = captures; c; c = c->next)
        if (c->origin && !(c->origin->flags & PLIM_STREAM_NON_BLOCKING))
            error = lose(c, PLIM_CUDA_CAPTURE_IMPLICIT);
    plim_objects_unlock();
    return error;
}

/* With the lock held. NULL also for a stream that has gone since it was looked up. */
static struct plim_capture *capture_of(const void *handle, const struct plim_stream *stream)
{
    return plim_stream_of(handle) == stream ? atomic_load(&stream->capture) : NULL;
}

bool plim_capture_is_on(const void *handle)
{
    const struct plim_stream *stream = plim_capture_is_active() ? plim_stream_of(handle) : NULL;
    return stream && atomic_load_explicit(&stream->capture, memory_order_acquire);
}

status plim_capture_work(void *handle, enum plim_node_type type, const struct cu_host_call *call,
                         struct plim_work *work, bool *ret_is_captured)
{
    struct plim_stream *stream = plim_stream_of(handle);
    if (!stream)
        return PLIM_CUDA_INVALID_HANDLE;
    if (plim_schedule_is_lazy && !atomic_load(&stream->capture))
        plim_schedule_add(stream);
    if (plim_stream_is_legacy(stream))
        return check_legacy();
    if (!atomic_load_explicit(&stream->capture, memory_order_acquire))
        return PLIM_CUDA_SUCCESS;
    PLIM_OBJECTS_LOCKED;
    struct plim_capture *capture = capture_of(handle, stream);
    if (!capture)
        return PLIM_CUDA_SUCCESS;
    if (is_invalid(capture))
        return PLIM_CUDA_CAPTURE_INVALIDATED;
    struct plim_object *node = plim_cuda_graph_add(capture->graph, type, &stream->last, call, work);
    plim_nodes_clear(&stream->last);
    if (!node || !plim_nodes_add(&stream->last, node))
        return lose(capture, PLIM_CUDA_OUT_OF_MEMORY);
    if (ret_is_captured)
        *ret_is_captured = true;
    return PLIM_CUDA_SUCCESS;
}

status plim_capture_unsafe(void)
{
    status error = PLIM_CUDA_SUCCESS;
    if (!plim_capture_is_active() || thread_mode == MODE_RELAXED)
        return error;
    plim_objects_lock();
    for (struct plim_capture *c = captures; c; c = c->next) {
        const bool is_mine = pthread_equal(c->thread, pthread_self());
        const bool is_forbidden =
            is_mine ? c->mode != MODE_RELAXED : thread_mode == MODE_GLOBAL && c->mode == MODE_GLOBAL;
        if (is_forbidden)
            error = lose(c, PLIM_CUDA_CAPTURE_UNSUPPORTED);
    }
    plim_objects_unlock();
    return error;
}

/* --- events: how a capture spreads --- */

status plim_capture_record(void *handle, struct plim_event_capture *event, bool *ret_is_captured)
{
    struct plim_stream *stream = plim_stream_of(handle);
    status error = PLIM_CUDA_SUCCESS;
    *ret_is_captured = false;
    if (!stream)
        return PLIM_CUDA_INVALID_HANDLE;
    if (plim_stream_is_legacy(stream) && (error = check_legacy()))
        return error;
    if (event->id == 0 && !atomic_load_explicit(&stream->capture, memory_order_acquire))
        return PLIM_CUDA_SUCCESS;
    plim_objects_lock();
    struct plim_capture *capture = capture_of(handle, stream);
    plim_nodes_clear(&event->nodes);
    event->id = 0;
    if (capture && capture->status == PLIM_CAPTURE_INVALIDATED) {
        error = PLIM_CUDA_CAPTURE_INVALIDATED;
    } else if (capture) {
        *ret_is_captured = true;
        if (plim_nodes_copy(&event->nodes, &stream->last))
            event->id = capture->id;
        else
            error = lose(capture, PLIM_CUDA_OUT_OF_MEMORY);
    }
    plim_objects_unlock();
    return error;
}

static struct plim_capture *capture_with(uint64_t id)
{
    struct plim_capture *c = captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static void enter(struct plim_stream *stream, struct plim_capture *capture)
{
    stream->next_member = capture->members;
    capture->members = stream;
    atomic_store(&stream->capture, capture);
}

static void leave(struct plim_stream *stream)
{
    struct plim_capture *capture = atomic_load(&stream->capture);
    struct plim_stream **link = &capture->members;
    while (*link != stream)
        link = &(*link)->next_member;
    *link = stream->next_member;
    plim_nodes_clear(&stream->last);
    atomic_store(&stream->capture, NULL);
}

static status join(struct plim_stream *stream, struct plim_capture *capture, const struct plim_event_capture *event)
{
    struct plim_capture *old = atomic_load(&stream->capture);
    if (plim_stream_is_legacy(stream))
        return lose(capture, PLIM_CUDA_CAPTURE_IMPLICIT);
    if (capture->status == PLIM_CAPTURE_INVALIDATED)
        return PLIM_CUDA_CAPTURE_INVALIDATED;
    if (old && old != capture) {
        lose(old, PLIM_CUDA_CAPTURE_MERGE);
        return lose(capture, PLIM_CUDA_CAPTURE_MERGE);
    }
    for (uint32_t i = 0; i < event->nodes.n; i++)
        if (!plim_nodes_add(&stream->last, event->nodes.at[i]))
            return lose(capture, PLIM_CUDA_OUT_OF_MEMORY);
    if (!old)
        enter(stream, capture);
    return PLIM_CUDA_SUCCESS;
}

status plim_capture_wait(void *handle, const struct plim_event_capture *event, bool *ret_is_captured)
{
    struct plim_stream *stream = plim_stream_of(handle);
    *ret_is_captured = false;
    if (!stream)
        return PLIM_CUDA_INVALID_HANDLE;
    if (event->id == 0 && !atomic_load_explicit(&stream->capture, memory_order_acquire))
        return PLIM_CUDA_SUCCESS;
    PLIM_OBJECTS_LOCKED;
    if (plim_stream_of(handle) != stream)
        return PLIM_CUDA_INVALID_HANDLE;
    status error = PLIM_CUDA_SUCCESS;
    struct plim_capture *capture = event->id ? capture_with(event->id) : NULL;
    struct plim_capture *own = atomic_load(&stream->capture);
    if (capture)
        error = join(stream, capture, event);
    else if (own) /* a captured stream cannot wait for work outside of its capture */
        error = own->status == PLIM_CAPTURE_INVALIDATED ? PLIM_CUDA_CAPTURE_INVALIDATED
                                                        : lose(own, PLIM_CUDA_CAPTURE_ISOLATION);
    *ret_is_captured = capture != NULL;
    return error;
}

/* --- begin and end --- */

status cuThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode || *mode < MODE_GLOBAL || *mode > MODE_RELAXED)
        return PLIM_CUDA_INVALID_VALUE;
    const int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return PLIM_CUDA_SUCCESS;
}

static status begin(void *handle, struct plim_object *graph, const struct plim_nodes *waits_for, int mode)
{
    if (mode < MODE_GLOBAL || mode > MODE_RELAXED)
        return plim_stream_of(handle) ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    struct plim_capture *capture = calloc(1, sizeof *capture);
    if (!capture)
        return PLIM_CUDA_OUT_OF_MEMORY;
    status error = PLIM_CUDA_SUCCESS;
    plim_objects_lock();
    struct plim_stream *stream = plim_stream_of(handle);
    capture->is_graph_given = waits_for != NULL;
    if (!stream)
        error = PLIM_CUDA_INVALID_HANDLE;
    else if (plim_stream_is_legacy(stream))
        error = PLIM_CUDA_CAPTURE_UNSUPPORTED;
    else if (atomic_load(&stream->capture))
        error = PLIM_CUDA_ILLEGAL_STATE;
    else if (waits_for && !plim_object_of(graph, PLIM_OBJECT_GRAPH))
        error = PLIM_CUDA_INVALID_VALUE;
    else if (!graph && !(graph = plim_cuda_graph_make()))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    if (!error)
        plim_nodes_clear(&stream->last);
    if (!error && waits_for && !plim_nodes_copy(&stream->last, waits_for))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    if (!error) {
        capture->graph = graph;
        if (!PLIM_BODY(graph, plim_cuda_graph)->owner)
            PLIM_BODY(graph, plim_cuda_graph)->owner = capture; /* so that it is not destroyed meanwhile */
        capture->origin = stream;
        capture->id = ++last_id;
        capture->mode = mode;
        capture->status = PLIM_CAPTURE_ACTIVE;
        capture->thread = pthread_self();
        capture->next = captures;
        captures = capture;
        atomic_fetch_add(&n_captures, 1);
        enter(stream, capture);
    }
    plim_objects_unlock();
    if (error)
        free(capture);
    return error;
}

status cuStreamBeginCapture_v2(void *stream, int mode) { return begin(stream, NULL, NULL, mode); }

status cuStreamBeginCaptureToGraph(void *stream, void *graph, void *const *nodes, const void *edges, size_t n, int mode)
{
    (void)edges;
    struct plim_nodes waits_for = { 0 };
    struct plim_object *object = plim_object_of(graph, PLIM_OBJECT_GRAPH);
    status error = object ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_VALUE;
    for (size_t i = 0; i < n && !error; i++) {
        struct plim_object *node = nodes ? plim_object_of(nodes[i], PLIM_OBJECT_NODE) : NULL;
        error = !node                              ? PLIM_CUDA_INVALID_VALUE
                : plim_nodes_add(&waits_for, node) ? PLIM_CUDA_SUCCESS
                                                   : PLIM_CUDA_OUT_OF_MEMORY;
    }
    if (!error)
        error = begin(stream, object, &waits_for, mode);
    plim_nodes_clear(&waits_for);
    return error;
}

/* Every node must have a successor or be one that the origin waits for: else a stream was not joined back. */
static bool is_joined(const struct plim_capture *capture, const struct plim_stream *origin)
{
    if (!capture->members->next_member)
        return true;
    for (struct plim_object *node = PLIM_BODY(capture->graph, plim_cuda_graph)->last; node;
         node = PLIM_BODY(node, plim_node)->previous) {
        bool is_waited_for = false;
        for (uint32_t i = 0; i < origin->last.n && !is_waited_for; i++)
            is_waited_for = origin->last.at[i] == node;
        for (struct plim_object *after = PLIM_BODY(node, plim_node)->next; after && !is_waited_for;
             after = PLIM_BODY(after, plim_node)->next) {
            const struct plim_nodes *waits_for = &PLIM_BODY(after, plim_node)->waits_for;
            for (uint32_t i = 0; i < waits_for->n && !is_waited_for; i++)
                is_waited_for = waits_for->at[i] == node;
        }
        if (!is_waited_for)
            return false;
    }
    return true;
}

static void finish(struct plim_capture *capture)
{
    while (capture->members)
        leave(capture->members);
    struct plim_capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    atomic_fetch_sub(&n_captures, 1);
    if (PLIM_BODY(capture->graph, plim_cuda_graph)->owner == capture)
        PLIM_BODY(capture->graph, plim_cuda_graph)->owner = NULL;
    free(capture);
}

struct plim_object *plim_capture_forget(struct plim_stream *stream)
{
    struct plim_capture *capture = atomic_load(&stream->capture);
    if (!capture)
        return NULL;
    capture->status = PLIM_CAPTURE_INVALIDATED;
    leave(stream);
    if (capture->origin != stream)
        return NULL;
    struct plim_object *graph = capture->is_graph_given ? NULL : capture->graph;
    finish(capture); /* no other stream can end it */
    return graph;
}

status cuStreamEndCapture(void *handle, void **ret_graph)
{
    if (!ret_graph)
        return PLIM_CUDA_INVALID_VALUE;
    *ret_graph = NULL;
    PLIM_OBJECTS_LOCKED;
    struct plim_stream *stream = plim_stream_of(handle);
    struct plim_capture *capture = stream ? atomic_load(&stream->capture) : NULL;
    if (!capture)
        return stream ? PLIM_CUDA_ILLEGAL_STATE : PLIM_CUDA_INVALID_HANDLE;
    if (capture->origin != stream)
        return lose(capture, PLIM_CUDA_CAPTURE_UNMATCHED);
    if (capture->mode != MODE_RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return PLIM_CUDA_CAPTURE_WRONG_THREAD;
    const status error = is_invalid(capture)          ? PLIM_CUDA_CAPTURE_INVALIDATED
                         : is_joined(capture, stream) ? PLIM_CUDA_SUCCESS
                                                      : PLIM_CUDA_CAPTURE_UNJOINED;
    struct plim_object *graph = capture->graph;
    const bool is_unused = error && !capture->is_graph_given;
    finish(capture);
    if (!error)
        *ret_graph = graph;
    else if (is_unused)
        plim_cuda_graph_free(graph);
    return error;
}

/* --- queries --- */

status cuStreamGetCaptureInfo_v3(void *handle, int *ret_status, uint64_t *ret_id, void **ret_graph,
                                 void *const **ret_nodes, const void **ret_edges, size_t *ret_n)
{
    static _Thread_local struct plim_nodes shown; /* valid until the next query of this thread */
    const struct plim_stream *stream = plim_stream_of(handle);
    status error = stream ? PLIM_CUDA_SUCCESS : PLIM_CUDA_INVALID_HANDLE;
    if (error || !ret_status)
        return error ? error : PLIM_CUDA_INVALID_VALUE;
    if (plim_stream_is_legacy(stream) && (error = check_legacy()))
        return error;
    PLIM_OBJECTS_LOCKED;
    const struct plim_capture *capture = capture_of(handle, stream);
    *ret_status = capture ? capture->status : PLIM_CAPTURE_NONE;
    if (ret_id)
        *ret_id = capture ? capture->id : 0;
    if (ret_graph)
        *ret_graph = capture ? capture->graph : NULL;
    if (ret_edges)
        *ret_edges = NULL; /* plain edges */
    plim_nodes_clear(&shown);
    if (capture && (ret_nodes || ret_n) && !plim_nodes_copy(&shown, &stream->last))
        error = PLIM_CUDA_OUT_OF_MEMORY;
    if (ret_nodes)
        *ret_nodes = (void *const *)shown.at;
    if (ret_n)
        *ret_n = shown.n;
    return error;
}

status cuStreamGetCaptureInfo_v2(void *stream, int *ret_status, uint64_t *ret_id, void **ret_graph,
                                 void *const **ret_nodes, size_t *ret_n)
{
    return cuStreamGetCaptureInfo_v3(stream, ret_status, ret_id, ret_graph, ret_nodes, NULL, ret_n);
}

status cuStreamGetCaptureInfo(void *stream, int *ret_status, uint64_t *ret_id)
{
    return cuStreamGetCaptureInfo_v3(stream, ret_status, ret_id, NULL, NULL, NULL, NULL);
}

status cuStreamIsCapturing(void *stream, int *ret_status)
{
    return cuStreamGetCaptureInfo_v3(stream, ret_status, NULL, NULL, NULL, NULL, NULL);
}

status cuStreamUpdateCaptureDependencies_v2(void *handle, void **nodes, const void *edges, size_t n, unsigned flags)
{
    enum { ADD = 0, SET = 1 };
    (void)edges;
    PLIM_OBJECTS_LOCKED;
    struct plim_stream *stream = plim_stream_of(handle);
    if (!stream || flags > SET || (n > 0 && !nodes))
        return stream ? PLIM_CUDA_INVALID_VALUE : PLIM_CUDA_INVALID_HANDLE;
    status error = PLIM_CUDA_SUCCESS;
    const struct plim_capture *capture = atomic_load(&stream->capture);
    if (!capture)
        error = PLIM_CUDA_ILLEGAL_STATE;
    else if (capture->status == PLIM_CAPTURE_INVALIDATED)
        error = PLIM_CUDA_CAPTURE_INVALIDATED;
    for (size_t i = 0; i < n && !error; i++) {
        const struct plim_object *node = plim_object_of(nodes[i], PLIM_OBJECT_NODE);
        if (!node || PLIM_BODY(node, plim_node)->graph != capture->graph)
            error = PLIM_CUDA_INVALID_VALUE;
    }
    if (!error && flags == SET)
        plim_nodes_clear(&stream->last);
    for (size_t i = 0; i < n && !error; i++)
        if (!plim_nodes_add(&stream->last, nodes[i]))
            error = PLIM_CUDA_OUT_OF_MEMORY;
    return error;
}

status cuStreamUpdateCaptureDependencies(void *stream, void **nodes, size_t n, unsigned flags)
{
    return cuStreamUpdateCaptureDependencies_v2(stream, nodes, NULL, n, flags);
}
