/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_RECORDS_H
#define PLIMSOLL_WATCH_RECORDS_H

/* The records of all processes that were seen, and the state file that keeps them between runs. */

#include "watch/record.h"

struct plim_records {
    struct plim_record *at; /* the first n_sorted by pid and start */
    size_t n, n_sorted, capacity;
};

/* The record of this process; a new one when there is none. NULL: out of memory. It holds until the next call. */
struct plim_record *plim_records_get(struct plim_records *records, int64_t pid, uint64_t start_ticks,
                                     int64_t started_unix_s);

/* At the end of a sample with this number: sort, and forget what has not been seen for a day. */
void plim_records_settle(struct plim_records *records, int64_t mark, int64_t now_ms);

/*
 * Read and write the state file. What it says can only delay an answer or make a process look idle to the user whose
 * file it is; a file of another user's, or one that others may write, is not read.
 */
void plim_records_load(struct plim_records *records, const char *path);
/* The same from memory: true when the text is a state file without a fault. Else there are no records. */
bool plim_records_read(struct plim_records *records, const char *text, size_t length);
int plim_records_save(const struct plim_records *records, const char *path, struct plim_error *reterr);

void plim_records_done(struct plim_records *records);

#endif
