/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_SNAPSHOT_H
#define PLIMSOLL_TRACE_SNAPSHOT_H

/*
 * Reads snapshots: what torch.cuda.memory._dump_snapshot() writes, the C++ form of it, and the list of segments of
 * torch.cuda.memory_snapshot(); as a pickle, from torch.save(), as JSON, in a page of memory_viz, in gzip or in zip.
 * What a file is, its contents tell, not its name.
 */

#include "base/cursor.h"
#include "base/error.h"
#include "engine/torch/settings.h"
#include "trace/trace.h"

/* In as much memory as a part of the file, see PLIM_MAX_TRACE_FACTOR. Freed with plim_snapshot_done(). */
PLIM_MUST_CHECK int plim_snapshot_open(const char *path, struct plim_memory_trace *ret_trace,
                                       struct plim_error *reterr);
PLIM_MUST_CHECK int plim_snapshot_read(struct plim_cursor *cursor, struct plim_memory_trace *ret_trace,
                                       struct plim_error *reterr);
void plim_snapshot_done(struct plim_memory_trace *trace);

/* The settings under which the snapshot was made: what it says, else the defaults, with expandable segments if it has
 * some. PyTorch 2.1 and 2.2 write none. */
PLIM_MUST_CHECK int plim_snapshot_settings(const struct plim_memory_trace *trace,
                                           struct plim_torch_settings *ret_settings, struct plim_error *reterr);

static inline const char *plim_trace_words(const struct plim_memory_trace *trace, uint32_t text)
{
    return trace->text + text;
}

#endif
