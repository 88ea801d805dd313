/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_DECODE_H
#define PLIMSOLL_DIAGNOSE_SCAN_DECODE_H

/*
 * The first step: UTF-16 becomes UTF-8, sequences that drive a terminal go. What is not UTF-8 stays as it is. Text
 * without either is copied at the speed of memory.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_DECODE_HEAD_BYTES = 64, PLIM_MAX_SEQUENCE_BYTES = 256 };

enum plim_encoding { PLIM_ENCODING_UNKNOWN, PLIM_ENCODING_BYTES, PLIM_ENCODING_UTF16LE, PLIM_ENCODING_UTF16BE };

struct plim_decoder {
    enum plim_encoding encoding;
    char head[PLIM_DECODE_HEAD_BYTES]; /* until the encoding is known */
    size_t n_head;
    int state; /* inside a terminal sequence */
    uint32_t n_sequence;
    uint32_t high; /* a high surrogate that waits for its other half */
    int odd;       /* half a unit that waits, or -1 */
};

void plim_decoder_init(struct plim_decoder *decoder);

/*
 * Decode from data[0..n) until either side is at its end; *ref_n_out counts what out holds, up to size. Returns how
 * many bytes were taken. is_end: no more will come, so what was held back is written; call it until it takes nothing.
 */
size_t plim_decode(struct plim_decoder *decoder, const char *data, size_t n, bool is_end, char *out, size_t size,
                   size_t *ref_n_out);

#endif
