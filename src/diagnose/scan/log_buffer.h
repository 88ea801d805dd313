/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DIAGNOSE_SCAN_LOG_BUFFER_H
#define PLIMSOLL_DIAGNOSE_SCAN_LOG_BUFFER_H

/*
 * The part of a log that is in memory: a buffer that slides over the decoded text. A position ("at") is an index of
 * data; an offset counts from the start of the decoded log and stays valid when the buffer slides.
 */

#include "diagnose/finding.h"
#include "diagnose/scan/decode.h"

enum {
    PLIM_LOG_HISTORY_BYTES = 112 << 10,  /* kept around the scan: 48 KiB before it, for windows and tracebacks */
    PLIM_LOG_BLOCK_BYTES = 256 << 10,    /* scanned at a time */
    PLIM_LOG_LOOKAHEAD_BYTES = 64 << 10, /* that the scan stays behind the data: a window fits, and the log's end */
    PLIM_LOG_LINE_BYTES = 4096,          /* a line is searched for its end so far */
};

struct plim_log_buffer {
    char *data;
    size_t length;
    size_t scanned;         /* positions before it have been scanned */
    uint64_t base;          /* offset of data[0] */
    uint64_t base_lines;    /* line ends before data[0] */
    size_t counted;         /* up to here ... */
    uint64_t counted_lines; /* ... data has so many line ends */
    uint64_t n_raw_bytes;   /* fed, before decoding */
    struct plim_decoder decoder;
};

/* False: out of memory. */
bool plim_log_buffer_init(struct plim_log_buffer *buffer);
void plim_log_buffer_done(struct plim_log_buffer *buffer);

/* For another log. */
void plim_log_buffer_reset(struct plim_log_buffer *buffer);

/* Decode data[0..n) into the buffer until either side is at its end; returns how many bytes were taken. is_end: no
 * more will come, so what the decoder held back is written. */
size_t plim_log_buffer_fill(struct plim_log_buffer *buffer, const char *data, size_t n, bool is_end);

/* There is no room for more: scan, then slide. */
bool plim_log_buffer_is_full(const struct plim_log_buffer *buffer);

/* Drop what is more than PLIM_LOG_HISTORY_BYTES behind the scan. Positions change, offsets do not. */
void plim_log_buffer_slide(struct plim_log_buffer *buffer);

/* The number of the line that a position is in, from 1. */
uint64_t plim_log_line_at(struct plim_log_buffer *buffer, size_t at);

/* Lines are counted up to `start`, the first position behind the line end that the count stands at. */
void plim_log_next_line(struct plim_log_buffer *buffer, size_t start);

/* Where the line of a position begins and ends, no more than `most` bytes away. */
size_t plim_log_line_start(const struct plim_log_buffer *buffer, size_t at, size_t most);
size_t plim_log_line_end(const struct plim_log_buffer *buffer, size_t at, size_t most);

/* The line of a position as evidence: long ones are cut, control characters become blanks. */
void plim_log_show_line(struct plim_log_buffer *buffer, size_t at, struct plim_evidence *ret_evidence);

#endif
