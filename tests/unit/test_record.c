/* SPDX-License-Identifier: MIT */
/* Recordings: the folder and its environment, what the hook of real programs wrote, and files that are cut or wrong. */
#include "base/mem.h"
#include "record/leftovers.h"
#include "record/record.h"
#include "step/file.h"
#include "unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct plim_record_folder data_folder(const char *name)
{
    struct plim_record_folder folder = { .environment = NULL };
    snprintf(folder.path, sizeof folder.path, "%s/data/record/%s", getenv("PLIM_TEST_LOGS"), name);
    return folder;
}

static uint64_t bytes_of(const struct plim_step_shape *shape, const struct plim_step_allocation *allocation)
{
    return (uint64_t)shape->terms[shape->sizes[allocation->size].first_term].coefficient;
}

/* Of a pillar, at most. */
static uint64_t most_of(const struct plim_step_shape *shape, enum plim_pillar pillar)
{
    const struct plim_step_track *track = shape->tracks;
    uint64_t now = 0, most = 0;
    for (size_t i = 0; i < track->n_events; i++) {
        const struct plim_step_event *event = &track->events[i];
        const struct plim_step_allocation *allocation = &track->allocations[event->id];
        if (event->kind > PLIM_STEP_GIVE || allocation->pillar != pillar)
            continue;
        now += event->kind == PLIM_STEP_TAKE ? bytes_of(shape, allocation) : -bytes_of(shape, allocation);
        most = now > most ? now : most;
    }
    return most;
}

/* train.py accumulate 2, of tests/engine/torch/record: what the program said of itself when it was recorded. */
static void test_real(void **state)
{
    static const struct {
        const char *name, *version;
        uint64_t allocated_bytes;
    } runs[] = { { "accumulate-2.15", "2.15.0", 9588224 }, { "accumulate-2.5", "2.5.1", 18959360 } };
    (void)state;
    for (size_t i = 0; i < COUNT(runs); i++) {
        const struct plim_record_folder folder = data_folder(runs[i].name);
        struct plim_step step;
        struct plim_recorded recorded;
        struct plim_error error = { 0 };
        unsigned char *bytes;
        size_t n_bytes;
        assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
        assert_true(recorded.is_met);
        assert_int_equal(recorded.n_steps, 2);
        assert_string_equal(recorded.notes, "");
        assert_string_equal(step.torch_version, runs[i].version);
        assert_string_equal(step.card_name, "NVIDIA GeForce RTX 4090");
        const struct plim_step_shape *shape = step.shapes;
        assert_int_equal(shape->n_tracks, 1);
        assert_int_equal(shape->tracks->recorded->allocated_bytes, runs[i].allocated_bytes);
        assert_int_equal(shape->tracks->recorded->reserved_bytes, 25165824);
        assert_int_equal(shape->tracks->end, PLIM_STEP_END_EXIT);
        assert_false(shape->tracks->starts_late);
        assert_int_equal(most_of(shape, PLIM_PILLAR_WEIGHTS), 136456);
        assert_int_equal(most_of(shape, PLIM_PILLAR_GRADIENTS), 134400);
        assert_int_equal(most_of(shape, PLIM_PILLAR_OPTIMIZER), 268800); /* what it works with is none of it */
        for (uint32_t id = 0; id < shape->tracks->n_allocations; id++)
            assert_int_not_equal(shape->tracks->allocations[id].pillar, PLIM_PILLAR_MAX_);
        assert_int_equal(plim_step_encode(&step, &bytes, &n_bytes, &error), 0);
        plim_free(bytes);
        plim_step_done(&step);
    }
}

/* The phases of one step: two batches, whose gradients are clipped and used. */
static void test_phases(void **state)
{
    static const enum plim_phase phases[] = { PLIM_PHASE_LOAD,    PLIM_PHASE_FORWARD,  PLIM_PHASE_BACKWARD,
                                              PLIM_PHASE_FORWARD, PLIM_PHASE_BACKWARD, PLIM_PHASE_STEP,
                                              PLIM_PHASE_FORWARD };
    const struct plim_record_folder folder = data_folder("accumulate-2.15");
    struct plim_step step;
    struct plim_recorded recorded;
    struct plim_error error = { 0 };
    (void)state;
    assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
    const struct plim_step_track *track = step.shapes->tracks;
    assert_true(track->n_marks > COUNT(phases));
    for (size_t i = 0; i < COUNT(phases); i++) {
        assert_int_equal(track->marks[i].phase, phases[i]);
        assert_int_equal(track->marks[i].step, i == COUNT(phases) - 1);
    }
    plim_step_done(&step);
}

/* --- the folder --- */

static void test_folder(void **state)
{
    char temporary[] = "/tmp/plim-test-XXXXXX", set[64], hook[PLIM_RECORD_PATH_BYTES + 64];
    char *environment[] = { set, "PYTHONPATH=/mine", "PLIM_RECORD=/theirs", "HOME=/", NULL };
    const struct plim_record_wish wish = { .n_steps = 3 };
    struct plim_record_folder folder;
    struct plim_error error = { 0 };
    struct stat status;
    (void)state;
    assert_non_null(mkdtemp(temporary));
    snprintf(set, sizeof set, "TMPDIR=%s", temporary);
    assert_int_equal(plim_record_folder_make(&wish, environment, &folder, &error), 0);
    assert_int_equal(strncmp(folder.path, temporary, strlen(temporary)), 0);
    snprintf(hook, sizeof hook, "PYTHONPATH=%s/hook:/mine", folder.path);
    size_t n = 0, n_found = 0;
    for (; folder.environment[n]; n++)
        n_found += !strcmp(folder.environment[n], hook) || !strcmp(folder.environment[n], "PLIM_RECORD_STEPS=3") ||
                   !strcmp(folder.environment[n], "HOME=/");
    assert_int_equal(n_found, 3);
    assert_int_equal(n, 2 + 3);
    snprintf(hook, sizeof hook, "%s/hook/sitecustomize.py", folder.path);
    assert_int_equal(stat(hook, &status), 0);
    plim_record_folder_remove(&folder);
    assert_int_equal(rmdir(temporary), 0); /* nothing is left in it */
}

/* --- what a Plimsoll that was killed left --- */

enum { DEAD, ALIVE, LINK, HELD, OPEN_TO_ALL, OTHER_NAME, NEW, N_LEFT };

static void in_folder(const char *folder, const char *name, char path[256])
{
    snprintf(path, 256, "%.180s/%.64s", folder, name);
}

static void make_old(const char *path)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) - 3600 }, { .tv_sec = time(NULL) - 3600 } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void test_leftovers(void **state)
{
    char temporary[] = "/tmp/plim-test-XXXXXX", names[N_LEFT][64], path[256], inner[256], kept[256], set[64];
    char *environment[] = { set, NULL };
    const struct plim_record_wish wish = { .n_steps = 0 };
    struct plim_record_folder folder;
    struct plim_error error = { 0 };
    struct stat status;
    (void)state;
    assert_non_null(mkdtemp(temporary));
    snprintf(set, sizeof set, "TMPDIR=%s", temporary);
    in_folder(temporary, "kept", kept);
    assert_int_equal(mkdir(kept, 0700), 0);
    const pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    for (int i = 0; i < N_LEFT; i++) {
        snprintf(names[i], sizeof names[i],
                 i == OTHER_NAME ? "plimsoll-record-%ld-abcdef-mine" : "plimsoll-record-%ld-abcde%d",
                 (long)(i == ALIVE ? getpid() : dead), i);
        in_folder(temporary, names[i], path);
        assert_int_equal(i == LINK ? symlink(kept, path) : mkdir(path, 0700), 0);
    }
    in_folder(temporary, names[OPEN_TO_ALL], path);
    assert_int_equal(chmod(path, 0755), 0);
    in_folder(temporary, names[HELD], path);
    const int lock = plim_record_hold(path);
    assert_true(lock >= 0);
    in_folder(temporary, names[DEAD], path);
    in_folder(path, "link", inner);
    assert_int_equal(symlink(kept, inner), 0);
    for (int i = 0; i < NEW; i++) {
        in_folder(temporary, names[i], path);
        make_old(path);
    }
    assert_int_equal(plim_record_folder_make(&wish, environment, &folder, &error), 0);
    assert_int_equal(plim_record_hold(folder.path), -1); /* it is held by now */
    plim_record_folder_remove(&folder);
    for (int i = 0; i < N_LEFT; i++) {
        in_folder(temporary, names[i], path);
        if ((lstat(path, &status) == 0) != (i != DEAD))
            fail_msg("%s is%s there", path, i == DEAD ? "" : " not");
    }
    assert_int_equal(stat(kept, &status), 0);
    close(lock);
    plim_record_leftovers_remove(temporary);
    in_folder(temporary, names[HELD], path);
    assert_int_not_equal(stat(path, &status), 0);
    assert_int_equal(chmod(temporary, 0777), 0); /* where others may rename, nothing is removed */
    assert_int_equal(mkdir(path, 0700), 0);
    make_old(path);
    plim_record_leftovers_remove(temporary);
    assert_int_equal(stat(path, &status), 0);
    plim_record_tree_remove(temporary);
    assert_int_not_equal(stat(temporary, &status), 0);
}

/* --- files that are wrong --- */

static char *read_marks(size_t *ret_n)
{
    static char text[1 << 14];
    const struct plim_record_folder folder = data_folder("accumulate-2.15");
    char path[PLIM_RECORD_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/1-1-exit.marks", folder.path);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    *ret_n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[*ret_n] = '\0';
    return text;
}

/* A folder with these marks, and the snapshot of the data. */
static void put(const char *folder, const char *name, const char *text, size_t n)
{
    char path[PLIM_RECORD_PATH_BYTES + 64], snapshot[PLIM_RECORD_PATH_BYTES + 64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, n, file), n);
    fclose(file);
    snprintf(snapshot, sizeof snapshot, "%s/1-1-exit.pickle.gz", data_folder("accumulate-2.15").path);
    snprintf(path, sizeof path, "%s/1-1-exit.pickle.gz", folder);
    if (access(path, F_OK) != 0)
        assert_int_equal(symlink(snapshot, path), 0);
}

static int read_with(const struct plim_record_folder *folder, const char *text, size_t n, struct plim_error *error)
{
    struct plim_step step;
    struct plim_recorded recorded;
    put(folder->path, "1-1-exit.marks", text, n);
    const int result = plim_record_step(folder, &step, &recorded, error);
    if (result == 0)
        plim_step_done(&step);
    return result;
}

static void test_wrong_marks(void **state)
{
    static const char *const endings[] = { "mark before 9\nat 0 1 1\nend\n",
                                           "mark sideways 0\nend\n",
                                           "at 0 -1 2\nend\n",
                                           "at 7 1 2\nend\n",
                                           "weights 1 x\nend\n",
                                           "device 99 1 1 1 1 1 name\nend\n",
                                           "card 7 1\nend\n",
                                           "card 0\nend\n",
                                           "fraction 1.5\nend\n",
                                           "fraction 0x\nend\n",
                                           "snapshot ../1-1-exit.pickle.gz\nend\n",
                                           "pieces 2 1 1 8 a.py\nend\n",
                                           "pieces 1 1 1 8 \nend\n",
                                           "pieces 1 1 x 8 a.py\nend\n",
                                           "nonsense\nend\n",
                                           "number 99999999999999999999999\nend\n" };
    struct plim_record_folder folder = { .path = "/tmp/plim-test-XXXXXX" };
    struct plim_error error = { 0 };
    size_t n;
    const char *text = read_marks(&n);
    (void)state;
    assert_non_null(mkdtemp(folder.path));
    assert_int_equal(read_with(&folder, text, n, &error), 0);
    for (size_t cut = 0; cut + 1 < n; cut += 7)
        assert_int_equal(read_with(&folder, text, cut, &error), PLIM_E_CORRUPT);
    for (size_t i = 0; i < COUNT(endings); i++) {
        char changed[1 << 14];
        const int length = snprintf(changed, sizeof changed, "%.*s%s", (int)(n - strlen("end\n")), text, endings[i]);
        assert_int_equal(read_with(&folder, changed, (size_t)length, &error), PLIM_E_CORRUPT);
    }
    plim_record_folder_remove(&folder);
}

/* Lines that stand in loops over pieces, or call what allocates there. */
static void test_pieces(void **state)
{
    struct plim_record_folder folder = { .path = "/tmp/plim-test-XXXXXX" };
    struct plim_step step;
    struct plim_recorded recorded;
    struct plim_error error = { 0 };
    char changed[1 << 14], loop[512];
    size_t n, n_in = 0;
    const char *text = read_marks(&n);
    (void)state;
    assert_non_null(mkdtemp(folder.path));
    put(folder.path, "1-1-exit.marks", text, n);
    assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
    const struct plim_step_site first = step.sites[0];
    assert_int_equal(first.loop, 0);
    const int length =
        snprintf(changed, sizeof changed, "%.*spieces %u %u 7 4096 %s\npieces 1 99999 8 64 /other.py\nend\n",
                 (int)(n - strlen("end\n")), text, first.line, first.line, plim_step_text(&step, first.file));
    snprintf(loop, sizeof loop, "%s:7", plim_step_text(&step, first.file));
    plim_step_done(&step);
    put(folder.path, "1-1-exit.marks", changed, (size_t)length);
    assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
    assert_string_equal(plim_step_text(&step, step.sites[0].loop), loop);
    assert_int_equal(step.sites[0].piece, 4096);
    for (size_t i = 0; i < step.n_sites; i++)
        n_in += step.sites[i].loop != 0;
    assert_true(n_in > 0 && n_in < step.n_sites);
    plim_step_done(&step);
    plim_record_folder_remove(&folder);
}

/* The number that the machine gives a device counts; peaks that PyTorch had and the history has not stay. */
static void test_card(void **state)
{
    struct plim_record_folder folder = { .path = "/tmp/plim-test-XXXXXX" };
    struct plim_step step;
    struct plim_recorded recorded;
    struct plim_error error = { 0 };
    char changed[1 << 14];
    size_t n;
    const char *text = read_marks(&n), *end = strstr(text, "mark end");
    (void)state;
    assert_non_null(mkdtemp(folder.path));
    assert_non_null(end);
    const int length = snprintf(changed, sizeof changed,
                                "kind exit\nnumber 1\nsnapshot 1-1-exit.pickle.gz\nwhole 0\npeak 0\n"
                                "device 0 406528 999588224 25165824 1025165824 25254363136 card\ncard 0 5\nfraction "
                                "0.25\nconf max_split_size_mb:99\n%s",
                                end);
    put(folder.path, "1-1-exit.marks", changed, (size_t)length);
    assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
    assert_int_equal(step.shapes->tracks->device, 5);
    /* the history has the settings that counted, whatever the environment said; the fraction is PyTorch's answer */
    assert_string_equal(step.alloc_conf, "per_process_memory_fraction:0.25");
    assert_int_equal(step.shapes->tracks->end, PLIM_STEP_END_EXIT);
    plim_record_cut(&step);
    assert_int_equal(step.shapes->tracks->end, PLIM_STEP_END_UNKNOWN);
    assert_int_equal(step.shapes->tracks->recorded->allocated_bytes, 999588224);
    assert_int_equal(step.shapes->tracks->recorded->reserved_bytes, 1025165824);
    plim_step_done(&step);
    plim_record_folder_remove(&folder);
}

/* Of two dumps of a process the later one counts, unless the peak is only in the other. */
static void test_choice(void **state)
{
    static const struct {
        const char *whole, *peak;
        uint32_t n_steps;
    } cases[] = { { "whole 1", "peak 0", 0 }, { "whole 0", "peak 0", 2 }, { "whole 0", "peak 1", 0 } };
    size_t n;
    const char *text = read_marks(&n), *marks = strstr(text, "mark before"), *end = strstr(text, "mark end");
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plim_record_folder folder = { .path = "/tmp/plim-test-XXXXXX" };
        struct plim_step step;
        struct plim_recorded recorded;
        struct plim_error error = { 0 };
        char later[1 << 14];
        assert_non_null(mkdtemp(folder.path));
        put(folder.path, "1-1-exit.marks", text, n);
        const int length = snprintf(later, sizeof later,
                                    "kind peak\nnumber 2\nsnapshot 1-1-exit.pickle.gz\n%s\n%s\n"
                                    "device 0 406528 9588224 25165824 25165824 25254363136 card\n%s",
                                    cases[i].whole, cases[i].peak, end);
        assert_non_null(marks);
        put(folder.path, "1-1-peak.marks", later, (size_t)length);
        assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), 0);
        assert_int_equal(recorded.n_processes, 1);
        assert_int_equal(recorded.n_steps, cases[i].n_steps);
        plim_step_done(&step);
        plim_record_folder_remove(&folder);
    }
}

/* --- nothing --- */

static void test_nothing(void **state)
{
    static const struct {
        const char *stages, *says;
    } cases[] = {
        { NULL, "started no Python" },
        { "1 python\n", "did not import torch" },
        { "1 python\n2 torch 2.15.0 cuda None\n1 torch 2.15.0 cuda None\n", "built without CUDA" },
        { "1 torch 2.15.0 cuda 13.0\n2 python\n", "did not use CUDA" },
        { "1 cuda\n2 torch 2.15.0 cuda 13.0\n", "before it could write" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct plim_record_folder folder = { .path = "/tmp/plim-test-XXXXXX" };
        struct plim_step step;
        struct plim_recorded recorded;
        struct plim_error error = { 0 };
        assert_non_null(mkdtemp(folder.path));
        if (cases[i].stages)
            put(folder.path, "stages", cases[i].stages, strlen(cases[i].stages));
        put(folder.path, "notes", "1 a reason\n2 a reason\n", strlen("1 a reason\n2 a reason\n"));
        assert_int_equal(plim_record_step(&folder, &step, &recorded, &error), PLIM_E_NOT_FOUND);
        assert_non_null(strstr(error.what, cases[i].says));
        assert_string_equal(error.hint, "a reason");
        plim_record_folder_remove(&folder);
    }
}

static void test_out_of_memory(void **state)
{
    const struct plim_record_folder folder = data_folder("accumulate-2.5");
    struct plim_step step;
    struct plim_recorded recorded;
    int result = PLIM_E_NOMEM;
    (void)state;
    for (long n = 0; result != 0; n++) {
        struct plim_error error = { 0 };
        plim_alloc_fail_after(n);
        result = plim_record_step(&folder, &step, &recorded, &error);
        plim_alloc_fail_after(-1);
        assert_true(result == 0 || result == PLIM_E_NOMEM);
    }
    plim_step_done(&step);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_real),        cmocka_unit_test(test_phases),  cmocka_unit_test(test_folder),
        cmocka_unit_test(test_wrong_marks), cmocka_unit_test(test_pieces),  cmocka_unit_test(test_card),
        cmocka_unit_test(test_choice),      cmocka_unit_test(test_nothing), cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_leftovers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
