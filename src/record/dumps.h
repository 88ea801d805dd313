/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_DUMPS_H
#define PLIMSOLL_RECORD_DUMPS_H

/* The dumps of a folder that a step is made of: one of each process, in the order of ranks. */

#include "record/dump.h"

enum { PLIM_RECORD_MAX_PROCESSES = 1024 };

struct plim_record_dumps {
    struct plim_record_dump *dumps;
    size_t n;
};

PLIM_MUST_CHECK int plim_record_dumps_read(const char *folder, struct plim_record_dumps *ret_dumps,
                                           struct plim_error *reterr);
void plim_record_dumps_done(struct plim_record_dumps *dumps);

#endif
