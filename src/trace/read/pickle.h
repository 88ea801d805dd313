/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_PICKLE_H
#define PLIMSOLL_TRACE_PICKLE_H

/*
 * Python's pickle format, protocols 2 to 5, as far as data goes: numbers, texts, lists, tuples, dicts. Nothing is ever
 * called or imported: an opcode that would do so ends the reading with the name of what it asked for.
 * Source: Python's Lib/pickletools.py.
 */

#include "base/cursor.h"
#include "trace/read/objects.h"

/* Read one pickle; *ret_top is its value. */
PLIM_MUST_CHECK int plim_pickle_read(struct plim_cursor *cursor, struct plim_trace_objects *objects,
                                     plim_pickle_value *ret_top, struct plim_error *reterr);

#endif
