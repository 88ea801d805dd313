/* SPDX-License-Identifier: MIT */
/* The reader of snapshots: real ones, pickles by hand, and files that are cut, changed or made to harm. */
#include "base/mem.h"
#include "trace/analysis.h"
#include "trace/snapshot.h"
#include "unit.h"

struct bytes {
    unsigned char *data;
    size_t n;
};

static struct bytes read_file(const char *name)
{
    char path[512];
    struct bytes bytes = { .data = malloc(1 << 16) };
    snprintf(path, sizeof path, "%s/data/traces/%s", getenv("PLIM_TEST_LOGS"), name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes.n = fread(bytes.data, 1, 1 << 16, file);
    fclose(file);
    assert_true(bytes.n > 100 && bytes.n < 1 << 16);
    return bytes;
}

static int read_bytes(const void *data, size_t n, struct plim_memory_trace *trace, struct plim_error *error)
{
    struct plim_cursor cursor = plim_cursor(data, n);
    return plim_snapshot_read(&cursor, trace, error);
}

/* Everything that `plimsoll trace` does with it. */
static int analyse(struct plim_memory_trace *trace)
{
    const struct plim_trace_question question = { 0 };
    struct plim_trace_analysis analysis;
    struct plim_error error = { 0 };
    const int result = plim_trace_analyse(trace, 0, &question, &analysis, &error);
    if (result == 0)
        plim_trace_analysis_done(&analysis);
    else
        assert_true(error.what[0]);
    return result;
}

/* --- real ones --- */

static void test_real(void **state)
{
    static const char *const names[] = { "train-2.15.pickle", "train-2.5.pickle" };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct bytes bytes = read_file(names[i]);
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        if (read_bytes(bytes.data, bytes.n, &trace, &error) < 0)
            fail_msg("%s: %s", names[i], error.what);
        assert_int_equal(trace.n_devices, 1);
        assert_int_equal(trace.n_entries, 274);
        assert_int_equal(trace.n_segments, 14);
        assert_int_equal(trace.n_streams, 1);
        assert_int_equal(trace.n_pools, 1);
        assert_true(trace.has_settings && trace.settings.max_split_bytes == -1);
        const struct plim_trace_entry *first = &trace.entries[0], *second = &trace.entries[1];
        assert_int_equal(first->action, PLIM_TRACE_SEGMENT_ALLOC);
        assert_int_equal(first->bytes, 20 << 20);
        assert_int_equal(second->action, PLIM_TRACE_ALLOC);
        assert_int_equal(second->bytes, 8 << 20);
        const struct plim_trace_frame *frame = &trace.frames[trace.stack_frames[trace.stacks[second->stack].first]];
        assert_string_equal(plim_trace_words(&trace, frame->file), "train.py");
        assert_string_equal(plim_trace_words(&trace, frame->name), "load_model");
        assert_int_equal(frame->line, 18);
        plim_snapshot_done(&trace);
        free(bytes.data);
    }
}

/* --- by hand: the opcodes of the C++ writer and of other protocols --- */

#define HEAD "\x80\x02"
#define SEGMENT                                                                                                        \
    "}q\x01(X\x07\0\0\0addressq\x02\x8a\x06\0\0\0\0\0\x10X\x0a\0\0\0total_sizeq\x03J\0\0\x20\0X\x06\0\0\0blocksq\x04]" \
    "q\x05}q\x06("                                                                                                     \
    "X\x04\0\0\0sizeq\x07J\0\0\x20\0X\x05\0\0\0stateq\x08X\x10\0\0\0active_allocatedq\x09u"                            \
    "aX\x0c\0\0\0segment_typeq\x0aX\x05\0\0\0smallq\x0bu"

static void test_by_hand(void **state)
{
    static const char bytes[] = HEAD "]q\0(" SEGMENT "e.";
    struct plim_memory_trace trace;
    struct plim_error error = { 0 };
    (void)state;
    if (read_bytes(bytes, sizeof bytes - 1, &trace, &error) < 0)
        fail_msg("%s at %llu", error.what, (unsigned long long)error.at);
    assert_int_equal(trace.n_segments, 1);
    assert_int_equal(trace.segments[0].address, UINT64_C(0x100000000000));
    assert_int_equal(trace.segments[0].bytes, 2 << 20);
    assert_true(trace.segments[0].is_small && trace.segments[0].n_blocks == 1);
    assert_int_equal(trace.blocks[0].state, PLIM_TRACE_ALLOCATED);
    assert_int_equal(analyse(&trace), 0);
    plim_snapshot_done(&trace);
}

/* Segments in which nothing is allocated, or without a history. */
static void test_nothing_allocated(void **state)
{
    static const char bytes[] = HEAD "}(X\x08\0\0\0segments]q\0(" SEGMENT "eX\x0d\0\0\0device_traces](]eu.";
    char changed[sizeof bytes];
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        memcpy(changed, bytes, sizeof bytes);
        for (size_t k = 0; i == 1 && k + 6 < sizeof bytes; k++)
            if (!memcmp(changed + k, "active", 6))
                memcpy(changed + k, "unused", 6);
        if (read_bytes(changed, sizeof bytes - 1, &trace, &error) < 0)
            fail_msg("%s at %llu", error.what, (unsigned long long)error.at);
        assert_int_equal(trace.n_devices, 1);
        assert_int_equal(trace.blocks[0].state, i == 0 ? PLIM_TRACE_ALLOCATED : PLIM_TRACE_INACTIVE);
        assert_int_equal(analyse(&trace), 0);
        plim_snapshot_done(&trace);
    }
}

#define BAD(text, code, words)                                                                                         \
    {                                                                                                                  \
        text, sizeof(text) - 1, code, words                                                                            \
    }

static const struct {
    const char *bytes;
    size_t n;
    int code;
    const char *words;
} bad[] = {
    BAD("", PLIM_E_UNSUPPORTED, "not a snapshot"),
    BAD("GGUF", PLIM_E_UNSUPPORTED, "not a snapshot"),
    BAD("\x80\x09}.", PLIM_E_UNSUPPORTED, "pickle protocol 9"),
    BAD(HEAD ".", PLIM_E_CORRUPT, "more or less than one value"),
    BAD(HEAD "]](.", PLIM_E_CORRUPT, "more or less than one value"),
    BAD(HEAD "}", PLIM_E_TRUNCATED, "ends early"),
    BAD(HEAD "X\xff\0\0\0abc.", PLIM_E_TRUNCATED, "ends early"),
    BAD(HEAD "X\0\0\0\x7f.", PLIM_E_TOO_BIG, "a text of"),
    BAD(HEAD "e.", PLIM_E_CORRUPT, "without a beginning"),
    BAD(HEAD "]a.", PLIM_E_CORRUPT, "belong to no list"),
    BAD(HEAD "}(K\1K\2e.", PLIM_E_CORRUPT, "belong to no list"),
    BAD(HEAD "\x86.", PLIM_E_CORRUPT, "a tuple lacks values"),
    BAD(HEAD "](\x85.", PLIM_E_CORRUPT, "a tuple lacks values"),
    BAD(HEAD "h\x07.", PLIM_E_CORRUPT, "no such place"),
    BAD(HEAD "]q\x07.", PLIM_E_CORRUPT, "the memo has a gap"),
    BAD(HEAD "q\0.", PLIM_E_CORRUPT, "nothing to remember"),
    BAD(HEAD "cbuiltins\neval\n.", PLIM_E_UNSUPPORTED, "import 'builtins.eval'"),
    BAD(HEAD "(ios\nsystem\n.", PLIM_E_UNSUPPORTED, "import 'os.system'"),
    BAD(HEAD "}R.", PLIM_E_UNSUPPORTED, "run code (opcode 0x52)"),
    BAD(HEAD "}b.", PLIM_E_UNSUPPORTED, "run code"),
    BAD(HEAD "I1\n.", PLIM_E_UNSUPPORTED, "opcode 0x49"),
    BAD(HEAD "K\1.", PLIM_E_UNSUPPORTED, "no segments"),
    BAD(HEAD "].", PLIM_E_UNSUPPORTED, "neither segments nor a history"),
    BAD(HEAD "](K\1K\2e.", PLIM_E_UNSUPPORTED, "something else than segments"),
    /* blocks of two segments: many segments with many blocks would take for ever */
    BAD(HEAD "]q\0(" SEGMENT "}(h\2\x8a\1\x20h\3J\0\0\x20\0h\4h\5ue.", PLIM_E_TOO_BIG, "unfolds to far more"),
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        const int result = read_bytes(bad[i].bytes, bad[i].n, &trace, &error);
        if (result != bad[i].code || !strstr(error.what, bad[i].words))
            fail_msg("%zu: %d '%s', not %d '%s'", i, result, error.what, bad[i].code, bad[i].words);
    }
}

static void test_depth(void **state)
{
    char bytes[4096] = HEAD;
    struct plim_memory_trace trace;
    struct plim_error error = { 0 };
    (void)state;
    memset(bytes + 2, '(', sizeof bytes - 2);
    assert_int_equal(read_bytes(bytes, sizeof bytes, &trace, &error), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "too deep"));
}

/* --- cut and changed --- */

static void test_cut_everywhere(void **state)
{
    struct bytes bytes = read_file("train-2.5.pickle");
    (void)state;
    for (size_t n = 0; n < bytes.n; n += n < 2000 ? 1 : 37) {
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        if (read_bytes(bytes.data, n, &trace, &error) == 0)
            fail_msg("%zu of %zu bytes are accepted", n, bytes.n);
        assert_true(error.what[0]);
    }
    free(bytes.data);
}

/* Any byte may be another one: it is read, or refused, and what was read is analysed. */
static void test_changed_bytes(void **state)
{
    struct bytes bytes = read_file("train-2.5.pickle");
    uint64_t seed = 3;
    size_t n_read = 0;
    (void)state;
    for (size_t i = 0; i < 1500; i++) {
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned char *byte = &bytes.data[(seed >> 33) % bytes.n];
        const unsigned char before = *byte;
        *byte = (unsigned char)(seed >> 25);
        if (read_bytes(bytes.data, bytes.n, &trace, &error) == 0) {
            analyse(&trace);
            plim_snapshot_done(&trace);
            n_read++;
        }
        *byte = before;
    }
    assert_true(n_read > 100 && n_read < 1500);
    free(bytes.data);
}

static void test_out_of_memory(void **state)
{
    struct bytes bytes = read_file("train-2.15.pickle");
    long n = 0;
    (void)state;
    for (;; n++) {
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        plim_alloc_fail_after(n);
        int result = read_bytes(bytes.data, bytes.n, &trace, &error);
        if (result == 0) {
            result = analyse(&trace);
            plim_snapshot_done(&trace);
        }
        if (result == 0)
            break;
        assert_int_equal(result, PLIM_E_NOMEM);
    }
    plim_alloc_fail_after(-1);
    assert_true(n > 50);
    free(bytes.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_nothing_allocated),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_changed_bytes),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
