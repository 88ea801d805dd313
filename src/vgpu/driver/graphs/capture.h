/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_CAPTURE_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_CAPTURE_H

/*
 * Stream capture. Work in a stream that captures becomes a node of a graph; other work is done at once. A capture
 * begins in one stream, spreads to others through events and ends where it began.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/driver/graphs/graphs.h"
#include "vgpu/driver/streams/stream.h"

struct plim_capture {
    struct plim_object *graph;
    struct plim_stream *origin, *members; /* members: all of its streams */
    uint64_t id;
    int mode, status; /* CUstreamCaptureMode, CUstreamCaptureStatus */
    pthread_t thread;
    struct plim_capture *next;
    bool is_graph_given; /* cuStreamBeginCaptureToGraph: the graph is the program's */
};

enum { PLIM_CAPTURE_NONE = 0, PLIM_CAPTURE_ACTIVE = 1, PLIM_CAPTURE_INVALIDATED = 2 };

/*
 * A stream is destroyed: its capture is invalidated. The graph of a capture that began there is returned, for the
 * caller to free. With the lock of the objects held.
 */
struct plim_object *plim_capture_forget(struct plim_stream *stream);

/*
 * Work is put into a stream; call: of a host node; work: of others, for the launches of the graph, or NULL.
 * *ret_is_captured (not written, or true; may be NULL): it has become a node; if not, do it now. An error: the stream
 * must not take work.
 */
status plim_capture_work(void *stream, enum plim_node_type type, const struct cu_host_call *call,
                         struct plim_work *work, bool *ret_is_captured);

/* Whether this stream captures: then work for plim_capture_work() is worth making. */
bool plim_capture_is_on(const void *stream);

/*
 * For calls that are forbidden during a capture (cuMemAlloc and the like): an error then, and the capture is
 * invalidated.
 */
status plim_capture_unsafe(void);

/* Whether any stream captures. */
bool plim_capture_is_active(void);

/* An event recorded into, or waited for by, a capturing stream: the nodes that it stands for. */
struct plim_event_capture {
    _Atomic uint64_t id; /* of the capture; 0: recorded outside */
    struct plim_nodes nodes;
};
status plim_capture_record(void *stream, struct plim_event_capture *event, bool *ret_is_captured);
status plim_capture_wait(void *stream, const struct plim_event_capture *event, bool *ret_is_captured);

#endif
