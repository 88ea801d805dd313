/* SPDX-License-Identifier: MIT */
/*
 * What is told of 183 programs, recorded with real PyTorch (tests/engine/torch/habits): of those with a fault the lines
 * that say "FAULT name", of the others nothing.
 */
#include "habit_record.h"
#include "trace/analysis.h"
#include "trace/snapshot.h"
#include "unit.h"

#include <dirent.h>

static const char *const kinds[] = { "kept", "larger", "late" };

static const char *tests_folder(void) { return getenv("PLIM_TEST_LOGS"); }

/* Whether that line of a program's source says "FAULT name". */
static bool is_marked(const char *source, uint32_t number, const char *name)
{
    char path[512], line[512], mark[96];
    uint32_t at = 0;
    bool is_found = false;
    snprintf(path, sizeof path, "%s/engine/torch/habits/%s", tests_folder(), source);
    snprintf(mark, sizeof mark, "# FAULT %s\n", name);
    FILE *file = strchr(source, '/') ? NULL : fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (++at == number)
            is_found = strstr(line, mark);
    if (file)
        fclose(file);
    return is_found;
}

static bool is_right(const struct plim_memory_trace *trace, uint32_t frame, const char *name)
{
    if (frame == PLIM_TRACE_NO_STACK)
        return false;
    return is_marked(plim_trace_words(trace, trace->frames[frame].file), trace->frames[frame].line, name);
}

static void print_frame(const struct plim_memory_trace *trace, uint32_t frame)
{
    if (frame != PLIM_TRACE_NO_STACK)
        print_message(" %s:%u", plim_trace_words(trace, trace->frames[frame].file), trace->frames[frame].line);
}

struct verdict {
    size_t n_named, n_wrong;
};

static struct verdict judge(const struct plim_memory_trace *trace, const struct plim_trace_analysis *analysis,
                            const char *name)
{
    const struct plim_trace_growth *growth = &analysis->growth;
    struct verdict verdict = { 0, 0 };
    for (size_t i = 0; i < growth->n_lines; i++) {
        const struct plim_trace_growing *line = &growth->lines[i];
        const bool is_good = is_right(trace, line->frame, name) || is_right(trace, line->call, name);
        verdict.n_named++;
        verdict.n_wrong += !is_good;
        print_message("  %s:", kinds[line->kind]);
        print_frame(trace, line->frame);
        print_frame(trace, line->call);
        print_message(" %llu bytes (%llu), %llu, %llu turns%s\n", (unsigned long long)line->bytes,
                      (unsigned long long)line->first_bytes, (unsigned long long)line->n,
                      (unsigned long long)line->n_turns, is_good ? "" : "  <-- wrong");
    }
    if (analysis->pieces.is_found && !analysis->pieces.n_pins) {
        verdict.n_named++;
        verdict.n_wrong++;
        print_message("  pieces: without a line  <-- wrong\n");
    }
    for (size_t i = 0; i < analysis->pieces.n_pins && analysis->pieces.is_found; i++) {
        const struct plim_trace_pin *pin = &analysis->pieces.pins[i];
        const bool is_good = is_right(trace, pin->frame, name) || is_right(trace, pin->call, name);
        verdict.n_named++;
        verdict.n_wrong += !is_good;
        print_message("  pieces:");
        print_frame(trace, pin->frame);
        print_frame(trace, pin->call);
        print_message(" %llu bytes, %llu free; %s%s\n", (unsigned long long)pin->held_bytes,
                      (unsigned long long)pin->free_bytes, analysis->pieces.settings, is_good ? "" : "  <-- wrong");
    }
    return verdict;
}

static struct verdict look(const char *path, const char *name, bool *ret_has_fault)
{
    struct habit_record record;
    struct plim_trace_analysis analysis;
    const struct plim_trace_question question = { 0 };
    struct plim_error error = { 0 };
    habit_record_read(path, &record);
    if (plim_trace_analyse(&record.trace, 0, &question, &analysis, &error) < 0)
        fail_msg("%s: %s", name, error.what);
    *ret_has_fault = strcmp(record.fault, "None") != 0;
    print_message("%s: %s; %llu turns", name, record.fault, (unsigned long long)analysis.growth.n_turns);
    print_frame(&record.trace, analysis.growth.has_loop ? analysis.growth.loop_frame : PLIM_TRACE_NO_STACK);
    print_message("%s; %llu of %llu in pieces\n", analysis.is_met ? "" : ", the replay differs",
                  (unsigned long long)analysis.pieces.then.pieces_bytes,
                  (unsigned long long)analysis.pieces.then.reserved_bytes);
    const struct verdict verdict = judge(&record.trace, &analysis, name);
    plim_trace_analysis_done(&analysis);
    habit_record_done(&record);
    return verdict;
}

static int is_wanted(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    const char *only = getenv("PLIM_TEST_HABITS"); /* names, with spaces around each */
    char name[80];
    if (!dot || strcmp(dot, ".habit") != 0)
        return 0;
    snprintf(name, sizeof name, " %.*s ", (int)(dot - entry->d_name), entry->d_name);
    return !only || strstr(only, name) != NULL;
}

static void test_programs(void **state)
{
    char folder[512], path[1024], name[64];
    size_t n_faulty = 0, n_named = 0, n_clean = 0, n_silent = 0, n_wrong = 0;
    struct dirent **names;
    (void)state;
    snprintf(folder, sizeof folder, "%s/data/habits", tests_folder());
    const int n = scandir(folder, &names, is_wanted, alphasort);
    for (int i = 0; i < n; i++) {
        bool has_fault;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(names[i]->d_name, "."), names[i]->d_name);
        const struct verdict verdict = look(path, name, &has_fault);
        n_faulty += has_fault;
        n_named += has_fault && verdict.n_named > verdict.n_wrong;
        n_clean += !has_fault;
        n_silent += !has_fault && !verdict.n_named;
        n_wrong += verdict.n_wrong;
        free(names[i]);
    }
    free(names);
    print_message("named %zu of %zu, silent %zu of %zu, %zu wrong lines\n", n_named, n_faulty, n_silent, n_clean,
                  n_wrong);
    assert_int_equal(n_named, n_faulty);
    assert_int_equal(n_silent, n_clean);
    assert_int_equal(n_wrong, 0);
    assert_true(getenv("PLIM_TEST_HABITS") || (n_faulty == 94 && n_clean == 89));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_programs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
