/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TRACE_READ_JSON_H
#define PLIMSOLL_TRACE_READ_JSON_H

/*
 * A snapshot as JSON: the dict, or the list of segments, that json.dump() writes. Its objects are those of a pickle.
 */

#include "base/cursor.h"
#include "trace/read/objects.h"

/* Read one value to the end of the cursor; *ret_top is it. */
PLIM_MUST_CHECK int plim_trace_json_read(struct plim_cursor *cursor, struct plim_trace_objects *objects,
                                         plim_pickle_value *ret_top, struct plim_error *reterr);

#endif
