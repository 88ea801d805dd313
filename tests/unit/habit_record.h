/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_UNIT_HABIT_RECORD_H
#define PLIMSOLL_TESTS_UNIT_HABIT_RECORD_H

/* Histories of programs with a fault or without (tests/data/habits), made by tests/engine/torch/habits/record.py. */

#include "trace/trace.h"

struct habit_record {
    char fault[16]; /* "None": it has none */
    struct plim_memory_trace trace;
    struct plim_trace_device device;
    uint32_t *files; /* texts */
    size_t n_files;
    uint64_t *bytes_at; /* by address / 512: what an allocation asked for */
    size_t n_addresses;
    uint16_t stream, pool;
};

/* Fails the test when the file is no record. */
void habit_record_read(const char *path, struct habit_record *ret_record);
void habit_record_done(struct habit_record *record);

#endif
