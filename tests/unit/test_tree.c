/* SPDX-License-Identifier: MIT */
/* Which processes belong to a rehearsal, and whom a signal reaches. */
#include "unit.h"

#include "rehearse/processes/nested.h"
#include "rehearse/processes/signal.h"
#include "rehearse/processes/tree.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- members --- */

enum { SELF = 50, PROGRAM = 60 };

/* The machine: pid 1, a shell, us (50), our program (60), and what a case adds. */
static struct plim_tree tree;

static void begin(bool is_alone)
{
    tree = (struct plim_tree){ .self = SELF, .is_alone = is_alone, .n = 1 };
    tree.member[0] = (struct plim_process){ .pid = PROGRAM, .parent = SELF, .start_ticks = 1000 };
}

static void update(const struct plim_process *more, size_t n)
{
    struct plim_process list[16] = { { .pid = 1, .parent = 0, .start_ticks = 1 },
                                     { .pid = 40, .parent = 1, .start_ticks = 900 },
                                     { .pid = SELF, .parent = 40, .start_ticks = 1000 }, /* in the same tick */
                                     { .pid = PROGRAM, .parent = SELF, .start_ticks = 1000 } };
    size_t n_list = 4;
    for (size_t i = 0; i < n; i++) {
        size_t at = n_list++;
        for (; at > 0 && list[at - 1].pid > more[i].pid; at--)
            list[at] = list[at - 1];
        list[at] = more[i];
    }
    plim_tree_update(&tree, list, n_list);
}

static bool has(int pid)
{
    for (size_t i = 0; i < tree.n; i++)
        if (tree.member[i].pid == pid)
            return true;
    return false;
}

#define UPDATE(...)                                                                                                    \
    update((struct plim_process[]){ __VA_ARGS__ },                                                                     \
           sizeof(struct plim_process[]){ __VA_ARGS__ } / sizeof(struct plim_process))

static void test_descendants(void **state)
{
    (void)state;
    begin(true);
    UPDATE({ .pid = 70, .parent = PROGRAM, .start_ticks = 1001 }, { .pid = 65, .parent = 70, .start_ticks = 1002 },
           { .pid = 80, .parent = 40, .start_ticks = 1002 }, { .pid = 81, .parent = 1, .start_ticks = 1002 });
    assert_int_equal(tree.n, 3);
    assert_int_equal(tree.member[0].pid, PROGRAM);
    assert_true(has(70) && has(65));
    UPDATE({ .pid = 80, .parent = 40, .start_ticks = 1002 });
    assert_int_equal(tree.n, 1);
}

static void test_zombies_do_not_live(void **state)
{
    (void)state;
    begin(true);
    UPDATE({ .pid = 70, .parent = PROGRAM, .start_ticks = 1001, .is_ended = true });
    assert_int_equal(tree.n, 1);
}

/* Never pid 1, never ourselves, never those above us. */
static void test_ancestors(void **state)
{
    (void)state;
    begin(true);
    update(NULL, 0);
    assert_int_equal(tree.n, 1);
    begin(true);
    tree.self = 1; /* of a container */
    struct plim_process list[] = { { .pid = 1, .parent = 0, .start_ticks = 1000 },
                                   { .pid = PROGRAM, .parent = 1, .start_ticks = 1000 } };
    plim_tree_update(&tree, list, 2);
    assert_int_equal(tree.n, 1);
}

/* Whatever a list says. */
static void test_an_absurd_list(void **state)
{
    (void)state;
    const struct plim_process list[] = { { .pid = 1, .parent = SELF, .start_ticks = 1001 },
                                         { .pid = SELF, .parent = PROGRAM, .start_ticks = 1001 },
                                         { .pid = PROGRAM, .parent = SELF, .start_ticks = 1000 },
                                         { .pid = 70, .parent = 1, .start_ticks = 1001 } };
    begin(true);
    plim_tree_update(&tree, list, 4);
    assert_int_equal(tree.n, 1);
}

static void test_orphans(void **state)
{
    (void)state;
    const struct plim_process orphan = { .pid = 70, .parent = SELF, .start_ticks = 1001 };
    const struct plim_process below = { .pid = 71, .parent = 70, .start_ticks = 1001 };
    const struct plim_process older = { .pid = 55, .parent = SELF, .start_ticks = 999 };
    const struct plim_process below_older = { .pid = 72, .parent = 55, .start_ticks = 1005 };
    begin(true);
    UPDATE(orphan, below, older, below_older);
    assert_int_equal(tree.n, 3);
    assert_true(has(70) && has(71));
    begin(false); /* it may be an orphan of somebody else */
    UPDATE(orphan, below, older, below_older);
    assert_int_equal(tree.n, 1);
    UPDATE({ .pid = 70, .parent = PROGRAM, .start_ticks = 1001 });
    assert_true(has(70));
    UPDATE(orphan, below, older, below_older); /* it was seen below the program */
    assert_int_equal(tree.n, 3);
    assert_true(has(70) && has(71));
}

static void test_a_reused_number_is_another_process(void **state)
{
    (void)state;
    begin(true);
    UPDATE({ .pid = 70, .parent = PROGRAM, .start_ticks = 1001 });
    assert_true(has(70));
    UPDATE({ .pid = 70, .parent = 40, .start_ticks = 1003 });
    assert_int_equal(tree.n, 1);
    /* While the list was read, the number of a bystander's parent was given to a member. */
    begin(true);
    UPDATE({ .pid = 70, .parent = PROGRAM, .start_ticks = 1009 }, { .pid = 71, .parent = 70, .start_ticks = 1004 });
    assert_true(has(70) && !has(71));
    /* The list may even contain a circle. */
    UPDATE({ .pid = 70, .parent = 71, .start_ticks = 1009 }, { .pid = 71, .parent = 70, .start_ticks = 1009 });
    assert_true(has(70) && has(71)); /* 70 was known */
    begin(true);
    UPDATE({ .pid = 70, .parent = 71, .start_ticks = 1009 }, { .pid = 71, .parent = 70, .start_ticks = 1009 });
    assert_int_equal(tree.n, 1);
}

static void test_a_full_tree(void **state)
{
    (void)state;
    static struct plim_process list[3 * PLIM_TREE_MAX];
    begin(true);
    for (int i = 0; i < 3 * PLIM_TREE_MAX; i++)
        list[i] = (struct plim_process){ .pid = PROGRAM + i, .parent = i ? PROGRAM : SELF, .start_ticks = 1000 };
    plim_tree_update(&tree, list, 3 * PLIM_TREE_MAX);
    assert_int_equal(tree.n, PLIM_TREE_MAX);
    assert_int_equal(tree.member[0].pid, PROGRAM);
}

/* --- signals --- */

static struct plim_process sleeper(void)
{
    struct plim_process process;
    const int pid = fork();
    if (pid == 0)
        for (;;)
            pause();
    assert_true(plim_process_read(pid, &process));
    assert_int_equal(process.pid, pid);
    assert_int_equal(process.parent, getpid());
    return process;
}

static int ended_by(int pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void test_who_is_signalled(void **state)
{
    (void)state;
    struct plim_process process = sleeper(), self, other = process;
    other.start_ticks++;
    assert_false(plim_signal_send(&other, SIGKILL));
    assert_true(plim_process_read(getpid(), &self));
    assert_false(plim_signal_send(&self, SIGKILL));
    assert_false(plim_signal_send(&(struct plim_process){ .pid = 1 }, 0));
    assert_false(plim_signal_send(&(struct plim_process){ .pid = 0 }, 0));
    assert_false(plim_signal_send(&(struct plim_process){ .pid = -process.pid }, 0));
    assert_true(plim_process_read(1, &other));
    assert_false(plim_signal_send(&other, 0));
    assert_int_equal(waitpid(process.pid, NULL, WNOHANG), 0);
    assert_true(plim_signal_send(&process, SIGUSR1));
    assert_int_equal(ended_by(process.pid), SIGUSR1);
    assert_false(plim_signal_send(&process, 0));
}

/* From now on the kernel does not know pidfd_send_signal(2). */
static bool forget_pidfd(void)
{
    struct sock_filter code[] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 424, 0, 1),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
                                  BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
    const struct sock_fprog program = { sizeof code / sizeof *code, code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0 &&
           prctl(PR_SET_SECCOMP, (unsigned long)SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_an_old_kernel(void **state)
{
    (void)state;
    enum { RIGHT = 0, WRONG = 1, NOT_ALLOWED = 77 };
    struct plim_process process = sleeper(), other = process;
    int status;
    other.start_ticks++;
    const int pid = fork();
    if (pid == 0) {
        if (!forget_pidfd() || syscall(424, -1, 0, NULL, 0) == 0 || errno != ENOSYS)
            _exit(NOT_ALLOWED);
        _exit(!plim_signal_send(&other, SIGKILL) && plim_signal_send(&process, SIGUSR1) ? RIGHT : WRONG);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NOT_ALLOWED) {
        kill(process.pid, SIGUSR1);
        ended_by(process.pid);
        print_message("skipped: no filter for system calls is allowed here\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(status), RIGHT);
    assert_int_equal(ended_by(process.pid), SIGUSR1);
}

/* --- a whole tree --- */

static int child_subreaper(void)
{
    int is_set = -1;
    prctl(PR_GET_CHILD_SUBREAPER, &is_set);
    return is_set;
}

/* The program leaves an orphan in a session of its own, another that has ended, and waits. */
static int program_with_orphans(int report_fd)
{
    const int pid = fork();
    if (pid)
        return pid;
    if (fork() == 0) {
        setsid();
        const int orphan = fork();
        if (orphan == 0) {
            signal(SIGTERM, SIG_DFL);
            raise(SIGSTOP); /* a stopped one ends as well */
            _exit(0);
        }
        const int ended = fork();
        if (ended == 0)
            _exit(0);
        const int pids[] = { orphan, ended };
        _exit(write(report_fd, pids, sizeof pids) != sizeof pids);
    }
    for (;;)
        pause();
}

static void test_orphans_are_found_ended_and_waited_for(void **state)
{
    (void)state;
    struct plim_process process;
    int ends[2], pids[2];
    assert_int_equal(pipe(ends), 0);
    plim_tree_prepare(&tree);
    assert_true(tree.is_alone);
    assert_int_equal(child_subreaper(), 1);
    const int program = program_with_orphans(ends[1]);
    plim_tree_begin(&tree, program);
    assert_int_equal(read(ends[0], pids, sizeof pids), sizeof pids);
    do /* until the orphans have become ours, and the one that has ended is gone */
        plim_tree_scan(&tree);
    while (tree.n != 2 || plim_process_read(pids[1], &process) || !plim_process_read(pids[0], &process) ||
           process.parent != getpid());
    assert_int_equal(tree.member[1].pid, pids[0]);
    plim_tree_signal(&tree, SIGTERM);
    assert_int_equal(ended_by(program), SIGTERM);
    for (int i = 0; tree.n > 1; i++)
        plim_tree_scan(&tree);
    assert_false(plim_process_read(pids[0], &process));
    plim_tree_end(&tree);
    assert_int_equal(child_subreaper(), 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    close(ends[0]);
    close(ends[1]);
}

/* Until then its number is its own, and the ledger holds what it held. */
static void test_the_program_is_not_waited_for(void **state)
{
    (void)state;
    siginfo_t how;
    plim_tree_prepare(&tree);
    const struct plim_process program = sleeper();
    plim_tree_begin(&tree, program.pid);
    plim_tree_signal(&tree, SIGTERM);
    assert_int_equal(waitid(P_PID, (id_t)program.pid, &how, WEXITED | WNOWAIT), 0);
    plim_tree_scan(&tree);
    assert_int_equal(tree.n, 1);
    assert_int_equal(ended_by(program.pid), SIGTERM);
    plim_tree_end(&tree);
}

static void test_children_from_before_are_left_alone(void **state)
{
    (void)state;
    const struct plim_process inherited = sleeper();
    plim_tree_prepare(&tree);
    assert_false(tree.is_alone);
    const struct plim_process program = sleeper(), other = sleeper();
    plim_tree_begin(&tree, program.pid);
    plim_tree_signal(&tree, SIGTERM);
    assert_int_equal(tree.n, 1);
    assert_int_equal(ended_by(program.pid), SIGTERM);
    plim_tree_end(&tree);
    assert_int_equal(waitpid(inherited.pid, NULL, WNOHANG), 0);
    assert_int_equal(waitpid(other.pid, NULL, WNOHANG), 0);
    kill(inherited.pid, SIGKILL);
    kill(other.pid, SIGKILL);
    assert_int_equal(ended_by(inherited.pid), SIGKILL);
    assert_int_equal(ended_by(other.pid), SIGKILL);
}

/* --- pid namespaces --- */

/* Two processes, each pid 1 of a namespace of its own; both join the ledger. False: namespaces are not allowed. */
static bool start_namespaces(struct plim_ledger *ledger, int pids[2], int report[2])
{
    for (int i = 0; i < 2; i++) {
        const int parent = fork();
        if (parent == 0) {
            if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
                _exit(write(report[1], &(int){ 0 }, sizeof(int)) != sizeof(int));
            const int child = fork();
            if (child == 0) {
                const int slot = plim_ledger_join(ledger);
                const bool is_one = getpid() == 1 && ledger->process[slot].pid == 1;
                if (write(report[1], &(int){ is_one ? 1 + slot : -1 }, sizeof(int)) == sizeof(int))
                    for (;;)
                        pause();
            }
            waitpid(child, NULL, 0);
            _exit(0);
        }
        pids[i] = parent;
        int said = 0;
        assert_int_equal(read(report[0], &said, sizeof said), sizeof said);
        if (!said)
            return false;
        assert_int_equal(said, 1 + i);
    }
    return true;
}

static void test_two_processes_called_1(void **state)
{
    (void)state;
    struct plim_ledger *ledger = plim_ledger_create(-1);
    static struct plim_nested nested;
    int pids[2] = { 0 }, report[2];
    assert_non_null(ledger);
    assert_int_equal(pipe(report), 0);
    plim_tree_prepare(&tree);
    const bool is_allowed = start_namespaces(ledger, pids, report);
    if (is_allowed) {
        const struct plim_ledger_process *process = ledger->process;
        assert_int_not_equal(process[0].pid_namespace, process[1].pid_namespace);
        plim_tree_begin(&tree, pids[0]);
        plim_tree_scan(&tree);
        plim_nested_look(&nested, &tree, ledger);
        plim_ledger_reap(ledger);
        assert_true(process[0].pid == 1 && process[1].pid == 1);
        for (size_t i = 0; i < tree.n; i++) /* the first namespace ends */
            if (tree.member[i].parent == pids[0])
                assert_true(plim_signal_send(&tree.member[i], SIGKILL));
        ended_by(pids[0]);
        plim_ledger_reap(ledger);
        assert_false(process[0].has_left); /* of another namespace: only the launcher can tell */
        plim_nested_look(&nested, &tree, ledger);
        assert_true(process[0].is_ended && !process[1].is_ended);
        plim_ledger_reap(ledger);
        assert_true(process[0].has_left && !process[1].has_left);
        plim_tree_scan(&tree);
        for (size_t i = 0; i < tree.n; i++)
            if (tree.member[i].parent == pids[1])
                assert_true(plim_signal_send(&tree.member[i], SIGKILL));
    }
    for (int i = is_allowed ? 1 : 0; i < 2 && pids[i]; i++)
        ended_by(pids[i]);
    plim_tree_end(&tree);
    plim_ledger_close(ledger);
    if (!is_allowed) {
        print_message("skipped: pid namespaces are not allowed here\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_descendants),
        cmocka_unit_test(test_zombies_do_not_live),
        cmocka_unit_test(test_ancestors),
        cmocka_unit_test(test_an_absurd_list),
        cmocka_unit_test(test_orphans),
        cmocka_unit_test(test_a_reused_number_is_another_process),
        cmocka_unit_test(test_a_full_tree),
        cmocka_unit_test(test_who_is_signalled),
        cmocka_unit_test(test_an_old_kernel),
        cmocka_unit_test(test_orphans_are_found_ended_and_waited_for),
        cmocka_unit_test(test_the_program_is_not_waited_for),
        cmocka_unit_test(test_children_from_before_are_left_alone),
        cmocka_unit_test(test_two_processes_called_1),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
