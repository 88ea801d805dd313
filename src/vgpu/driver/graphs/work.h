/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_GRAPHS_WORK_H
#define PLIMSOLL_VGPU_DRIVER_GRAPHS_WORK_H

/* The work of a node: it changes values at each launch of the graph, not when it is captured. Shared by copies. */

#include <stdbool.h>
#include <stddef.h>

/* `context` is the work's copy of what it was made with. */
struct plim_work_kind {
    void (*run)(const void *context);
    void (*drop)(void *context); /* may be NULL */
};

struct plim_work;

/* size bytes of context are copied. NULL: no memory, and the context was dropped. */
struct plim_work *plim_work_make(const struct plim_work_kind *kind, const void *context, size_t size);

/* Of a node whose parameters are not read: a launch makes all values unknown. Never NULL. */
struct plim_work *plim_work_unknown(void);

/* Both take NULL. */
struct plim_work *plim_work_hold(struct plim_work *work);
void plim_work_release(struct plim_work *work);

void plim_work_run(const struct plim_work *work);

#endif
