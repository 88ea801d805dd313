/* SPDX-License-Identifier: MIT */
#include "unit.h"
#include "vgpu/core/ledger.h"
#include "vgpu/core/process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static struct plim_ledger *ledger_of(unsigned n_cards, uint64_t mib)
{
    struct plim_ledger *ledger = plim_ledger_create(-1);
    assert_non_null(ledger);
    ledger->n_cards = n_cards;
    for (unsigned i = 0; i < n_cards; i++)
        ledger->card[i].total_bytes = mib * MIB;
    return ledger;
}

static void test_freeing_restores_the_account(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(2, 100);
    int me = plim_ledger_join(ledger);
    uint32_t a, b, c;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 3 * MIB + 1, 0, &a), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 1, PLIM_KIND_VMM, 2 * MIB, 0, &b), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_PINNED, 500 * MIB, 0, &c), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 4 * MIB);
    assert_int_equal(ledger->card[0].kind_bytes[PLIM_KIND_ALLOC], 3 * MIB + 1);
    assert_int_equal(ledger->card[1].used_bytes, 2 * MIB);
    assert_int_equal(ledger->pinned_bytes, 500 * MIB);
    plim_ledger_give(ledger, a);
    plim_ledger_give(ledger, a);
    plim_ledger_give(ledger, b);
    plim_ledger_give(ledger, c);
    assert_int_equal(ledger->card[0].used_bytes, 0);
    assert_int_equal(ledger->card[1].used_bytes, 0);
    assert_int_equal(ledger->pinned_bytes, 0);
    assert_int_equal(ledger->card[0].peak_bytes, 4 * MIB);
    assert_int_equal(ledger->card[0].peak_kind_bytes[PLIM_KIND_ALLOC], 3 * MIB + 1);
    plim_ledger_close(ledger);
}

/* An ended child holds nothing, even before its parent waits for it. */
static void test_a_zombie_holds_nothing(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    siginfo_t how;
    uint32_t record;
    const int child = fork();
    if (child == 0) {
        const int slot = plim_ledger_join(ledger);
        _exit(plim_ledger_take(ledger, slot, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record) != PLIM_LEDGER_TAKEN);
    }
    assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0);
    assert_int_equal(ledger->card[0].used_bytes, 60 * MIB);
    const int me = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 60 * MIB);
    assert_int_equal(waitpid(child, NULL, 0), child);
    plim_ledger_close(ledger);
}

/* A program may overwrite the ledger. */
static void test_overwritten_numbers_are_not_followed(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    ledger->n_cards = UINT32_MAX;
    assert_int_equal(plim_ledger_n_cards(ledger), PLIM_LEDGER_MAX_CARDS);
    assert_int_equal(plim_ledger_take(ledger, me, 1 << 20, PLIM_KIND_ALLOC, MIB, 0, &record), PLIM_LEDGER_NO_RECORD);
    ledger->card[0].n_points = UINT32_MAX;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_true(ledger->card[0].n_points <= PLIM_LEDGER_MAX_POINTS);
    plim_ledger_close(ledger);
}

static void test_small_ones_share_chunks(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    int me = plim_ledger_join(ledger);
    uint32_t record[5000];
    for (int i = 0; i < 4096; i++) /* 512 bytes each: one chunk */
        assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 1 + (uint64_t)i % 512, 0, &record[i]),
                         PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 2 * MIB);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 1, 0, &record[4096]), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 4 * MIB);
    for (int i = 0; i <= 4096; i++)
        plim_ledger_give(ledger, record[i]);
    assert_int_equal(ledger->card[0].used_bytes, 0);
    plim_ledger_close(ledger);
}

/* Exactly 1 MiB still shares a chunk with others; one byte more has chunks of its own. */
static void test_the_largest_small_one(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(2, 100);
    int me = plim_ledger_join(ledger);
    uint32_t record;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, MIB, 0, &record), PLIM_LEDGER_TAKEN);
        assert_int_equal(plim_ledger_take(ledger, me, 1, PLIM_KIND_ALLOC, MIB + 1, 0, &record), PLIM_LEDGER_TAKEN);
    }
    assert_int_equal(ledger->card[0].used_bytes, 2 * MIB);
    assert_int_equal(ledger->card[1].used_bytes, 4 * MIB);
    plim_ledger_close(ledger);
}

static void test_a_full_card(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    int me = plim_ledger_join(ledger);
    uint32_t record;
    ledger->card[0].reserved_bytes = 10 * MIB;
    ledger->card[0].others_bytes = 20 * MIB;
    assert_int_equal(plim_ledger_free_bytes(&ledger->card[0]), 70 * MIB);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 71 * MIB, 0, &record), PLIM_LEDGER_FULL);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, (uint64_t)1 << 60, 0, &record), PLIM_LEDGER_FULL);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, UINT64_MAX, 0, &record), PLIM_LEDGER_FULL);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 70 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_free_bytes(&ledger->card[0]), 0);
    assert_int_equal(ledger->n_out_of_memory, 3);
    assert_int_equal(ledger->oom.size, 71 * MIB); /* the first */
    assert_int_equal(ledger->oom.free_bytes, 70 * MIB);
    plim_ledger_close(ledger);
}

static void test_the_dead_are_reaped(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    int me = plim_ledger_join(ledger), status;
    uint32_t record;
    pid_t child = fork();
    if (child == 0) {
        int slot = plim_ledger_join(ledger);
        bool is_right = plim_ledger_take(ledger, slot, 0, PLIM_KIND_ALLOC, 90 * MIB, 0, &record) == PLIM_LEDGER_TAKEN;
        pthread_mutex_lock(&ledger->lock); /* ends with the mutex locked */
        _exit(is_right ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(ledger->card[0].used_bytes, 90 * MIB);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_ALLOC, 50 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 50 * MIB);
    assert_int_equal(ledger->card[0].peak_bytes, 90 * MIB);
    plim_ledger_close(ledger);
}

/* One after the other, each in a process of its own: the peak is that of one, on the card and on the host. */
static void test_processes_in_turn(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 1000);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    int status;
    /* held by one that lives: it is neither lost nor hides the others */
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 10 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    for (int i = 0; i < 5; i++) {
        const int child = fork();
        if (child == 0) {
            const int slot = plim_ledger_join(ledger);
            ledger->process[slot].n_optimizer_steps = 3;
            _exit(plim_ledger_free_now(ledger, slot, 0) != 990 * MIB ||
                  plim_ledger_take(ledger, slot, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record) != PLIM_LEDGER_TAKEN ||
                  plim_ledger_take(ledger, slot, 0, PLIM_KIND_PINNED, 7 * MIB, 0, &record) != PLIM_LEDGER_TAKEN);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_int_equal(ledger->card[0].peak_bytes, 70 * MIB);
    assert_int_equal(ledger->pinned_peak_bytes, 7 * MIB);
    assert_int_equal(ledger->process[1].n_optimizer_steps, 3); /* what it did stays */
    plim_ledger_close(ledger);
}

/* Killed, and not waited for: gone before a new peak is noted, and before anyone hears how much is free. */
static void test_a_killed_sibling(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 1000);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    siginfo_t how;
    for (int i = 0; i < 2; i++) {
        int report[2], said = 1;
        assert_int_equal(pipe(report), 0);
        const int child = fork();
        if (child == 0) {
            const int slot = plim_ledger_join(ledger);
            said = (int)plim_ledger_take(ledger, slot, 0, PLIM_KIND_VMM, 300 * MIB, 0, &record);
            if (write(report[1], &said, sizeof said) == sizeof said)
                for (;;)
                    pause();
        }
        assert_int_equal(read(report[0], &said, sizeof said), sizeof said);
        assert_int_equal(said, PLIM_LEDGER_TAKEN);
        close(report[0]);
        close(report[1]);
        kill(child, SIGKILL);
        assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0);
        if (i == 0) {
            assert_int_equal(plim_ledger_free_now(ledger, me, 0), 1000 * MIB);
        } else {
            assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 200 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
            assert_int_equal(ledger->card[0].used_bytes, 200 * MIB);
        }
        assert_int_equal(ledger->card[0].peak_bytes, 300 * MIB);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    plim_ledger_close(ledger);
}

/* execve() ends a program, not its process. */
static void test_another_program_in_the_same_process(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    uint32_t record;
    const int before = plim_ledger_join(ledger);
    assert_int_equal(plim_ledger_take(ledger, before, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_leave_former(ledger);
    const int me = plim_ledger_join(ledger);
    assert_int_not_equal(me, before);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 50 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_equal(ledger->card[0].used_bytes, 50 * MIB);
    assert_int_equal(ledger->card[0].peak_bytes, 60 * MIB);
    plim_ledger_close(ledger);
}

/* Another process has the number of one that has ended: the start time tells. */
static void test_a_reused_pid(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    plim_ledger_reap(ledger);
    assert_int_equal(ledger->card[0].used_bytes, 60 * MIB);
    ledger->process[me].start_ticks--;
    plim_ledger_reap(ledger);
    assert_int_equal(ledger->card[0].used_bytes, 0);
    assert_true(ledger->process[me].has_left);
    plim_ledger_close(ledger);
}

/* A pid of another pid namespace says nothing here: only the launcher knows when that process has ended. */
static void test_a_pid_of_another_namespace(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 60 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_int_not_equal(ledger->process[me].pid_namespace, 0);
    ledger->process[me].pid_namespace++;
    ledger->process[me].pid = 1; /* there is one here */
    ledger->process[me].start_ticks = 7;
    plim_ledger_reap(ledger);
    assert_int_equal(ledger->card[0].used_bytes, 60 * MIB);
    ledger->process[me].is_ended = 1;
    plim_ledger_reap(ledger);
    assert_int_equal(ledger->card[0].used_bytes, 0);
    plim_ledger_close(ledger);
}

/* Two processes with the same number, of two namespaces: what one is granted is not what the other was refused. */
static void test_who_was_refused(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int a = plim_ledger_join(ledger), b = plim_ledger_join(ledger);
    uint32_t record;
    assert_true(a != b && ledger->process[a].pid == ledger->process[b].pid);
    assert_int_equal(plim_ledger_take(ledger, b, 0, PLIM_KIND_VMM, 101 * MIB, 0, &record), PLIM_LEDGER_FULL);
    ledger->card[0].total_bytes = 200 * MIB;
    assert_int_equal(plim_ledger_take(ledger, a, 0, PLIM_KIND_VMM, 300 * MIB, 0, &record), PLIM_LEDGER_FULL);
    ledger->card[0].total_bytes = 400 * MIB;
    assert_int_equal(plim_ledger_take(ledger, a, 0, PLIM_KIND_VMM, 300 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    assert_true(ledger->oom.is_set && ledger->oom.size == 101 * MIB);
    assert_int_equal(plim_ledger_take(ledger, b, 0, PLIM_KIND_VMM, 101 * MIB, 0, &record), PLIM_LEDGER_FULL);
    assert_int_equal(ledger->oom.free_bytes, 100 * MIB); /* its own request again */
    plim_ledger_close(ledger);
}

static void test_a_lock_that_is_not_given_back(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    int ends[2], status;
    char byte;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        plim_ledger_lock(ledger);
        while (write(ends[1], "x", 1) >= 0)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_false(plim_ledger_lock_within(ledger, 0));
    assert_false(plim_ledger_lock_within(ledger, 20));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(plim_ledger_lock_within(ledger, 0)); /* its owner is dead */
    plim_ledger_unlock(ledger);
    assert_true(plim_ledger_lock_within(ledger, 0));
    plim_ledger_unlock(ledger);
    for (size_t n = sizeof(int); n <= sizeof ledger->lock; n += sizeof ledger->lock - sizeof(int)) {
        memset(&ledger->lock, 0xff, n); /* a program may write over it, or its first word */
        if (plim_ledger_lock_within(ledger, 20))
            plim_ledger_unlock(ledger);
    }
    *(uint32_t *)&ledger->lock = 0x3fffffff; /* held by a thread that there is not */
    assert_false(plim_ledger_lock_within(ledger, 20));
    plim_ledger_close(ledger);
    close(ends[0]);
    close(ends[1]);
}

static void test_the_timeline_keeps_its_peaks(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 1000);
    int me = plim_ledger_join(ledger);
    uint64_t highest = 0;
    for (int i = 0; i < 20000; i++) {
        uint32_t record;
        plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, i == 7777 ? 500 * MIB : 2 * MIB, 0, &record);
        plim_ledger_give(ledger, record);
    }
    for (uint32_t i = 0; i < ledger->card[0].n_points; i++)
        if (ledger->card[0].point[i].bytes > highest)
            highest = ledger->card[0].point[i].bytes;
    assert_in_range(ledger->card[0].n_points, 1, PLIM_LEDGER_MAX_POINTS);
    assert_int_equal(highest, 500 * MIB);
    plim_ledger_close(ledger);
}

static void test_repeated_requests(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    int me = plim_ledger_join(ledger);
    uint32_t a, b, none;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 60 * MIB, 0, &a), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 20 * MIB, 0, &b), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 70 * MIB, 0, &none), PLIM_LEDGER_FULL);
    assert_int_equal(ledger->oom.free_bytes, 20 * MIB);
    plim_ledger_give(ledger, b);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 70 * MIB, 0, &none), PLIM_LEDGER_FULL);
    assert_int_equal(ledger->oom.free_bytes, 40 * MIB); /* the same request, repeated when more was free */
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 50 * MIB, 0, &none), PLIM_LEDGER_FULL);
    assert_int_equal(ledger->oom.size, 70 * MIB);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 30 * MIB, 0, &b), PLIM_LEDGER_TAKEN);
    assert_true(ledger->oom.is_set);
    plim_ledger_give(ledger, a);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 70 * MIB, 0, &a), PLIM_LEDGER_TAKEN);
    assert_false(ledger->oom.is_set);
    assert_int_equal(ledger->n_met_later, 1);
    assert_int_equal(ledger->n_out_of_memory, 3);
    plim_ledger_close(ledger);
}

/* Bytes of each call site at the peak of its card, whatever happens later. */
static void test_call_sites_at_the_peak(void **state)
{
    (void)state;
    static const struct plim_ledger_stack stack = { "a.so f\n", "" };
    struct plim_ledger *ledger = ledger_of(2, 1000);
    int me = plim_ledger_join(ledger);
    const uint32_t x = plim_ledger_site(ledger, 0, PLIM_KIND_VMM, 5, &stack);
    const uint32_t y = plim_ledger_site(ledger, 0, PLIM_KIND_VMM, 6, &stack);
    const uint32_t z = plim_ledger_site(ledger, 1, PLIM_KIND_VMM, 7, &stack);
    uint32_t record[4];
    assert_true(x && y && z && x != y && y != z);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 100 * MIB, x, &record[0]), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 50 * MIB, y, &record[1]), PLIM_LEDGER_TAKEN);
    plim_ledger_give(ledger, record[0]);
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 90 * MIB, y, &record[2]), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_take(ledger, me, 1, PLIM_KIND_VMM, 500 * MIB, z, &record[3]), PLIM_LEDGER_TAKEN);
    assert_int_equal(plim_ledger_site_peak(ledger, &ledger->site[x]), 100 * MIB);
    assert_int_equal(plim_ledger_site_peak(ledger, &ledger->site[y]), 50 * MIB);
    assert_int_equal(plim_ledger_site_peak(ledger, &ledger->site[z]), 500 * MIB);
    assert_int_equal(ledger->site[y].live_bytes, 140 * MIB);
    assert_int_equal(ledger->site[y].n_taken, 2);
    plim_ledger_close(ledger);
}

static void test_full_table_of_call_sites(void **state)
{
    (void)state;
    static const struct plim_ledger_stack stack;
    struct plim_ledger *ledger = ledger_of(1, 1000);
    unsigned n = 0;
    for (uint64_t hash = 1; hash <= 2 * PLIM_LEDGER_MAX_SITES; hash++)
        n += plim_ledger_site(ledger, 0, PLIM_KIND_VMM, hash * 0x9e3779b97f4a7c15, &stack) != 0;
    assert_in_range(n, PLIM_LEDGER_MAX_SITES / 2, PLIM_LEDGER_MAX_SITES - 1);
    plim_ledger_close(ledger);
}

static void test_remarks_are_counted(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 1);
    char what[300];
    assert_true(plim_ledger_warn(ledger, "kind", "what"));
    assert_false(plim_ledger_warn(ledger, "kind", "what"));
    assert_int_equal(ledger->n_warnings, 1);
    assert_int_equal(ledger->warning[0].count, 2);
    for (int i = 0; i < 200; i++) {
        snprintf(what, sizeof what, "%d %0250d", i, i);
        plim_ledger_warn(ledger, "a kind that is much too long for its place", what);
    }
    assert_int_equal(ledger->n_warnings, PLIM_LEDGER_MAX_WARNINGS);
    plim_ledger_close(ledger);
}

/* Only what is asked of the driver for a program is rounded: what it takes for itself is charged as it is. */
static void test_what_is_rounded(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record[PLIM_KIND_MAX_];
    for (int kind = 0; kind < PLIM_KIND_MAX_; kind++) {
        const uint64_t before = ledger->card[0].used_bytes, size = 3 * MIB + 7;
        const bool is_rounded = kind == PLIM_KIND_ALLOC || kind == PLIM_KIND_MANAGED;
        assert_int_equal(plim_ledger_take(ledger, me, 0, (enum plim_ledger_kind)kind, size, 0, &record[kind]),
                         PLIM_LEDGER_TAKEN);
        assert_int_equal(ledger->card[0].used_bytes - before, kind == PLIM_KIND_PINNED ? 0
                                                              : is_rounded             ? 4 * MIB
                                                                                       : size);
    }
    plim_ledger_close(ledger);
}

static void recount(struct plim_ledger *ledger)
{
    const int gone = plim_ledger_join(ledger);
    ledger->process[gone].is_ended = 1;
    plim_ledger_reap(ledger);
}

/* The account made anew from the records is the one that was kept. */
static void test_a_recount_changes_nothing(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(2, 1000);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    for (int kind = 0; kind < PLIM_KIND_MAX_; kind++)
        for (uint64_t size = 100; size < 64 * MIB; size *= 7)
            assert_int_equal(
                plim_ledger_take(ledger, me, (uint32_t)kind % 2, (enum plim_ledger_kind)kind, size, 0, &record),
                PLIM_LEDGER_TAKEN);
    struct plim_ledger_card *before = malloc(sizeof ledger->card);
    assert_non_null(before);
    memcpy(before, ledger->card, sizeof ledger->card);
    const uint64_t pinned_bytes = ledger->pinned_bytes;
    recount(ledger);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ledger->card[i].used_bytes, before[i].used_bytes);
        assert_int_equal(ledger->process[me].used_bytes[i], before[i].used_bytes);
        assert_memory_equal(ledger->card[i].kind_bytes, before[i].kind_bytes, sizeof before[i].kind_bytes);
    }
    assert_int_equal(ledger->pinned_bytes, pinned_bytes);
    free(before);
    plim_ledger_close(ledger);
}

/* Records that a program wrote over count nothing, and lead nowhere. */
static void test_records_that_were_overwritten(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 2 * MIB, 0, &record[i]), PLIM_LEDGER_TAKEN);
    ledger->record[record[0]].process = PLIM_LEDGER_MAX_PROCESSES;
    ledger->record[record[1]].device = PLIM_LEDGER_MAX_CARDS;
    ledger->record[record[2]].kind = PLIM_KIND_MAX_;
    recount(ledger);
    assert_int_equal(ledger->card[0].used_bytes, 2 * MIB);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ledger->record[record[i]].is_used, 0);
    ledger->n_records = UINT32_MAX;
    recount(ledger);
    assert_true(ledger->n_records <= PLIM_LEDGER_MAX_RECORDS);
    assert_int_equal(ledger->card[0].used_bytes, 2 * MIB);
    ledger->card[0].used_bytes = 101 * MIB; /* more than there is */
    assert_int_equal(plim_ledger_free_bytes(&ledger->card[0]), 0);
    plim_ledger_close(ledger);
}

/* A process that ends in the middle of a change leaves it half made: the next one counts anew. */
static void test_a_death_under_the_lock(void **state)
{
    (void)state;
    struct plim_ledger *ledger = ledger_of(1, 100);
    const int me = plim_ledger_join(ledger);
    uint32_t record;
    int status;
    assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, 2 * MIB, 0, &record), PLIM_LEDGER_TAKEN);
    for (int within = 0; within < 2; within++) {
        const pid_t child = fork();
        if (child == 0) {
            plim_ledger_lock(ledger);
            ledger->card[0].used_bytes += 77 * MIB;
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (within)
            assert_true(plim_ledger_lock_within(ledger, 100));
        else
            plim_ledger_lock(ledger);
        assert_int_equal(ledger->card[0].used_bytes, 2 * MIB);
        plim_ledger_unlock(ledger);
    }
    plim_ledger_close(ledger);
}

/* Whichever of two points the merging keeps, it is the higher one. */
static void test_a_peak_at_any_point(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < 4; at++) {
        struct plim_ledger *ledger = ledger_of(1, 1000);
        struct plim_ledger_card *card = &ledger->card[0];
        const int me = plim_ledger_join(ledger);
        uint32_t record;
        for (uint32_t i = 0; i < PLIM_LEDGER_MAX_POINTS; i++)
            card->point[i] = (struct plim_ledger_point){ .bytes = i == at ? 900 * MIB : 1 };
        card->n_points = PLIM_LEDGER_MAX_POINTS;
        assert_int_equal(plim_ledger_take(ledger, me, 0, PLIM_KIND_VMM, MIB, 0, &record), PLIM_LEDGER_TAKEN);
        assert_int_equal(card->n_points, PLIM_LEDGER_MAX_POINTS / 2 + 1);
        assert_int_equal(card->point[at / 2].bytes, 900 * MIB);
        plim_ledger_close(ledger);
    }
}

/* A file that is no ledger, or one of another Plimsoll. */
static void test_files_that_are_no_ledger(void **state)
{
    (void)state;
    char path[] = "plimsoll-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_null(plim_ledger_open("/nonexistent"));
    assert_null(plim_ledger_open(path)); /* empty */
    struct plim_ledger *made = plim_ledger_create(fd);
    assert_non_null(made);
    made->n_cards = 1;
    struct plim_ledger *opened = plim_ledger_open(path);
    assert_non_null(opened);
    plim_ledger_close(opened);
    made->n_cards = PLIM_LEDGER_MAX_CARDS + 1;
    assert_null(plim_ledger_open(path));
    made->n_cards = 1;
    assert_int_equal(ftruncate(fd, sizeof *made + 1), 0);
    assert_null(plim_ledger_open(path));
    assert_int_equal(ftruncate(fd, sizeof *made), 0);
    made->magic++;
    assert_null(plim_ledger_open(path));
    plim_ledger_close(made);
    close(fd);
    unlink(path);
}

/* The name of a process may hold anything, a parenthesis and a state, too. */
static void test_names_of_processes(void **state)
{
    (void)state;
    static const char *const names[] = { "a) Z 1 2 3 4", ") R 1", "((", "a b c" };
    struct plim_process before, after;
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    assert_true(plim_process_read(getpid(), &before));
    for (size_t i = 0; i < COUNT(names); i++) {
        prctl(PR_SET_NAME, names[i]);
        assert_true(plim_process_read(getpid(), &after));
        assert_int_equal(after.start_ticks, before.start_ticks);
        assert_int_equal(after.parent, getppid());
        assert_false(after.is_ended);
    }
    prctl(PR_SET_NAME, name);
}

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

/* The first thread of a process may end before the others: then its state is Z, and it lives. */
static void test_a_process_without_its_first_thread(void **state)
{
    (void)state;
    struct plim_process found = { 0 };
    char path[40], text[512] = "";
    const pid_t child = fork();
    if (child == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    snprintf(path, sizeof path, "/proc/%d/stat", (int)child);
    for (int i = 0; i < 10000 && !strstr(text, ") Z "); i++) {
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        usleep(1000);
    }
    assert_non_null(strstr(text, ") Z "));
    assert_true(plim_process_read(child, &found));
    assert_false(found.is_ended);
    kill(child, SIGKILL);
    siginfo_t how;
    assert_int_equal(waitid(P_PID, (id_t)child, &how, WEXITED | WNOWAIT), 0);
    assert_true(plim_process_read(child, &found));
    assert_true(found.is_ended);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_freeing_restores_the_account),
        cmocka_unit_test(test_small_ones_share_chunks),
        cmocka_unit_test(test_a_zombie_holds_nothing),
        cmocka_unit_test(test_overwritten_numbers_are_not_followed),
        cmocka_unit_test(test_the_largest_small_one),
        cmocka_unit_test(test_a_full_card),
        cmocka_unit_test(test_the_dead_are_reaped),
        cmocka_unit_test(test_processes_in_turn),
        cmocka_unit_test(test_a_killed_sibling),
        cmocka_unit_test(test_another_program_in_the_same_process),
        cmocka_unit_test(test_a_reused_pid),
        cmocka_unit_test(test_a_pid_of_another_namespace),
        cmocka_unit_test(test_who_was_refused),
        cmocka_unit_test(test_a_lock_that_is_not_given_back),
        cmocka_unit_test(test_the_timeline_keeps_its_peaks),
        cmocka_unit_test(test_repeated_requests),
        cmocka_unit_test(test_call_sites_at_the_peak),
        cmocka_unit_test(test_full_table_of_call_sites),
        cmocka_unit_test(test_remarks_are_counted),
        cmocka_unit_test(test_what_is_rounded),
        cmocka_unit_test(test_a_recount_changes_nothing),
        cmocka_unit_test(test_records_that_were_overwritten),
        cmocka_unit_test(test_a_death_under_the_lock),
        cmocka_unit_test(test_a_peak_at_any_point),
        cmocka_unit_test(test_files_that_are_no_ledger),
        cmocka_unit_test(test_names_of_processes),
        cmocka_unit_test(test_a_process_without_its_first_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
