/* SPDX-License-Identifier: MIT */
/* What memory is for, as far as the stacks and lives of a snapshot without marks tell. */
#include "trace/snapshot.h"
#include "trace/step/told.h"
#include "unit.h"

struct happening {
    const char *action;
    unsigned address; /* of OOM: what is free */
    unsigned bytes;
    const char *file, *function; /* NULL: without a stack */
};

#define ADAM      "/v/torch/optim/adam.py", "step"
#define BACKWARD  "/v/torch/_tensor.py", "backward"
#define MODULE    "/v/torch/nn/modules/module.py", "_call_impl"
#define APPLY     "/v/torch/nn/modules/module.py", "_apply"
#define CACHE     "/v/transformers/cache_utils.py", "update"
#define PROGRAM   "/home/ada/train.py", "main"
#define STACKLESS NULL, NULL
#define TAKE(address, bytes, ...)                                                                                      \
    {                                                                                                                  \
        "alloc", address, bytes, __VA_ARGS__                                                                           \
    } /* a stack is two arguments */
#define GIVE(address, bytes)                                                                                           \
    { "free_requested", address, bytes, PROGRAM }, { "free_completed", address, bytes, PROGRAM }

static void write_history(char *text, size_t size, const struct happening *rows, size_t n)
{
    size_t used = (size_t)snprintf(text, size, "{\"segments\": [], \"device_traces\": [[");
    for (size_t i = 0; i < n; i++) {
        used += (size_t)snprintf(text + used, size - used,
                                 "%s{\"action\": \"%s\", \"%s\": %u, \"size\": %u, \"stream\": 0, \"frames\": [",
                                 i ? ", " : "", rows[i].action, strcmp(rows[i].action, "oom") ? "addr" : "device_free",
                                 rows[i].address, rows[i].bytes);
        if (rows[i].file)
            used += (size_t)snprintf(text + used, size - used,
                                     "{\"filename\": \"%s\", \"line\": 1, \"name\": \"%s\"}, {\"filename\": "
                                     "\"t.py\", \"line\": 2, \"name\": \"<module>\"}",
                                     rows[i].file, rows[i].function);
        used += (size_t)snprintf(text + used, size - used, "]}");
    }
    snprintf(text + used, size - used, "]]}");
}

static struct plim_trace_pillars pillars_of(const struct happening *rows, size_t n, size_t at)
{
    char text[8192];
    struct plim_memory_trace trace;
    struct plim_trace_requests requests;
    struct plim_torch_settings settings;
    struct plim_trace_pillars pillars = { 0 };
    struct plim_error error = { 0 };
    write_history(text, sizeof text, rows, n);
    struct plim_cursor cursor = plim_cursor(text, strlen(text));
    plim_torch_settings_init(&settings);
    if (plim_snapshot_read(&cursor, &trace, &error) < 0 ||
        plim_trace_requests_make(&trace, 0, &settings, &requests, &error) < 0 ||
        plim_trace_pillars_find(&trace, 0, &requests, at, &pillars, &error) < 0)
        fail_msg("%s", error.what);
    plim_trace_requests_done(&requests);
    plim_snapshot_done(&trace);
    return pillars;
}

enum { W, K, A, G, O, UNKNOWN, N_CHECKED };

static void check(const struct happening *rows, size_t n, size_t at, const uint64_t expected[N_CHECKED])
{
    static const enum plim_pillar checked[N_CHECKED] = { PLIM_PILLAR_WEIGHTS,     PLIM_PILLAR_KV_CACHE,
                                                         PLIM_PILLAR_ACTIVATIONS, PLIM_PILLAR_GRADIENTS,
                                                         PLIM_PILLAR_OPTIMIZER,   PLIM_PILLAR_MAX_ };
    const struct plim_trace_pillars pillars = pillars_of(rows, n, at);
    for (size_t i = 0; i < N_CHECKED; i++)
        if (pillars.bytes[checked[i]] != expected[i])
            fail_msg("after %zu events: %llu bytes of pillar %zu, not %llu", at,
                     (unsigned long long)pillars.bytes[checked[i]], i, (unsigned long long)expected[i]);
}

static void test_training(void **state)
{
    static const struct happening rows[] = {
        TAKE(0x1000, 1, APPLY),
        TAKE(0x2000, 2, MODULE),
        TAKE(0x3000, 4, STACKLESS),
        TAKE(0x4000, 8, BACKWARD),
        TAKE(0x5000, 16, STACKLESS),
        TAKE(0x6000, 32, PROGRAM),
        GIVE(0x2000, 2),
        GIVE(0x4000, 8),
        TAKE(0x7000, 64, ADAM),
        GIVE(0x3000, 4),
        TAKE(0x8000, 128, BACKWARD),
        GIVE(0x8000, 128),
    };
    (void)state;
    /* 16 is never given back: what a library keeps; of 128 no step tells whether it was a gradient. */
    check(rows, COUNT(rows), 6, (const uint64_t[N_CHECKED]){ [W] = 1, [A] = 10, [G] = 4, [UNKNOWN] = 48 });
    check(rows, COUNT(rows), 9, (const uint64_t[N_CHECKED]){ [W] = 1, [G] = 4, [O] = 64, [UNKNOWN] = 48 });
    check(rows, COUNT(rows), 11, (const uint64_t[N_CHECKED]){ [W] = 1, [O] = 64, [UNKNOWN] = 176 });
}

/* A request that failed in the backward pass: what is given back then may have been a gradient. */
static void test_after_oom(void **state)
{
    static const struct happening rows[] = {
        TAKE(0x1000, 1, STACKLESS),
        { "oom", 0, 512, BACKWARD },
        GIVE(0x1000, 1),
        TAKE(0x2000, 2, STACKLESS),
        GIVE(0x2000, 2),
        TAKE(0x3000, 4, ADAM),
    };
    (void)state;
    check(rows, COUNT(rows), 1, (const uint64_t[N_CHECKED]){ [UNKNOWN] = 1 });
    check(rows, COUNT(rows), 4, (const uint64_t[N_CHECKED]){ [A] = 2 });
}

/* Without a backward pass or an optimizer anywhere, allocations without a stack tell nothing. */
static void test_inference(void **state)
{
    static const struct happening rows[] = {
        TAKE(0x1000, 1, APPLY),
        TAKE(0x2000, 2, MODULE),
        TAKE(0x3000, 4, CACHE),
        TAKE(0x4000, 8, STACKLESS),
    };
    (void)state;
    check(rows, COUNT(rows), 4, (const uint64_t[N_CHECKED]){ [W] = 1, [K] = 4, [A] = 2, [UNKNOWN] = 8 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_training),
        cmocka_unit_test(test_after_oom),
        cmocka_unit_test(test_inference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
