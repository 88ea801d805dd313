/* SPDX-License-Identifier: MIT */
/* PyTorch's allocator, replayed, beside what PyTorch did: tests/data/traces. */
#include "engine/torch/free_set.h"
#include "trace/replay.h"
#include "trace_record.h"
#include "unit.h"

/*
 * Records that differ, and why; the test fails when one of them is equal as well, so that the list stays true.
 * A snapshot of 2.10 or older names the pool of a segment only if the segment is there at the end, and a MemPool that
 * is deleted gives its segments back at once (from 2.8 on); and never that of a request that failed (pools-full).
 * One of 2.1 or 2.2 does not say that empty_cache() released a segment: before a request that needs one it passes for a
 * retry, of which "full" has one too many. Nor has it the settings, and up to 2.8 ">" in a list of divisions overwrites
 * the key before it (roundup-list).
 */
static const char *const different[] = {
    "full-2.1.trace",       "full-2.2.trace",         "pools-2.10.trace",
    "pools-2.8.trace",      "pools-full-2.10.trace",  "pools-full-2.5.trace",
    "pools-full-2.8.trace", "roundup-list-2.1.trace", "roundup-list-2.2.trace",
};

static bool is_known_to_differ(const char *name)
{
    for (size_t i = 0; i < COUNT(different); i++)
        if (strcmp(name, different[i]) == 0)
            return true;
    return false;
}

static struct plim_torch_settings settings_of(const struct trace_record *record)
{
    struct plim_error error = { 0 };
    struct plim_torch_settings settings;
    plim_torch_settings_init(&settings);
    if (plim_torch_settings_parse(&settings, record->conf, &error) < 0)
        fail_msg("%s: %s", record->conf, error.what);
    settings.fraction = record->fraction;
    if (record->has_divisions)
        memcpy(settings.divisions, record->divisions, sizeof record->divisions);
    return settings;
}

/* What `record` asked for, under the conditions of `other`. */
static void replay(struct trace_record *record, const struct trace_record *other, struct plim_trace_replay *ret_replay)
{
    struct plim_error error = { 0 };
    struct plim_trace_requests requests;
    const struct plim_torch_settings recorded = settings_of(record);
    const struct plim_trace_conditions conditions = { .settings = settings_of(other),
                                                      .capacity_bytes = other->room_bytes,
                                                      .card_bytes = other->card_bytes,
                                                      .are_recorded = record == other };
    if (plim_trace_requests_make(&record->trace, 0, &recorded, &requests, &error) < 0 ||
        plim_trace_replay(&record->trace, 0, &requests, &conditions, ret_replay, &error) < 0)
        fail_msg("%s", error.what);
    plim_trace_requests_done(&requests);
}

static uint32_t first_oom(const struct trace_record *record)
{
    for (size_t i = 0; i < record->trace.n_entries; i++)
        if (record->trace.entries[i].action == PLIM_TRACE_OOM)
            return (uint32_t)i;
    return UINT32_MAX;
}

static bool has_same_peaks(const struct plim_torch_result *result, const struct trace_record *record)
{
    return result->reserved_peak_bytes == record->reserved_peak &&
           result->allocated_peak_bytes == record->allocated_peak &&
           result->requested_peak_bytes == record->requested_peak &&
           result->inactive_split_peak_bytes == record->inactive_split_peak && result->n_retries == record->n_retries &&
           result->n_ooms == record->n_ooms;
}

struct score {
    size_t n, n_equal, n_ooms, n_segments;
};

static void hold_against(const char *name, struct trace_record *record, void *data)
{
    struct score *score = data;
    struct plim_trace_replay r;
    const bool is_cut = strncmp(name, "cut", 3) == 0; /* its peaks may lie before its beginning */
    replay(record, record, &r);
    const bool is_equal =
        r.n_recorded == r.n_equal && r.n_replayed == r.n_equal && (is_cut || has_same_peaks(&r.result, record));
    score->n++;
    score->n_equal += is_equal;
    score->n_ooms += record->n_ooms > 0;
    score->n_segments += r.n_recorded;
    if (is_equal == is_known_to_differ(name))
        fail_msg("%s: %zu of %zu changes of segments are equal, %zu replayed; reserved %llu of %llu", name, r.n_equal,
                 r.n_recorded, r.n_replayed, (unsigned long long)r.result.reserved_peak_bytes,
                 (unsigned long long)record->reserved_peak);
    if (r.oom_entry != first_oom(record) && is_equal)
        fail_msg("%s: it runs out at entry %d, and PyTorch did at %d", name, (int)r.oom_entry, (int)first_oom(record));
}

static void test_records(void **state)
{
    struct score score = { 0 };
    (void)state;
    trace_record_each(hold_against, &score);
    print_message("%zu of %zu records are equal, %zu with OOMs; %zu changes of segments\n", score.n_equal, score.n,
                  score.n_ooms, score.n_segments);
    assert_true(score.n >= 200 && score.n_ooms >= 50);
    assert_true(score.n_equal * 100 >= score.n * 95);
}

/* --- a record under other settings, beside a second run of the same program under them --- */

static const char *const programs[][2] = {
    { "random", "expandable" },      { "random", "split" },       { "random", "roundup" },
    { "waves", "expandable-waves" }, { "waves", "roundup-list" }, { "streams", "expandable-streams" },
    { "model", "model-expandable" },
};

static const char *const versions[] = { "2.1", "2.2", "2.4", "2.5", "2.8", "2.10", "2.15" };

static void read_record(const char *program, const char *version, struct trace_record *ret_record)
{
    char path[512];
    snprintf(path, sizeof path, "%s/data/traces/%s-%s.trace", getenv("PLIM_TEST_LOGS"), program, version);
    trace_record_read(path, ret_record);
}

/* 0: the reserved peak is the same byte; else how far off it is. */
static double distance(struct trace_record *from, const struct trace_record *to)
{
    struct plim_trace_replay r;
    replay(from, to, &r);
    const double off = (double)r.result.reserved_peak_bytes - (double)to->reserved_peak;
    return (off < 0 ? -off : off) / (double)to->reserved_peak;
}

static void test_other_settings(void **state)
{
    size_t n = 0, n_equal = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(programs); i++)
        for (size_t v = 0; v < COUNT(versions); v++) {
            struct trace_record a, b;
            read_record(programs[i][0], versions[v], &a);
            read_record(programs[i][1], versions[v], &b);
            if (!b.has_divisions && strcmp(programs[i][1], "roundup-list") == 0) { /* 2.1 and 2.2: see above */
                trace_record_done(&a);
                trace_record_done(&b);
                continue;
            }
            const double there = distance(&a, &b), back = distance(&b, &a);
            n += 2;
            n_equal += (size_t)(there == 0) + (size_t)(back == 0);
            if (there > 0 || back > 0)
                print_message("%s and %s-%s: %.3f %% and %.3f %% off\n", programs[i][0], programs[i][1], versions[v],
                              100 * there, 100 * back);
            assert_true(there <= 0.01 && back <= 0.01);
            trace_record_done(&a);
            trace_record_done(&b);
        }
    print_message("%zu of %zu reserved peaks are equal under other settings\n", n_equal, n);
    assert_true(n_equal * 10 >= n * 9);
}

/* --- what the virtual GPU does not do: a stream that is late; and a block whose size only the segment tells --- */

static void replay_entries(struct plim_trace_entry *entries, size_t n, const struct plim_trace_segment *segment,
                           struct plim_trace_block *block, uint64_t room_bytes, struct plim_trace_replay *ret_replay)
{
    uint64_t stream = 0;
    struct plim_trace_pool_id pool = { 0, 0 };
    struct plim_trace_device device = { 0, n };
    struct plim_error error = { 0 };
    struct plim_trace_requests requests;
    struct plim_trace_conditions conditions = { .capacity_bytes = room_bytes, .are_recorded = true };
    struct plim_memory_trace trace = { .entries = entries,
                                       .n_entries = n,
                                       .devices = &device,
                                       .n_devices = 1,
                                       .segments = (struct plim_trace_segment *)(uintptr_t)segment,
                                       .n_segments = 1,
                                       .blocks = block,
                                       .n_blocks = 1,
                                       .streams = &stream,
                                       .n_streams = 1,
                                       .pools = &pool,
                                       .n_pools = 1 };
    plim_torch_settings_init(&conditions.settings);
    if (plim_trace_requests_make(&trace, 0, &conditions.settings, &requests, &error) < 0 ||
        plim_trace_replay(&trace, 0, &requests, &conditions, ret_replay, &error) < 0)
        fail_msg("%s", error.what);
    assert_int_equal(requests.n_lost, 0);
    plim_trace_requests_done(&requests);
}

#define ENTRY(what, where, mib)                                                                                        \
    {                                                                                                                  \
        .address = (where), .bytes = (uint64_t)(mib) << 20, .action = PLIM_TRACE_##what                                \
    }

/* The second request waits for the other stream itself: it must not find the block when it first looks. */
static void test_late_returns(void **state)
{
    struct plim_trace_entry entries[] = {
        ENTRY(SEGMENT_ALLOC, 0x10000000, 30),  ENTRY(ALLOC, 0x10000000, 30),
        ENTRY(FREE_REQUESTED, 0x10000000, 30), ENTRY(SNAPSHOT, 0, 0),
        ENTRY(FREE_COMPLETED, 0x10000000, 30), ENTRY(SEGMENT_FREE, 0x10000000, 30),
        ENTRY(SEGMENT_ALLOC, 0x20000000, 30),  ENTRY(ALLOC, 0x20000000, 30),
    };
    struct plim_trace_block block = { 30 << 20, 30 << 20, PLIM_TRACE_NO_STACK, PLIM_TRACE_ALLOCATED };
    const struct plim_trace_segment segment = { .address = 0x20000000, .bytes = 30 << 20, .n_blocks = 1 };
    struct plim_trace_replay r;
    (void)state;
    replay_entries(entries, COUNT(entries), &segment, &block, 40 << 20, &r);
    assert_int_equal(r.n_recorded, 3);
    assert_int_equal(r.n_equal, 3);
    assert_int_equal(r.n_replayed, 3);
    assert_int_equal(r.result.n_retries, 1);
    assert_int_equal(r.result.n_ooms, 0);
}

/* 39 MiB were asked for before the trace begins; one more was too little to split off. */
static void test_block_before(void **state)
{
    struct plim_trace_entry entries[] = {
        ENTRY(FREE_REQUESTED, 0x10000000, 39),
        ENTRY(FREE_COMPLETED, 0x10000000, 39),
    };
    struct plim_trace_block block = { 40 << 20, 0, PLIM_TRACE_NO_STACK, PLIM_TRACE_INACTIVE };
    const struct plim_trace_segment segment = { .address = 0x10000000, .bytes = 40 << 20, .n_blocks = 1 };
    struct plim_trace_replay r;
    (void)state;
    replay_entries(entries, COUNT(entries), &segment, &block, 64 << 20, &r);
    assert_int_equal(r.result.allocated_peak_bytes, 40 << 20);
    assert_int_equal(r.result.requested_peak_bytes, 39 << 20);
    assert_int_equal(r.result.allocated_bytes, 0);
}

/* --- settings --- */

static const struct {
    const char *text;
    uint64_t asked_bytes, block_bytes;
} rounding[] = {
    { "", 0, 512 },
    { "", 1, 512 },
    { "", 513, 1024 },
    { "roundup_power2_divisions:4", 1200, 1536 }, /* not above 512 x 4: the plain rule */
    { "roundup_power2_divisions:4", 1200 * 1024, 1280 * 1024 },
    { "roundup_power2_divisions:4", 4 << 20, 4 << 20 },
    { "roundup_power2_divisions:[1:8,16:4,64:2,>:1]", (1 << 20) + 1, (1 << 20) + (1 << 17) },
    { "roundup_power2_divisions:[1:8,16:4,64:2,>:1]", (2 << 20) + 1, (2 << 20) + 512 }, /* a class without a key */
    { "roundup_power2_divisions:[1:8,16:4,64:2,>:1]", (64 << 20) + 1, 96 << 20 },
};

static void test_rounding(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rounding); i++) {
        struct plim_torch_settings settings;
        plim_torch_settings_init(&settings);
        assert_int_equal(plim_torch_settings_parse(&settings, rounding[i].text, NULL), 0);
        assert_int_equal(plim_torch_round(&settings, rounding[i].asked_bytes), rounding[i].block_bytes);
    }
}

static void test_text_of_settings(void **state)
{
    static const char *const texts[] = {
        "",
        "expandable_segments:True",
        "expandable_segments:True,max_split_size_mb:128",
        "max_split_size_mb:512,garbage_collection_threshold:0.85,per_process_memory_fraction:0.3",
        "max_non_split_rounding_mb:40,large_segment_size_mb:64",
        "roundup_power2_divisions:4",
        "roundup_power2_divisions:[1:8,2:8,4:8,8:8,16:4,32:0,64:2,128:2,256:1,512:1,1024:1,2048:1,4096:1,8192:1,16384:"
        "1,"
        "32768:16]",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct plim_torch_settings settings, again;
        char text[256], short_text[8];
        plim_torch_settings_init(&settings);
        plim_torch_settings_init(&again);
        assert_int_equal(plim_torch_settings_parse(&settings, texts[i], NULL), 0);
        assert_true(plim_torch_settings_text(&settings, text, sizeof text));
        assert_string_equal(text, texts[i]);
        assert_int_equal(plim_torch_settings_text(&settings, short_text, sizeof short_text), i == 0);
        assert_int_equal(plim_torch_settings_are_equal(&settings, &again), i == 0);
        assert_int_equal(plim_torch_settings_parse(&again, text, NULL), 0);
        assert_true(plim_torch_settings_are_equal(&settings, &again));
    }
}

static void test_settings_that_pytorch_refuses(void **state)
{
    static const char *const bad[] = {
        "expandable_segments",
        "expandable_segments:yes",
        "max_split_size_mb:19",
        "max_split_size_mb:x",
        "garbage_collection_threshold:1.5",
        "roundup_power2_divisions:3",
        "roundup_power2_divisions:[256:1,512:2",
        "roundup_power2_divisions:[3:1]",
        "no_such_key:1",
        "backend:other",
    };
    struct plim_torch_settings settings;
    (void)state;
    plim_torch_settings_init(&settings);
    const struct plim_torch_settings before = settings;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct plim_error error = { 0 };
        if (plim_torch_settings_parse(&settings, bad[i], &error) != PLIM_E_USAGE)
            fail_msg("'%s' is accepted", bad[i]);
        assert_true(error.what[0]);
        assert_memory_equal(&settings, &before, sizeof settings);
    }
    assert_int_equal(plim_torch_settings_parse(&settings, "backend:cudaMallocAsync", NULL), PLIM_E_UNSUPPORTED);
    assert_int_equal(
        plim_torch_settings_parse(
            &settings, " max_split_size_mb:128, expandable_segments:True,pinned_num_register_threads:8 ,", NULL),
        0);
    assert_true(settings.is_expandable && settings.max_split_bytes == 128 * PLIM_MIB);
}

/* --- the set of free blocks beside a plain list --- */

enum { N_IN_SET = 3000 };

/* Of the blocks in a list, the first in the order of a set that is not before (bytes, address); 0: none. */
static uint32_t first_of(const struct plim_torch_block *blocks, const bool *is_in, bool is_by_address, uint64_t bytes,
                         uint64_t address)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i <= N_IN_SET; i++) {
        const uint64_t own = is_by_address ? 0 : blocks[i].bytes, least = is_by_address ? 0 : blocks[best].bytes;
        if (is_in[i] && (own > bytes || (own == bytes && blocks[i].address >= address)) &&
            (!best || own < least || (own == least && blocks[i].address < blocks[best].address)))
            best = i;
    }
    return best;
}

static void hold_against_list(bool is_by_address, uint64_t largest)
{
    static struct plim_torch_block blocks[N_IN_SET + 1];
    bool is_in[N_IN_SET + 1] = { 0 };
    struct plim_free_set set = { .is_by_address = is_by_address };
    uint64_t seed = 7;
    assert_int_equal(plim_free_set_from(&set, blocks, 0, 0), 0);
    assert_int_equal(plim_free_set_back(&set, blocks, 0), 0);
    for (size_t step = 0; step < 40000; step++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t i = 1 + (uint32_t)(seed >> 33) % N_IN_SET;
        if (is_in[i]) {
            plim_free_set_remove(&set, blocks, i);
        } else {
            blocks[i] = (struct plim_torch_block){ .bytes = 1 + (seed >> 20) % largest, .address = i * 7919 % 4001 };
            assert_true(plim_free_set_add(&set, blocks, i));
        }
        is_in[i] = !is_in[i];
        if (step % 200)
            continue;
        const uint64_t wanted = is_by_address ? 0 : 1 + (seed >> 24) % largest;
        const uint32_t at = plim_free_set_from(&set, blocks, wanted, blocks[i].address);
        assert_int_equal(at, first_of(blocks, is_in, is_by_address, wanted, blocks[i].address));
        if (!at)
            continue;
        const uint64_t bytes = is_by_address ? 0 : blocks[at].bytes;
        const uint32_t next = plim_free_set_next(&set, blocks, at);
        assert_int_equal(next, first_of(blocks, is_in, is_by_address, bytes, blocks[at].address + 1));
        assert_int_equal(plim_free_set_back(&set, blocks, next), at);
    }
    plim_free_set_done(&set);
}

static void test_free_set(void **state)
{
    (void)state;
    hold_against_list(false, 50);
    hold_against_list(false, UINT64_C(1) << 40);
    hold_against_list(true, UINT64_C(1) << 40);
}

/* However the numbers of blocks of one size lie, to find the place of one takes few steps. */
static void test_flat_set(void **state)
{
    enum { N = 1 << 16, MOST_STEPS = 64 }; /* 4 times the binary logarithm; random trees of this size have 40 */
    static const uint32_t strides[] = { 1, 2, 3, 256, 4181, 6765, 10946, 46368 };
    struct plim_torch_block *blocks = calloc(N, sizeof *blocks);
    (void)state;
    assert_non_null(blocks);
    for (size_t k = 0; k < COUNT(strides); k++) {
        struct plim_free_set set = { 0 };
        uint32_t deepest = 0;
        for (uint32_t i = 1; i < N; i++) {
            blocks[i].bytes = 512;
            blocks[i].address = (uint64_t)i * (strides[k] | 1) % N * 512;
            assert_true(plim_free_set_add(&set, blocks, i));
        }
        for (uint32_t i = 1; i < N; i++) {
            uint32_t depth = 0;
            for (uint32_t at = i; at; at = blocks[at].above)
                depth++;
            deepest = depth > deepest ? depth : deepest;
        }
        assert_in_range(deepest, 16, MOST_STEPS);
        plim_free_set_done(&set);
    }
    free(blocks);
}

/* --- events that make no sense, and memory that runs out --- */

static void test_nonsense(void **state)
{
    static const struct plim_torch_event events[] = {
        { .kind = PLIM_TORCH_GIVE, .id = 0 },
        { .kind = PLIM_TORCH_TAKE, .id = 0, .bytes = 1000 },
        { .kind = PLIM_TORCH_TAKE, .id = 0, .bytes = 1000 },
        { .kind = PLIM_TORCH_TAKE, .id = 9, .bytes = 1000 },
        { .kind = PLIM_TORCH_TAKE, .id = 1, .bytes = 1000, .stream = 9 },
        { .kind = PLIM_TORCH_TAKE, .id = 1, .bytes = UINT64_MAX },
        { .kind = PLIM_TORCH_GIVEN, .id = 1 },
        { .kind = PLIM_TORCH_EMPTY_POOL, .pool = 7 },
        { .kind = PLIM_TORCH_GIVE_LATER, .id = 0 },
        { .kind = PLIM_TORCH_GIVE_LATER, .id = 0 },
        { .kind = PLIM_TORCH_EMPTY },
        { .kind = 77, .id = 0 },
    };
    struct plim_torch_setup setup = { .capacity_bytes = UINT64_MAX, .n_ids = 2, .n_streams = 1, .n_pools = 1 };
    struct plim_torch_allocator *allocator = NULL;
    (void)state;
    plim_torch_settings_init(&setup.settings);
    assert_int_equal(plim_torch_allocator_open(&setup, &allocator, NULL), 0);
    assert_int_equal(plim_torch_allocator_run(allocator, events, COUNT(events), NULL), 0);
    const struct plim_torch_result *result = plim_torch_allocator_result(allocator);
    assert_int_equal(result->reserved_bytes, 0);
    assert_int_equal(result->allocated_bytes, 0);
    assert_int_equal(result->requested_bytes, 0);
    assert_int_equal(result->reserved_peak_bytes, 2 << 20);
    plim_torch_allocator_free(allocator);
    plim_torch_allocator_free(NULL);
    setup.n_streams = setup.n_pools = UINT16_MAX;
    assert_int_equal(plim_torch_allocator_open(&setup, &allocator, NULL), PLIM_E_TOO_BIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_other_settings),
        cmocka_unit_test(test_late_returns),
        cmocka_unit_test(test_block_before),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_text_of_settings),
        cmocka_unit_test(test_settings_that_pytorch_refuses),
        cmocka_unit_test(test_free_set),
        cmocka_unit_test(test_flat_set),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
