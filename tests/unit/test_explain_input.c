/* SPDX-License-Identifier: MIT */
/* How much is read of a log that is longer than is read: the end of a file, the beginning of a stream. */
#include "unit.h"

#include "cli/explain_input.h"
#include "diagnose/scan/patterns/pattern.h"
#include "diagnose/unread.h"
#include "report/explain_parts.h"

#include <unistd.h>

enum { MOST = 4000 };

static const char line[] = "step 17 of 400: loss 2.25, and all is well\n";
static const char first[] = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n";
static const char last[] =
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate "
    "8589934592 bytes.\n";

static struct plim_diagnose *diagnose;
static struct plim_explain_extent extent;

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

/* A failure, so many lines, and another failure. Returns the bytes. */
static size_t write_log(FILE *file, int n_lines)
{
    fputs(first, file);
    for (int i = 0; i < n_lines; i++)
        fputs(line, file);
    fputs(last, file);
    assert_int_equal(fflush(file), 0);
    return sizeof first + sizeof last - 2 + (size_t)n_lines * (sizeof line - 1);
}

static const struct plim_diagnosis *read_log(int fd, uint64_t max_bytes)
{
    char path[64];
    struct plim_error error = { 0 };
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    const struct plim_explain_input input = { .path = path, .max_bytes = max_bytes };
    plim_diagnose_reset(diagnose);
    assert_int_equal(plim_explain_read(&input, diagnose, &extent, &error), 0);
    return plim_diagnose_end(diagnose);
}

static void test_the_end_of_a_long_file(void **state)
{
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    const size_t size = write_log(file, 200);
    const struct plim_diagnosis *d = read_log(fileno(file), MOST);
    assert_int_equal(extent.n_bytes_before, size - MOST);
    assert_false(extent.has_more);
    assert_int_equal(d->n_bytes, MOST);
    assert_int_equal(d->n_findings, 1);
    assert_string_equal(d->findings[0].pattern->id, "jax-allocate");

    d = read_log(fileno(file), size); /* which is just not too long */
    assert_int_equal(extent.n_bytes_before, 0);
    assert_false(extent.has_more);
    assert_int_equal(d->n_findings, 2);
    fclose(file);
}

static void test_the_beginning_of_a_long_stream(void **state)
{
    (void)state;
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    FILE *out = fdopen(pipes[1], "w"); /* what is written fits into the pipe */
    assert_non_null(out);
    const size_t size = write_log(out, 200);
    const struct plim_diagnosis *d = read_log(pipes[0], MOST); /* although nobody closes it */
    assert_true(extent.has_more);
    assert_int_equal(extent.n_bytes_before, 0);
    assert_int_equal(d->n_bytes, MOST);
    assert_int_equal(d->n_findings, 1);
    assert_string_equal(d->findings[0].pattern->id, "pytorch-oom");
    fclose(out);
    d = read_log(pipes[0], size); /* the rest, to its end */
    assert_int_equal(d->n_bytes, size - MOST - 1);
    assert_false(extent.has_more);
    close(pipes[0]);
}

/* --- what people are told --- */

static const char *told(const struct plim_explanation *explanation)
{
    static char text[1024];
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    plim_explain_print_unread(out, explanation);
    fclose(out);
    for (char *p = text; *p; p++) /* however the lines are wrapped */
        *p = *p == '\n' ? ' ' : *p;
    return text;
}

static void test_what_is_told(void **state)
{
    static struct plim_diagnosis diagnosis;
    struct plim_explanation explanation = { .diagnosis = &diagnosis };
    (void)state;
    diagnosis.n_bytes = 16u << 20;
    assert_string_equal(told(&explanation), "");
    plim_unread_add(&diagnosis.unread, 80, 82);
    plim_unread_close(&diagnosis.unread);
    plim_unread_add(&diagnosis.unread, 90, 90);
    assert_string_equal(told(&explanation), "4 lines were not read, because all of this log would take too long: among "
                                            "lines 80 to 82, 90 to 90. ");
    for (uint64_t line_number = 100; line_number < 300; line_number += 100) {
        plim_unread_close(&diagnosis.unread);
        plim_unread_add(&diagnosis.unread, line_number, line_number + 1);
    }
    assert_non_null(strstr(told(&explanation), "8 lines were not read"));
    assert_non_null(strstr(told(&explanation), "90 to 90, 100 to 101, and others. "));
    plim_unread_reset(&diagnosis.unread);
    explanation.n_bytes_before = 2u << 20;
    assert_string_equal(told(&explanation), "Only the end of the file was read: 2.00 MiB before it were not. Line 1 is "
                                            "the first there. ");
    explanation.n_bytes_before = 0;
    explanation.has_more = true;
    assert_string_equal(told(&explanation), "Only the first 16.00 MiB were read; what came behind them was not. ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_the_end_of_a_long_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_beginning_of_a_long_stream, set_up, tear_down),
        cmocka_unit_test(test_what_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
