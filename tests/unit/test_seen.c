/* SPDX-License-Identifier: MIT */
/* What earlier runs saw of processes comes back from the state file. */
#include "unit.h"
#include "watch/records.h"

#include <unistd.h>

/* A process that is gone has no start. Its record does not cost the others theirs. */
static void test_a_process_that_is_gone(void **state)
{
    char path[] = "/tmp/plimsoll-seen-XXXXXX";
    const int fd = mkstemp(path);
    struct plim_records records = { 0 }, read = { 0 };
    struct plim_error error;
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    struct plim_record *gone = plim_records_get(&records, 41233, 0, -1);
    assert_non_null(gone);
    gone->seen_ms = gone->gone_since_ms = 1000000;
    gone->cpu_ms = gone->bytes = gone->gpu_busy_ms = -1;
    struct plim_record *idle = plim_records_get(&records, 41234, 77, 900);
    assert_non_null(idle);
    idle->seen_ms = 1000000;
    idle->idle_since_ms = 950000;
    assert_int_equal(plim_records_save(&records, path, &error), 0);
    plim_records_load(&read, path);
    assert_int_equal(read.n, 2);
    assert_int_equal(plim_records_get(&read, 41233, 0, -1)->gone_since_ms, 1000000);
    assert_int_equal(plim_records_get(&read, 41234, 77, 900)->idle_since_ms, 950000);
    plim_records_done(&records);
    plim_records_done(&read);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_process_that_is_gone) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
