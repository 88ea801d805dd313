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

static bool are_same_segments(const struct plim_trace_segment *a, const struct plim_trace_segment *b)
{
    return a->address == b->address && a->bytes == b->bytes && a->first_block == b->first_block &&
           a->n_blocks == b->n_blocks && a->stack == b->stack && a->stream == b->stream && a->pool == b->pool &&
           a->device == b->device && a->is_small == b->is_small && a->is_expandable == b->is_expandable;
}

static bool are_same_entries(const struct plim_trace_entry *a, const struct plim_trace_entry *b)
{
    return a->address == b->address && a->bytes == b->bytes && a->time_us == b->time_us && a->stack == b->stack &&
           a->stream == b->stream && a->pool == b->pool && a->action == b->action && a->is_emptying == b->is_emptying;
}

/* A snapshot as JSON in gzip has what its pickle has. */
static void test_json(void **state)
{
    static const char *const versions[] = { "2.15", "2.5" };
    (void)state;
    for (size_t i = 0; i < COUNT(versions); i++) {
        struct plim_memory_trace traces[2];
        for (size_t form = 0; form < 2; form++) {
            char name[64];
            struct plim_error error = { 0 };
            snprintf(name, sizeof name, "train-%s.%s", versions[i], form ? "json.gz" : "pickle");
            struct bytes bytes = read_file(name);
            if (read_bytes(bytes.data, bytes.n, &traces[form], &error) < 0)
                fail_msg("%s: %s", name, error.what);
            free(bytes.data);
        }
        const struct plim_memory_trace *a = &traces[0], *b = &traces[1];
        assert_int_equal(a->n_entries, b->n_entries);
        assert_int_equal(a->n_blocks, b->n_blocks);
        assert_int_equal(a->n_stacks, b->n_stacks);
        assert_int_equal(a->n_segments, b->n_segments);
        for (size_t s = 0; s < a->n_segments; s++)
            assert_true(are_same_segments(&a->segments[s], &b->segments[s]));
        for (size_t e = 0; e < a->n_entries; e++)
            assert_true(are_same_entries(&a->entries[e], &b->entries[e]));
        assert_memory_equal(a->stack_frames, b->stack_frames, a->n_stack_frames * sizeof *a->stack_frames);
        for (size_t f = 0; f < a->n_frames; f++) {
            assert_string_equal(plim_trace_words(a, a->frames[f].file), plim_trace_words(b, b->frames[f].file));
            assert_int_equal(a->frames[f].line, b->frames[f].line);
        }
        plim_snapshot_done(&traces[0]);
        plim_snapshot_done(&traces[1]);
    }
}

/* Before PyTorch 2.1 a block had a list of what it was asked for. */
static void test_old_blocks(void **state)
{
    static const char text[] =
        "[{\"address\": 4096, \"total_size\": 2097152, \"stream\": 0, \"segment_type\": \"small\", \"blocks\": "
        "[{\"size\": 1024, \"state\": \"active_allocated\", \"history\": [{\"addr\": 4096, \"real_size\": 700, "
        "\"frames\": [{\"filename\": \"a.py\", \"line\": 3, \"name\": \"f\"}]}]}, {\"size\": 2096128, \"state\": "
        "\"inactive\"}]}]";
    struct plim_memory_trace trace;
    struct plim_error error = { 0 };
    (void)state;
    if (read_bytes(text, sizeof text - 1, &trace, &error) < 0)
        fail_msg("%s at %llu", error.what, (unsigned long long)error.at);
    assert_int_equal(trace.n_blocks, 2);
    assert_int_equal(trace.blocks[0].requested_bytes, 700);
    assert_string_equal(
        plim_trace_words(&trace, trace.frames[trace.stack_frames[trace.stacks[trace.blocks[0].stack].first]].file),
        "a.py");
    assert_int_equal(trace.blocks[1].stack, PLIM_TRACE_NO_STACK);
    assert_int_equal(analyse(&trace), 0);
    plim_snapshot_done(&trace);
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

/* PyTorch 2.1 and 2.2 write no settings; expandable segments show in the history. */
static void test_no_settings(void **state)
{
    static const char text[] = "{\"segments\": [], \"device_traces\": [[{\"action\": \"segment_map\", \"addr\": 0, "
                               "\"size\": 20971520, \"stream\": 0}]]}";
    char other[sizeof text];
    (void)state;
    memcpy(other, text, sizeof text);
    memcpy(strstr(other, "_map"), "_mop", 4); /* an action that a newer PyTorch may have */
    for (int i = 0; i < 2; i++) {
        struct plim_torch_settings settings;
        struct plim_memory_trace trace;
        struct plim_error error = { 0 };
        assert_int_equal(read_bytes(i ? other : text, sizeof text - 1, &trace, &error), 0);
        assert_int_equal(plim_snapshot_settings(&trace, &settings, &error), 0);
        assert_int_equal(settings.is_expandable, i == 0);
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
    BAD("{\"segments\": [}", PLIM_E_CORRUPT, "expected"),
    BAD("{\"segments\": [1, ", PLIM_E_TRUNCATED, "the JSON text ends"),
    BAD(" {\"segments\": [NaN, null, true, 1e5, -3, 99999999999999999999999]} {", PLIM_E_CORRUPT, "expected the end"),
    BAD(" [\"segments\", 1, 2]", PLIM_E_UNSUPPORTED, "something else than segments"),
    BAD("[] ]", PLIM_E_CORRUPT, "expected the end"), /* found by fuzzing: an empty list on an empty stack */
    BAD(HEAD ").", PLIM_E_UNSUPPORTED, "neither segments nor a history"),
    BAD("[[1, 2]]", PLIM_E_UNSUPPORTED, "something else than segments"),
    BAD("[{\"name\": \"s\", \"base64\": \"gAJ9cQ", PLIM_E_CORRUPT, "the base64 is damaged: it ends early"),
    BAD("[{\"name\": \"s\", \"base64\": \"gAJ$$$$\"}]", PLIM_E_CORRUPT, "a letter that is none of it"),
    BAD("[{\"name\": \"s\", \"base64\": \"gAJdLg==\"}]", PLIM_E_UNSUPPORTED, "neither segments nor a history"),
    BAD("<html>", PLIM_E_UNSUPPORTED, "a page without one"),
    BAD("PK\3\4", PLIM_E_TRUNCATED, "the zip file ends early"),
    BAD("PK\3\4\1\0\1\0\0\0\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\0\0\0\0", PLIM_E_UNSUPPORTED, "encrypted"),
    BAD("\x1f\x8b\x08", PLIM_E_TRUNCATED, "the compressed data end early"),
    BAD("\x1f\x8b\x09garbage and more", PLIM_E_CORRUPT, "the compressed data are damaged"),
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
    memset(bytes, '[', sizeof bytes);
    error = (struct plim_error){ 0 };
    assert_int_equal(read_bytes(bytes, sizeof bytes, &trace, &error), PLIM_E_CORRUPT);
    assert_non_null(strstr(error.what, "too deep"));
}

/* --- cut and changed --- */

static void test_cut_everywhere(void **state)
{
    static const char *const names[] = { "train-2.5.pickle", "train-2.15.cpp.pickle", "train-2.5.json.gz" };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct bytes bytes = read_file(names[i]);
        for (size_t n = 0; n < bytes.n; n += n < 2000 ? 1 : 37) {
            struct plim_memory_trace trace;
            struct plim_error error = { 0 };
            if (read_bytes(bytes.data, n, &trace, &error) == 0)
                fail_msg("%zu of %zu bytes are accepted", n, bytes.n);
            assert_true(error.what[0]);
        }
        free(bytes.data);
    }
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

static void run_out_of_memory(const char *name)
{
    struct bytes bytes = read_file(name);
    long n = 0;
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

static void test_out_of_memory(void **state)
{
    (void)state;
    run_out_of_memory("train-2.15.pickle");
    run_out_of_memory("train-2.15.json.gz");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_old_blocks),
        cmocka_unit_test(test_no_settings),
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
