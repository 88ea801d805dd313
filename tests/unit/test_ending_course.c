/* SPDX-License-Identifier: MIT */
/* Ending processes that are real, with samples that are not: who is signalled, who is let go, what has come back. */
#include "unit.h"

#include "watch/ending/ending.h"
#include "watch/ending/handle.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX = 6, GRACE_MS = 300, PIDFD_OPEN = 434, NO_FILTER = 77 };

static const int64_t gib = 1 << 30;

/* Children of the test, on one card. This test itself counts as another process, so that none is its ancestor. */
struct world {
    struct plim_sample sample;
    struct plim_sample_card card;
    struct plim_sample_process process[MAX];
    struct plim_holding holding[MAX];
    struct plim_watch_row row[MAX];
    struct plim_kinship kinship;
    struct plim_scene scene;
    struct plim_wish wish;
    int64_t named[MAX];
};

enum habit { HEEDS, IGNORES, STOPPED };

/* It says through a pipe that it is ready, so that no signal comes too early. */
static pid_t start(enum habit habit)
{
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGTERM, habit == IGNORES ? SIG_IGN : SIG_DFL);
        if (write(ready[1], "r", 1) != 1)
            _exit(1);
        if (habit == STOPPED)
            raise(SIGSTOP);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    if (habit == STOPPED)
        assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    return pid;
}

static int end_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

static bool is_alive(pid_t pid) { return waitpid(pid, NULL, WNOHANG) == 0; }

static void stop(pid_t pid)
{
    kill(pid, SIGKILL);
    end_of(pid);
}

static void read_kinship(struct world *w)
{
    struct plim_error err = { 0 };
    plim_kinship_done(&w->kinship);
    assert_int_equal(plim_kinship_read(NULL, &w->kinship, &err), 0);
}

static void make_world(struct world *w, const pid_t *pids, uint32_t n)
{
    memset(w, 0, sizeof *w);
    read_kinship(w);
    snprintf(w->card.id, sizeof w->card.id, "gpu0");
    w->card.card.total_bytes = (uint64_t)(24 * gib);
    w->card.used_bytes = (int64_t)n * gib + gib;
    w->card.free_bytes = 24 * gib - w->card.used_bytes;
    w->sample = (struct plim_sample){
        .n_cards = 1, .card = &w->card, .n_processes = n, .process = w->process, .n_holdings = n, .holding = w->holding
    };
    for (uint32_t i = 0; i < n; i++) {
        struct plim_kin kin;
        assert_true(plim_kin_read(NULL, pids[i], &kin));
        w->process[i] = (struct plim_sample_process){ .pid = pids[i],
                                                      .start_ticks = kin.start_ticks,
                                                      .state = 'S',
                                                      .uid = kin.uid,
                                                      .parent = kin.parent,
                                                      .command = "victim",
                                                      .program = "victim",
                                                      .slurm_job = "" };
        w->holding[i] =
            (struct plim_holding){ .process = i, .bytes = gib, .contexts = PLIM_CONTEXT_COMPUTE, .peak_bytes = -1 };
        w->row[i] = (struct plim_watch_row){ .stale = PLIM_STALE_YES, .role = PLIM_ROLE_SCRIPT };
        w->named[i] = pids[i];
    }
    w->scene = (struct plim_scene){ .sample = &w->sample,
                                    .rows = w->row,
                                    .kinship = &w->kinship,
                                    .asker = { .pid = getpid(), .uid = geteuid(), .slurm_job = "" } };
    w->wish = (struct plim_wish){ .pid = w->named, .n_pids = n, .is_stale = true };
}

/* What the driver lists when these have ended: all but the first n. */
static void drop(struct world *w, uint32_t n)
{
    w->sample.n_holdings -= n;
    memmove(w->holding, w->holding + n, w->sample.n_holdings * sizeof *w->holding);
    w->card.used_bytes -= (int64_t)n * gib;
    w->card.free_bytes += (int64_t)n * gib;
}

static struct plim_choice *choose(struct world *w)
{
    struct plim_choice *choice = NULL;
    struct plim_error err = { 0 };
    read_kinship(w);
    assert_int_equal(plim_choice_make(&w->scene, &w->wish, &choice, &err), 0);
    return choice;
}

static struct plim_ending *open_chosen(struct world *w)
{
    struct plim_error err = { 0 };
    struct plim_choice *choice = choose(w);
    struct plim_ending *ending = NULL;
    if (plim_ending_open(choice, &w->scene.asker, GRACE_MS, &ending, &err) != 0)
        fail_msg("%s", err.what);
    plim_choice_free(choice);
    return ending;
}

static uint32_t confirm(struct world *w, struct plim_ending *ending)
{
    struct plim_error err = { 0 };
    struct plim_choice *choice = choose(w);
    uint32_t n = 99;
    assert_int_equal(plim_ending_confirm(ending, choice, &w->sample, &n, &err), 0);
    plim_choice_free(choice);
    return n;
}

static void finish(struct plim_ending *ending)
{
    while (!plim_ending_advance(ending, 20))
        continue;
}

static void done(struct world *w, struct plim_ending *ending)
{
    plim_ending_close(ending);
    plim_kinship_done(&w->kinship);
}

/* --- the course --- */

static void test_three_habits(void **state)
{
    static struct world w;
    const pid_t pids[3] = { start(HEEDS), start(IGNORES), start(STOPPED) };
    static const enum plim_ending_end ends[3] = { PLIM_END_TERM, PLIM_END_KILL, PLIM_END_TERM };
    (void)state;
    make_world(&w, pids, 3);
    struct plim_ending *ending = open_chosen(&w);
    assert_int_equal(plim_ending_count(ending), 3);
    assert_true(plim_ending_advance(ending, 0)); /* nothing is signalled before it is confirmed */
    for (int i = 0; i < 3; i++)
        assert_true(is_alive(pids[i]));
    assert_int_equal(confirm(&w, ending), 3);
    finish(ending);
    for (uint32_t i = 0; i < 3; i++) {
        const struct plim_ended *e = plim_ending_at(ending, i);
        for (int k = 0; k < 3; k++)
            if (e->candidate.kin.pid == pids[k])
                assert_int_equal(e->end, ends[k]);
        assert_true(e->took_ms >= 0);
    }
    assert_int_equal(end_of(pids[0]), SIGTERM);
    assert_int_equal(end_of(pids[1]), SIGKILL);
    assert_int_equal(end_of(pids[2]), SIGTERM);
    assert_false(plim_ending_verify(ending, &w.sample)); /* the driver lists them still */
    drop(&w, 3);
    assert_true(plim_ending_verify(ending, &w.sample));
    const struct plim_returned *r = plim_ending_card(ending, 0);
    assert_int_equal(r->expected_bytes, 3 * gib);
    assert_int_equal(r->returned_bytes, 3 * gib);
    done(&w, ending);
}

static void test_ended_before(void **state)
{
    static struct world w;
    const pid_t pids[2] = { start(HEEDS), start(HEEDS) };
    (void)state;
    make_world(&w, pids, 2);
    struct plim_choice *choice = choose(&w);
    stop(pids[0]); /* after the list, before the handle */
    struct plim_error err = { 0 };
    struct plim_ending *ending = NULL;
    assert_int_equal(plim_ending_open(choice, &w.scene.asker, GRACE_MS, &ending, &err), 0);
    plim_choice_free(choice);
    stop(pids[1]); /* after the handle, before it is confirmed */
    assert_int_equal(confirm(&w, ending), 0);
    finish(ending);
    assert_int_equal(plim_ending_at(ending, 0)->end, PLIM_END_BEFORE);
    assert_int_equal(plim_ending_at(ending, 1)->end, PLIM_END_BEFORE);
    done(&w, ending);
}

/* The number has a new owner: the same pid, another start. */
static void test_reused_number(void **state)
{
    static struct world w;
    const pid_t pids[1] = { start(HEEDS) };
    struct plim_error err = { 0 };
    struct plim_ending *ending = NULL;
    (void)state;
    make_world(&w, pids, 1);
    struct plim_choice *choice = choose(&w);
    choice->candidate[0].kin.start_ticks--;
    assert_int_equal(plim_ending_open(choice, &w.scene.asker, GRACE_MS, &ending, &err), 0);
    plim_choice_free(choice);
    assert_int_equal(plim_ending_at(ending, 0)->end, PLIM_END_CHANGED);
    assert_int_equal(confirm(&w, ending), 0);
    finish(ending);
    assert_true(is_alive(pids[0]));
    stop(pids[0]);
    done(&w, ending);
}

/* Between the list and the signal it begins to compute, gives its memory back, changes hands, or the driver fails. */
static void test_changed_mind(void **state)
{
    static struct world w;
    (void)state;
    for (int i = 0; i < 6; i++) {
        const pid_t pids[1] = { start(HEEDS) };
        make_world(&w, pids, 1);
        struct plim_ending *ending = open_chosen(&w);
        if (i == 0)
            w.row[0].stale = PLIM_STALE_NO;
        else if (i == 1)
            w.sample.n_holdings = 0;
        else if (i == 2)
            w.sample.n_holdings = w.sample.n_processes = 0;
        else if (i == 3)
            w.process[0].start_ticks++;
        else if (i == 4)
            w.holding[0].bytes = 0;
        else
            w.sample.n_holdings = w.sample.n_processes = w.sample.n_cards = 0;
        assert_int_equal(confirm(&w, ending), 0);
        finish(ending);
        assert_int_equal(plim_ending_at(ending, 0)->end, PLIM_END_CHANGED);
        assert_true(plim_ending_at(ending, 0)->why[0]);
        assert_true(is_alive(pids[0]));
        stop(pids[0]);
        done(&w, ending);
    }
}

static void test_another_machine(void **state)
{
    static struct world w;
    const pid_t pids[1] = { start(HEEDS) };
    struct plim_error err = { 0 };
    struct plim_ending *ending = NULL;
    (void)state;
    make_world(&w, pids, 1);
    w.scene.asker.is_elsewhere = true;
    struct plim_choice *choice = choose(&w);
    assert_int_equal(choice->n_chosen, 1);
    assert_int_equal(plim_ending_open(choice, &w.scene.asker, GRACE_MS, &ending, &err), PLIM_E_UNSUPPORTED);
    assert_true(is_alive(pids[0]));
    plim_choice_free(choice);
    stop(pids[0]);
    done(&w, NULL);
}

static void test_one_signal(void **state)
{
    static struct world w;
    const pid_t pids[1] = { start(HEEDS) };
    struct plim_error err = { 0 };
    (void)state;
    make_world(&w, pids, 1);
    struct plim_choice *choice = choose(&w);
    struct plim_ending_candidate c = choice->candidate[0];
    c.kin.start_ticks--;
    assert_int_equal(plim_ending_send(&c, &w.scene.asker, SIGTERM, &err), PLIM_E_NOT_FOUND);
    c = choice->candidate[0];
    c.keep = PLIM_KEEP_NOT_STALE;
    assert_int_equal(plim_ending_send(&c, &w.scene.asker, SIGTERM, &err), PLIM_E_DENIED);
    assert_true(is_alive(pids[0]));
    assert_int_equal(plim_ending_send(&choice->candidate[0], &w.scene.asker, SIGINT, &err), 0);
    assert_int_equal(end_of(pids[0]), SIGINT);
    assert_int_equal(plim_ending_send(&choice->candidate[0], &w.scene.asker, SIGINT, &err), PLIM_E_NOT_FOUND);
    plim_choice_free(choice);
    done(&w, NULL);
}

/* From here on the kernel is one before 5.3, or a container's filter says no. */
static void forbid_pidfd(unsigned error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PIDFD_OPEN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = COUNT(filter), .filter = filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(NO_FILTER);
}

static void test_without_pidfd(void **state)
{
    static const unsigned errors[] = { ENOSYS, EPERM };
    static struct world w;
    const pid_t pids[1] = { start(HEEDS) };
    bool is_skipped = false;
    (void)state;
    make_world(&w, pids, 1);
    for (size_t i = 0; i < COUNT(errors) && !is_skipped; i++) {
        struct plim_choice *choice = choose(&w);
        int status = 0;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct plim_ending *ending = NULL;
            struct plim_error err = { 0 };
            forbid_pidfd(errors[i]);
            _exit(plim_ending_open(choice, &w.scene.asker, GRACE_MS, &ending, &err) != PLIM_E_UNSUPPORTED ||
                  plim_ending_send(&choice->candidate[0], &w.scene.asker, SIGTERM, &err) != PLIM_E_UNSUPPORTED);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        is_skipped = WEXITSTATUS(status) == NO_FILTER;
        assert_true(is_skipped || WEXITSTATUS(status) == 0);
        plim_choice_free(choice);
        assert_true(is_alive(pids[0]));
    }
    stop(pids[0]);
    done(&w, NULL);
    if (is_skipped)
        skip();
}

/* --- what came back --- */

static void test_back_or_not(void **state)
{
    static struct world w;
    const pid_t pids[2] = { start(HEEDS), start(HEEDS) };
    (void)state;
    make_world(&w, pids, 2);
    w.wish.n_pids = 1; /* the other stays */
    struct plim_ending *ending = open_chosen(&w);
    assert_int_equal(confirm(&w, ending), 1);
    finish(ending);
    end_of(pids[0]);
    const struct plim_returned *r = plim_ending_card(ending, 0);
    w.process[0].is_gone = true; /* the driver counts for a process that has ended */
    assert_false(plim_ending_verify(ending, &w.sample));
    assert_non_null(strstr(r->why, "which has ended"));
    w.card.used_bytes -= gib; /* and lists it, though it counts no more */
    assert_false(plim_ending_verify(ending, &w.sample));
    w.card.used_bytes += gib;
    drop(&w, 1);
    assert_true(plim_ending_verify(ending, &w.sample));
    assert_int_equal(r->returned_bytes, gib);
    w.card.used_bytes += gib; /* it lists nobody, and goes on counting */
    assert_false(plim_ending_verify(ending, &w.sample));
    assert_int_equal(r->returned_bytes, 0);
    assert_non_null(strstr(r->why, "lists no process"));
    w.holding[0].bytes += gib; /* the other took what came back */
    assert_true(plim_ending_verify(ending, &w.sample));
    w.holding[0].bytes = -1; /* no figures: that it is not listed has to do */
    assert_true(plim_ending_verify(ending, &w.sample));
    assert_int_equal(r->returned_bytes, -1);
    w.sample.n_cards = 0; /* the driver fails */
    assert_false(plim_ending_verify(ending, &w.sample));
    stop(pids[1]);
    done(&w, ending);
}

/* --- handles --- */

static void test_handles(void **state)
{
    const pid_t pid = start(HEEDS);
    struct plim_kin kin, other;
    int file = -1;
    (void)state;
    assert_true(plim_kin_read(NULL, pid, &kin));
    assert_int_equal(kin.parent, getpid());
    assert_int_equal(kin.uid, getuid());
    assert_true(kin.start_ticks > 0);
    assert_false(kin.is_kernel);
    other = kin;
    other.uid++;
    assert_int_equal(plim_handle_open(&other, &file), PLIM_HANDLE_OTHER);
    assert_int_equal(plim_handle_open(&kin, &file), PLIM_HANDLE_OPEN);
    assert_false(plim_handle_has_ended(file));
    stop(pid);
    assert_true(plim_handle_has_ended(file));
    assert_int_equal(plim_handle_signal(file, SIGTERM), ESRCH);
    close(file);
    assert_int_equal(plim_handle_open(&kin, &file), PLIM_HANDLE_ENDED);
    assert_false(plim_kin_read(NULL, pid, &kin));
}

/* The list has this test and its parents, and they are found as ancestors. */
static void test_kinship(void **state)
{
    struct plim_kinship kinship;
    struct plim_error err = { 0 };
    (void)state;
    assert_int_equal(plim_kinship_read(NULL, &kinship, &err), 0);
    assert_true(plim_kinship_descends(&kinship, getpid(), getppid()));
    assert_false(plim_kinship_descends(&kinship, getppid(), getpid()));
    assert_int_equal(plim_kinship_find(&kinship, getpid())->n_threads, 1);
    plim_kinship_done(&kinship);
    assert_true(plim_kinship_read("/nowhere", &kinship, &err) < 0);
}

static void write_file(const char *folder, const char *name, const char *text, size_t n_groups, const char *rest)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    for (size_t i = 0; i < n_groups; i++)
        fprintf(out, "%zu ", 1000000000 + i);
    fputs(rest, out);
    fclose(out);
}

/* "NSpid" comes after the groups, of which a user may have thousands. When it is not reached nobody knows: nested. */
static void test_many_groups(void **state)
{
    static const struct {
        size_t n_groups;
        const char *rest;
        bool is_nested;
    } rows[] = { { 0, "\n", false }, /* an old kernel */
                 { 3000, "\nNSpid:\t77\n", false },
                 { 3000, "\nNSpid:\t77\t7\n", true },
                 { 60000, "\nNSpid:\t77\n", true } };
    char root[] = "plimsoll-kin-XXXXXX", folder[64], command[96];
    (void)state;
    assert_non_null(mkdtemp(root));
    snprintf(folder, sizeof folder, "%s/proc/77", root);
    snprintf(command, sizeof command, "mkdir -p %s", folder);
    assert_int_equal(system(command), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct plim_kin kin;
        write_file(folder, "stat", "77 (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0\n", 0, "");
        write_file(folder, "status", "Name:\ta\nUid:\t5\t5\t5\t5\nGroups:\t", rows[i].n_groups, rows[i].rest);
        assert_true(plim_kin_read(root, 77, &kin));
        assert_int_equal(kin.uid, 5);
        if (kin.is_nested != rows[i].is_nested)
            fail_msg("row %zu", i);
    }
    snprintf(command, sizeof command, "rm -rf %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_three_habits),    cmocka_unit_test(test_ended_before),
        cmocka_unit_test(test_reused_number),   cmocka_unit_test(test_changed_mind),
        cmocka_unit_test(test_another_machine), cmocka_unit_test(test_back_or_not),
        cmocka_unit_test(test_handles),         cmocka_unit_test(test_kinship),
        cmocka_unit_test(test_one_signal),      cmocka_unit_test(test_without_pidfd),
        cmocka_unit_test(test_many_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
