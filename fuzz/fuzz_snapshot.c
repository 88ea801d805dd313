/* SPDX-License-Identifier: MIT */
/* The reader of PyTorch's snapshots, and all that follows: any bytes are analysed, or refused with a reason. */
#include "fuzz.h"

#include "trace/analysis.h"
#include "trace/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct plim_trace_question question = { "expandable_segments:True,garbage_collection_threshold:0.5",
                                                         64 << 20 };
    struct plim_cursor cursor = plim_cursor(data, size);
    struct plim_memory_trace trace;
    struct plim_trace_analysis analysis;
    struct plim_error error = { 0 };
    int result = plim_snapshot_read(&cursor, &trace, &error);
    if (result == 0) {
        FUZZ_REQUIRE(trace.n_segments || trace.n_entries);
        result = plim_trace_analyse(&trace, 0, &question, &analysis, &error);
        if (result == 0)
            plim_trace_analysis_done(&analysis);
        plim_snapshot_done(&trace);
    }
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0] != '\0'));
    return 0;
}
