/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_UNIT_TRACE_RECORD_H
#define PLIMSOLL_TESTS_UNIT_TRACE_RECORD_H

/* Records of PyTorch's allocator (tests/data/traces), made by tests/engine/torch/allocator/record.py. */

#include "engine/torch/settings.h"
#include "trace/trace.h"

struct trace_record {
    char torch[32], conf[256];
    double fraction;
    uint32_t divisions[PLIM_TORCH_N_DIVISIONS];
    bool has_divisions;
    uint64_t room_bytes, card_bytes;
    uint64_t allocated_peak, reserved_peak, requested_peak, inactive_split_peak; /* what PyTorch says */
    uint64_t n_retries, n_ooms;
    struct plim_memory_trace trace;
    struct plim_trace_device device;
};

/* Fails the test when the file is no record. */
void trace_record_read(const char *path, struct trace_record *ret_record);
void trace_record_done(struct trace_record *record);

/* Call `visit` for every record, in the order of their names; returns how many there were. */
size_t trace_record_each(void (*visit)(const char *name, struct trace_record *record, void *data), void *data);

#endif
