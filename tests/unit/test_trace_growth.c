/* SPDX-License-Identifier: MIT */
/*
 * Memory that grows with each turn of a loop: tests/data/traces/steps-*.pickle, snapshots of small programs in which a
 * line that keeps memory is marked (tests/engine/torch/allocator/steps.py), or none is.
 */
#include "trace/analysis.h"
#include "trace/snapshot.h"
#include "unit.h"

#include <dirent.h>

static const char *tests_folder(void) { return getenv("PLIM_TEST_LOGS"); }

/* The number of the line that says "LEAK kind"; 0: none does. */
static uint32_t marked_line(const char *kind)
{
    char path[512], line[512], mark[96];
    uint32_t number = 0, found = 0;
    snprintf(path, sizeof path, "%s/engine/torch/allocator/steps.py", tests_folder());
    snprintf(mark, sizeof mark, "# LEAK %s\n", kind);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        number++;
        if (strstr(line, mark))
            found = number;
    }
    fclose(file);
    return found;
}

static void check(const char *name, uint32_t line)
{
    const bool has_steps = !strstr(name, "-load-") && !strstr(name, "-forward-");
    char path[512];
    struct plim_memory_trace trace;
    struct plim_trace_analysis analysis;
    const struct plim_trace_question question = { 0 };
    struct plim_error error = { 0 };
    snprintf(path, sizeof path, "%s/data/traces/%s", tests_folder(), name);
    if (plim_snapshot_open(path, &trace, &error) < 0 || plim_trace_analyse(&trace, 0, &question, &analysis, &error) < 0)
        fail_msg("%s: %s", name, error.what);
    const struct plim_trace_growth *growth = &analysis.growth;
    assert_int_equal(growth->has_loop, has_steps);
    assert_int_equal(growth->n_turns, has_steps ? 16 : 0);
    for (size_t i = 0; i < growth->n_lines; i++) {
        const struct plim_trace_frame *frame = &trace.frames[growth->lines[i].frame];
        if (frame->line != line || strcmp(plim_trace_words(&trace, frame->file), "steps.py"))
            fail_msg("%s: %s:%u is named", name, plim_trace_words(&trace, frame->file), frame->line);
    }
    if (line && growth->n_lines != 1)
        fail_msg("%s: line %u is not named", name, line);
    plim_trace_analysis_done(&analysis);
    plim_snapshot_done(&trace);
}

static void test_programs(void **state)
{
    char path[512], kind[64];
    size_t n_leaks = 0, n_clean = 0;
    const struct dirent *entry;
    (void)state;
    snprintf(path, sizeof path, "%s/data/traces", tests_folder());
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while ((entry = readdir(folder))) {
        if (sscanf(entry->d_name, "steps-%63[a-z-]", kind) != 1)
            continue;
        kind[strlen(kind) - 1] = 0; /* the '-' before the version */
        const uint32_t line = marked_line(kind);
        assert_int_equal(line > 0, strncmp(kind, "leak", 4) == 0);
        check(entry->d_name, line);
        n_leaks += line > 0;
        n_clean += line == 0;
    }
    closedir(folder);
    print_message("%zu programs keep memory, %zu do not\n", n_leaks, n_clean);
    assert_true(n_leaks >= 5 && n_clean >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_programs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
