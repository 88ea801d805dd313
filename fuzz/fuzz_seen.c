/* SPDX-License-Identifier: MIT */
/* The state file of `ps` and `top`: of any bytes, records that can be true, or none; and none of them makes a process
 * idle that is at work. */
#include "fuzz.h"

#include "base/limits.h"
#include "watch/records.h"

enum { NOW_S = 1790000000 };

/* The process 4000 of the seeds, which worked a moment ago. */
static void look(struct plim_records *records)
{
    struct plim_sample_card card = { .activity_ms = 1000 };
    struct plim_sample_process process = {
        .pid = 4000, .start_ticks = 5000, .started_unix_s = 1789913600, .cpu_ms = 60000
    };
    struct plim_holding holding = { .bytes = 1 << 30,
                                    .gpu_busy_ms = -1,
                                    .last_active_unix_ms = NOW_S * INT64_C(1000) - 50 };
    const struct plim_sample sample = { .taken_unix_ms = NOW_S * INT64_C(1000),
                                        .n_cards = 1,
                                        .n_processes = 1,
                                        .n_holdings = 1,
                                        .card = &card,
                                        .process = &process,
                                        .holding = &holding };
    struct plim_watch_activity activity;
    struct plim_record *record = plim_records_get(records, process.pid, process.start_ticks, process.started_unix_s);
    FUZZ_REQUIRE(record);
    plim_record_update(record, &sample, 0, 0, &activity);
    FUZZ_REQUIRE(activity.idle_s == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_records records = { 0 };
    const bool is_good = plim_records_read(&records, (const char *)data, size);
    FUZZ_REQUIRE(is_good || records.n == 0);
    FUZZ_REQUIRE(records.n <= PLIM_MAX_SEEN_PROCESSES);
    for (size_t i = 0; i < records.n; i++) {
        const struct plim_record *r = &records.at[i];
        FUZZ_REQUIRE(r->pid > 0 && r->seen_ms > 0 && r->idle_since_ms <= r->seen_ms);
        FUZZ_REQUIRE(i == 0 || r->pid > r[-1].pid || r->start_ticks > r[-1].start_ticks);
    }
    look(&records);
    plim_records_done(&records);
    return 0;
}
