/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REPORT_TRACE_PACK_H
#define PLIMSOLL_REPORT_TRACE_PACK_H

/*
 * A history as few bytes, for the page that draws it (page/data.js reads them). Numbers are of seven bits to a byte,
 * the low ones first, with 0x80 in all but the last; a signed one is doubled, and a negative one less 1 doubled,
 * less 1. In order, each part behind its count:
 *
 *     texts        bytes, the text
 *     frames       file, line, function: texts are numbers
 *     stacks       the frame that stands for it + 1 (0: none), how many frames, the frames, innermost first
 *     streams      handles
 *     pools        two numbers each
 *     segments     before the history: address, bytes, stream, pool, 1: small | 2: expandable
 *     allocations  before the history: address + 1 (0: unknown), bytes, block, stack + 1, pillar
 *     entries      a code, signed microseconds since the last one, and by the code's low bits:
 *         ALLOC                 address, [stream], bytes, [block], stack + 1, pillar
 *         FREE_*, FREED         how many allocations ago it was made
 *         FREED                 ... and again microseconds: two entries, free_requested and free_completed
 *         SEGMENT_*             address, [stream], bytes, pool
 *         OOM                   bytes, free bytes of the device, stack + 1
 *
 * An address is a signed difference to the last one, in 512 bytes. [stream] is there when it is not the last one,
 * [block] when it is not the bytes rounded up to 512. An OOM counts as an allocation, of nothing.
 * Pillars are those of enum plim_pillar.
 */

#include "report/trace/trace.h"

#include <stdint.h>

enum {
    PLIM_PACK_FREED = 10,         /* other codes are of enum plim_trace_action */
    PLIM_PACK_ODD_ADDRESS = 0x10, /* in bytes */
    PLIM_PACK_STREAM = 0x20,
    PLIM_PACK_BLOCK = 0x40,
    PLIM_PACK_UNKNOWN = 0x80, /* of which no allocation is known */
};

struct plim_pack_sink {
    void (*write)(void *to, const uint8_t *bytes, size_t n);
    void *to;
};

PLIM_MUST_CHECK int plim_trace_pack(const struct plim_trace_answer *answer, const struct plim_pack_sink *sink,
                                    struct plim_error *reterr);

#endif
