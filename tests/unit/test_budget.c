/* SPDX-License-Identifier: MIT */
/* What a log may take: real ones take a small part of it, hostile ones no more than all of it, and then say so. */
#include "unit.h"

#include "base/limits.h"
#include "diagnose/diagnose.h"
#include "diagnose/scan/budget.h"
#include "diagnose/scan/patterns/expression.h"
#include "diagnose/scan/patterns/pattern.h"
#include "diagnose/unread.h"
#include "hostile_log.h"

#include <dirent.h>
#include <inttypes.h>

enum {
    HEAD_ROOM = 20, /* times as much as a real log takes */
    LOG_BYTES = 160 << 10,
    MANY_BYTES = 2 << 20, /* enough to spend all */
    CALL_STEPS = 1 << 20, /* what is under way when all is spent goes on: a match, the tracebacks of a window */
    MOST_KIB = 16 << 10,
};

static const char crash[] = "\njaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to "
                            "allocate 8589934592 bytes.\n";

static struct plim_diagnose *diagnose;

static int set_up(void **state)
{
    (void)state;
    diagnose = plim_diagnose_new();
    return diagnose ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    plim_diagnose_free(diagnose);
    return 0;
}

static uint64_t allowed(uint64_t n_bytes)
{
    return PLIM_MAX_LOG_STEPS + PLIM_MAX_LOG_END_STEPS + PLIM_MAX_LOG_STEPS_OF_BYTE * n_bytes;
}

/* --- real logs --- */

static void check_real(const char *name, const char *data, size_t size, size_t times)
{
    plim_diagnose_reset(diagnose);
    for (size_t i = 0; i < times; i++)
        plim_diagnose_feed(diagnose, data, size);
    const struct plim_diagnosis *d = plim_diagnose_end(diagnose);
    if (d->n_steps * HEAD_ROOM > allowed(times * size) || d->unread.n_lines)
        fail_msg("%s, %zu times: %" PRIu64 " steps", name, times, d->n_steps);
}

static void read_folder(const char *folder, const char *suffix)
{
    char path[1024], *data = malloc(1 << 20);
    int n = 0;
    assert_non_null(data);
    snprintf(path, sizeof path, "%s/%s", getenv("PLIM_TEST_LOGS"), folder);
    DIR *open = opendir(path);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));) {
        if (!strstr(entry->d_name, suffix))
            continue;
        snprintf(path, sizeof path, "%s/%s/%s", getenv("PLIM_TEST_LOGS"), folder, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        const size_t size = fread(data, 1, 1 << 20, file);
        fclose(file);
        check_real(path, data, size, 1);
        check_real(path, data, size, 40); /* a run that is started again and again */
        n++;
    }
    closedir(open);
    free(data);
    assert_true(n > 0);
}

static void test_real_logs_take_a_small_part(void **state)
{
    (void)state;
    read_folder("data/explain", ".log");
    read_folder("cli/logs", ".log");
    read_folder("cli/logs/crash", ".log");
}

/* --- hostile logs --- */

/* What was read of it, in pieces of at most so many bytes, with a crash as its last line. */
static const struct plim_diagnosis *read_hostile(enum hostile_kind kind, size_t size, size_t piece)
{
    enum { BLOCK_BYTES = 32 << 10 }; /* the memory that is looked at in the end is the reader's, not that of a log */
    char *data = malloc(BLOCK_BYTES);
    struct hostile_log log;
    assert_non_null(data);
    hostile_begin(&log, kind, 1);
    plim_diagnose_reset(diagnose);
    for (size_t left = size, n; left > 0; left -= n) {
        n = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        hostile_write(&log, data, n);
        for (size_t at = 0; at < n; at += piece)
            plim_diagnose_feed(diagnose, data + at, n - at < piece ? n - at : piece);
    }
    plim_diagnose_feed(diagnose, crash, sizeof crash - 1);
    free(data);
    return plim_diagnose_end(diagnose);
}

static bool has_crash(const struct plim_diagnosis *d)
{
    for (uint32_t i = 0; i < d->n_findings; i++)
        if (!strcmp(d->findings[i].pattern->id, "jax-allocate") && d->findings[i].last_line == d->n_lines)
            return true;
    return d->n_left_out > 0;
}

static bool is_last_line_read(const struct plim_diagnosis *d)
{
    return d->unread.n == 0 || d->unread.range[d->unread.n - 1].to < d->n_lines;
}

static void test_a_hostile_log_takes_no_more_than_all(void **state)
{
    (void)state;
    for (int kind = 0; kind < HOSTILE_KIND_MAX; kind++) {
        const struct plim_diagnosis *d = read_hostile((enum hostile_kind)kind, LOG_BYTES, 32 << 10);
        const char *name = hostile_name((enum hostile_kind)kind);
        if (d->n_steps > allowed(LOG_BYTES) + CALL_STEPS)
            fail_msg("%s: %" PRIu64 " steps", name, d->n_steps);
        if (!has_crash(d) || !is_last_line_read(d))
            fail_msg("%s: its last line was not read", name);
    }
}

/* All is spent: the rest is sampled, the end is read, and the answer says so; the same in pieces of any size. */
static void test_the_rest_is_sampled(void **state)
{
    (void)state;
    const struct plim_diagnosis *d = read_hostile(HOSTILE_NEAR_MISSES, MANY_BYTES, 32 << 10);
    const struct plim_unread unread = d->unread;
    const uint64_t n_steps = d->n_steps;
    assert_in_range(n_steps, PLIM_MAX_LOG_STEPS, allowed(MANY_BYTES) + CALL_STEPS);
    assert_in_range(unread.n_lines, 10, d->n_lines - 10);
    assert_true(is_last_line_read(d));
    assert_true(has_crash(d));
    uint64_t n_lines = 0;
    for (uint32_t i = 0; i < unread.n; i++) {
        assert_in_range(unread.range[i].from, i ? unread.range[i - 1].to + 1 : 1, unread.range[i].to);
        assert_in_range(unread.range[i].n_lines, 1, unread.range[i].to - unread.range[i].from + 1);
        n_lines += unread.range[i].n_lines;
    }
    assert_int_equal(n_lines, unread.n_lines);

    d = read_hostile(HOSTILE_NEAR_MISSES, MANY_BYTES, 7777);
    assert_int_equal(d->n_steps, n_steps);
    assert_memory_equal(&d->unread, &unread, sizeof unread);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#elif defined(__has_feature)
static const bool is_sanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
static const bool is_sanitized = false;
#endif

/* Of this program, after all that; sanitizers need more. */
static void test_memory_stays(void **state)
{
    (void)state;
    char line[256];
    long kib = 0;
    FILE *file = fopen("/proc/self/status", "r"); /* getrusage() has what was before exec() as well */
    assert_non_null(file);
    while (kib == 0 && fgets(line, sizeof line, file))
        sscanf(line, "VmHWM: %ld kB", &kib);
    fclose(file);
    if (is_sanitized)
        skip();
    assert_in_range(kib, 1, MOST_KIB);
}

/* --- the parts --- */

static void test_steps_come_with_bytes_and_for_the_end(void **state)
{
    (void)state;
    const uint64_t end = 5000000, bytes = 80000;
    struct plim_budget budget;
    plim_budget_reset(&budget);
    assert_true(plim_budget_may_read(&budget, 0));
    plim_budget_spend(&budget, PLIM_MAX_LOG_STEPS - 1);
    assert_false(plim_budget_is_spent(&budget));
    plim_budget_spend(&budget, 1);
    assert_true(plim_budget_is_spent(&budget));
    assert_false(plim_budget_may_read(&budget, 0));
    /* then not before a sample has come together */
    assert_false(plim_budget_may_read(&budget, PLIM_LOG_SAMPLE_STEPS / PLIM_MAX_LOG_STEPS_OF_BYTE - 1));
    assert_true(plim_budget_may_read(&budget, PLIM_LOG_SAMPLE_STEPS / PLIM_MAX_LOG_STEPS_OF_BYTE + 1));
    assert_false(plim_budget_is_spent(&budget));

    plim_budget_spend(&budget, PLIM_MAX_LOG_STEPS_OF_BYTE * (end + bytes)); /* more than all */
    assert_false(plim_budget_may_read(&budget, end));
    plim_budget_end(&budget, end, bytes);
    assert_false(plim_budget_may_read(&budget, end));            /* nothing of it at once */
    assert_true(plim_budget_may_read(&budget, end + bytes / 2)); /* a half is there for the second half */
    assert_in_range(budget.allowed - budget.spent, PLIM_MAX_LOG_END_STEPS / 3, PLIM_MAX_LOG_END_STEPS / 2);
    assert_true(plim_budget_may_read(&budget, end + bytes));
    assert_in_range(budget.allowed - budget.spent, PLIM_MAX_LOG_END_STEPS - PLIM_LOG_SAMPLE_STEPS,
                    PLIM_MAX_LOG_END_STEPS);
    plim_budget_end(&budget, 2 * end, bytes); /* of a log that went on: once is enough */
    const uint64_t before = budget.allowed;
    plim_budget_may_read(&budget, end + bytes);
    assert_int_equal(budget.allowed, before);
}

static void test_ranges_of_lines(void **state)
{
    (void)state;
    struct plim_unread u;
    plim_unread_reset(&u);
    plim_unread_add(&u, 3, 3);
    plim_unread_add(&u, 3, 3); /* another hit of the line */
    plim_unread_add(&u, 5, 6); /* the line between had nothing to read */
    assert_int_equal(u.n, 1);
    assert_int_equal(u.range[0].from, 3);
    assert_int_equal(u.range[0].to, 6);
    assert_int_equal(u.range[0].n_lines, 3);
    plim_unread_close(&u);
    plim_unread_add(&u, 6, 6); /* the rest of a line that was counted */
    assert_int_equal(u.n, 1);
    for (uint64_t line = 10; line < 1000; line += 10) {
        plim_unread_close(&u);
        plim_unread_add(&u, line, line + 1);
    }
    assert_int_equal(u.n, PLIM_MAX_UNREAD_RANGES);
    assert_int_equal(u.n_lines, 3 + 99 * 2);
    assert_int_equal(u.range[1].to, 11);
    assert_int_equal(u.range[PLIM_MAX_UNREAD_RANGES - 1].to, 991);
}

/* An expression that backtracks without end is given up, and that costs; what it would have found is not found. */
static void test_one_expression_has_a_limit(void **state)
{
    (void)state;
    static const char endless[] = "(?:a|aa){1,40}b|a{5}", subject[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct plim_expression expression = { 0 };
    struct plim_expression_scratch scratch;
    struct plim_budget budget;
    plim_budget_reset(&budget);
    assert_true(plim_expression_scratch_init(&scratch, &budget));
    assert_true(plim_expression_find(&expression, endless, subject, sizeof subject - 6, sizeof subject - 1, &scratch));
    assert_in_range(budget.spent, 1, 1000);
    assert_false(plim_expression_find(&expression, endless, subject, 0, sizeof subject - 1, &scratch));
    assert_in_range(budget.spent, PLIM_MAX_MATCH_STEPS, PLIM_MAX_MATCH_STEPS + 1000);
    budget.spent = budget.allowed; /* nothing is looked for any more */
    assert_false(plim_expression_find(&expression, endless, subject, sizeof subject - 6, sizeof subject - 1, &scratch));
    assert_int_equal(budget.spent, budget.allowed);
    plim_expression_done(&expression);
    plim_expression_scratch_done(&scratch);
}

/* It stops in the middle of a gap, too: what it would have found there is not found. */
static void test_a_gap_takes_what_is_left(void **state)
{
    (void)state;
    static const char gap[] = "a(?:.(?C1))*b", subject[] = "a-------------------------------------------------b";
    struct plim_expression expression = { 0 };
    struct plim_expression_scratch scratch;
    struct plim_budget budget;
    plim_budget_reset(&budget);
    assert_true(plim_expression_scratch_init(&scratch, &budget));
    assert_true(plim_expression_find(&expression, gap, subject, 0, sizeof subject - 1, &scratch));
    const uint64_t steps = budget.spent;
    budget.spent = budget.allowed - steps / 2;
    assert_false(plim_expression_find(&expression, gap, subject, 0, sizeof subject - 1, &scratch));
    budget.spent = budget.allowed - 2 * steps;
    assert_true(plim_expression_find(&expression, gap, subject, 0, sizeof subject - 1, &scratch));
    plim_expression_done(&expression);
    plim_expression_scratch_done(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_come_with_bytes_and_for_the_end),
        cmocka_unit_test(test_ranges_of_lines),
        cmocka_unit_test(test_one_expression_has_a_limit),
        cmocka_unit_test(test_a_gap_takes_what_is_left),
        cmocka_unit_test_setup_teardown(test_real_logs_take_a_small_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_hostile_log_takes_no_more_than_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_rest_is_sampled, set_up, tear_down),
        cmocka_unit_test(test_memory_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
