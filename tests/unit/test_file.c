/* SPDX-License-Identifier: MIT */
/* Reading a file through its window: across its edges, and while the file is shortened. */
#include "base/limits.h"
#include "base/system_names.h"
#include "source/file.h"
#include "unit.h"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { FILE_BYTES = 3 << 20 };

static char path[] = "plimsoll-file-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    strcpy(path, "plimsoll-file-XXXXXX");
    int fd = mkstemp(path);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "wb");
    for (int i = 0; out && i < FILE_BYTES; i++)
        fputc(i % 251, out);
    return out ? fclose(out) : -1;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static struct plim_file open_file(void)
{
    struct plim_error error = { 0 };
    struct plim_file file;
    if (plim_file_open(path, &file, &error) < 0)
        fail_msg("%s", error.what);
    assert_int_equal(file.file_bytes, FILE_BYTES);
    return file;
}

/* Reads of every kind, none of which knows where a window ends. */
static void test_across_windows(void **state)
{
    struct plim_file file = open_file();
    struct plim_cursor c = plim_file_cursor(&file, FILE_BYTES - 1);
    const unsigned char *p = NULL;
    (void)state;
    for (uint64_t at = 0; plim_cursor_left(&c) >= 5000; at = c.at) {
        const uint64_t n = at % 4999 + 1;
        assert_true(plim_cursor_take(&c, n, &p));
        assert_int_equal(p[0], at % 251);
        assert_int_equal(p[n - 1], (at + n - 1) % 251);
    }
    assert_true(plim_cursor_skip(&c, plim_cursor_left(&c)));
    assert_int_equal(c.at, FILE_BYTES - 1);
    assert_false(plim_cursor_take(&c, 1, &p));
    plim_file_close(&file);
}

static void test_skips_what_is_far_away(void **state)
{
    struct plim_file file = open_file();
    struct plim_cursor c = plim_file_cursor(&file, UINT64_MAX);
    const unsigned char *p = NULL;
    (void)state;
    assert_true(plim_cursor_take(&c, 1, &p) && plim_cursor_skip(&c, FILE_BYTES - 2) && plim_cursor_take(&c, 1, &p));
    assert_int_equal(p[0], (FILE_BYTES - 1) % 251);
    plim_file_close(&file);
}

/* Nothing asks for so much at once; a window would not hold it. */
static void test_refuses_too_much_at_once(void **state)
{
    struct plim_file file = open_file();
    struct plim_cursor c = plim_file_cursor(&file, UINT64_MAX);
    const unsigned char *p = NULL;
    (void)state;
    assert_false(plim_cursor_take(&c, PLIM_CURSOR_MOST + 1, &p));
    assert_true(c.failed && c.at == 0);
    plim_file_close(&file);
}

/* A mapped file would end the process here. */
static void test_survives_a_file_that_shrinks(void **state)
{
    struct plim_file file = open_file();
    struct plim_cursor c = plim_file_cursor(&file, UINT64_MAX);
    const unsigned char *p = NULL;
    (void)state;
    assert_true(plim_cursor_take(&c, 10, &p));
    assert_return_code(truncate(path, 2 << 20), 0);
    assert_true(plim_cursor_skip(&c, (2 << 20) - 15));
    assert_false(plim_cursor_take(&c, 10, &p));
    assert_true(c.failed && c.error == 0);
    assert_int_equal(c.failed_at, (2 << 20) - 5);
    assert_int_equal(plim_cursor_left(&c), 5);
    plim_file_close(&file);
}

/* Of a folder with more names than are read, the first in order stay, whatever the order they come in. */
static void test_names_beyond_the_limit(void **state)
{
    enum { MORE = 1000, N = PLIM_MAX_FOLDER_NAMES + MORE };
    struct plim_names names = { 0 };
    char name[32];
    (void)state;
    for (uint64_t i = 0; i < N; i++) {
        snprintf(name, sizeof name, "%08llu",
                 (unsigned long long)(i * 7919 % N)); /* every number once: 7919 is prime */
        assert_int_equal(plim_names_add(&names, name), 0);
    }
    plim_names_sort(&names);
    assert_int_equal(names.n, PLIM_MAX_FOLDER_NAMES);
    assert_int_equal(names.n_left_out, MORE);
    for (size_t i = 0; i < names.n; i++)
        if (strtoull(names.names[i], NULL, 10) != i)
            fail_msg("%s is at %zu", names.names[i], i);
    plim_names_done(&names);
}

/* --- signals --- */

static int interrupted[2]; /* a pipe */

/* The third one brings what is waited for. */
static void interrupt(int signal)
{
    static int n;
    (void)signal;
    if (++n == 3 && write(interrupted[1], "x", 1) < 0)
        _exit(1);
}

/* A program that uses the library may have handlers that do not restart a read. */
static void test_a_signal_ends_no_read(void **state)
{
    const struct sigaction action = { .sa_handler = interrupt };
    const struct itimerval often = { { 0, 5000 }, { 0, 5000 } }, never = { 0 };
    struct sigaction before;
    char byte = 0;
    size_t n = 0;
    (void)state;
    assert_int_equal(pipe(interrupted), 0);
    assert_int_equal(sigaction(SIGALRM, &action, &before), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
    const int result = plim_system_read(interrupted[0], &byte, 1, &n);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    close(interrupted[0]);
    close(interrupted[1]);
    assert_int_equal(result, 0);
    assert_true(n == 1 && byte == 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_across_windows, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_skips_what_is_far_away, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_refuses_too_much_at_once, make_file, remove_file),
        cmocka_unit_test_setup_teardown(test_survives_a_file_that_shrinks, make_file, remove_file),
        cmocka_unit_test(test_names_beyond_the_limit),
        cmocka_unit_test(test_a_signal_ends_no_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
