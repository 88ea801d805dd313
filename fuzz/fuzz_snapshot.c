/* SPDX-License-Identifier: MIT */
/* The reader of PyTorch's snapshots, and all that follows: any bytes are analysed, or refused with a reason. */
#include "fuzz.h"

#include "trace/comparison.h"
#include "trace/ranks.h"
#include "trace/snapshot.h"

/* A snapshot beside itself: nothing has changed. */
static void compare(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis)
{
    const struct plim_trace_side sides[2] = { { trace, analysis }, { trace, analysis } };
    struct plim_trace_changes changes;
    struct plim_error error = { 0 };
    if (plim_trace_compare(sides, PLIM_TRACE_AT_PEAK, &changes, &error) == 0)
        FUZZ_REQUIRE(changes.n_changes == 0 && changes.bytes[0] == changes.bytes[1]);
    if (plim_trace_compare(sides, PLIM_TRACE_AT_END, &changes, &error) == 0)
        FUZZ_REQUIRE(changes.n_changes == 0 && changes.n_rest_lines == 0);
}

/* Three ranks that are the same. */
static void compare_ranks(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis)
{
    struct plim_trace_ranks ranks;
    struct plim_error error = { 0 };
    int result = plim_trace_ranks_open(3, &ranks, &error);
    for (int i = 0; i < 3 && result == 0; i++)
        result = plim_trace_ranks_add(&ranks, "rank", trace, analysis, &error);
    if (result == 0)
        result = plim_trace_ranks_compare(&ranks, &error);
    FUZZ_REQUIRE(result < 0 || (ranks.n_lines == 0 && ranks.n_rest_lines == 0 && ranks.deciding == 0));
    plim_trace_ranks_done(&ranks);
}

/* Every byte that is held is of one pillar, or unknown. */
static void check_pillars(const struct plim_trace_analysis *analysis)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i <= PLIM_PILLAR_MAX_; i++)
        bytes += analysis->peak_pillars.bytes[i];
    FUZZ_REQUIRE(bytes == analysis->peak.bytes);
}

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
        if (result == 0) {
            compare(&trace, &analysis);
            compare_ranks(&trace, &analysis);
            check_pillars(&analysis);
            plim_trace_analysis_done(&analysis);
        }
        plim_snapshot_done(&trace);
    }
    FUZZ_REQUIRE(result == 0 || (error.code == result && error.what[0] != '\0'));
    return 0;
}
