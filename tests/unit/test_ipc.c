/* SPDX-License-Identifier: MIT */
/*
 * Memory that two processes share: the one that made it pays, and no value that either of them reads is passed off as
 * known.
 */
#include "virtual.h"

#include "vgpu/core/cuda_api.h"
#include "vgpu/values/shadow.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20, SIZE = 4 * MIB, TO_CARD = 1, TO_HOST = 2, SUCCESS = 0, INVALID_CONTEXT = 201 };

static struct {
    int (*malloc)(void **, size_t);
    int (*copy)(void *, const void *, size_t, int);
    int (*get)(struct cu_ipc_handle *, void *);
    int (*open)(void **, struct cu_ipc_handle, unsigned);
    int (*close)(void *);
} cuda;

static struct plim_ledger *ledger;
static int to_child[2], to_parent[2];

/* The libraries are loaded before the fork, and first called after it. */
static int set_up(void **state)
{
    (void)state;
    char path[64];
    const int fd = memfd_create("ledger", 0);
    ledger = fd >= 0 ? plim_ledger_create(fd) : NULL;
    if (!ledger || pipe(to_child) || pipe(to_parent))
        return -1;
    ledger->n_cards = 1;
    snprintf(ledger->card[0].name, sizeof ledger->card[0].name, "a card");
    ledger->card[0].total_bytes = (uint64_t)1 << 30;
    ledger->card[0].compute_capability = 89;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    setenv("PLIM_VGPU_LEDGER", path, 1);
    (void)open_library("libcuda.so.1");
    void *runtime = open_library("libcudart.so.13");
    take(runtime, "cudaMalloc", &cuda.malloc);
    take(runtime, "cudaMemcpy", &cuda.copy);
    take(runtime, "cudaIpcGetMemHandle", &cuda.get);
    take(runtime, "cudaIpcOpenMemHandle", &cuda.open);
    take(runtime, "cudaIpcCloseMemHandle", &cuda.close);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plim_ledger_close(ledger);
    return 0;
}

/* Reads of guesses by the host, in both processes. */
static uint64_t n_guesses(enum plim_shadow_known known)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < PLIM_LEDGER_MAX_GUESSES; i++)
        n += ledger->guess[i].known == (uint32_t)known ? ledger->guess[i].count : 0;
    return n;
}

/* The process that imports: its exit status is the first step that went wrong. */
static int import(void)
{
    struct cu_ipc_handle handle;
    void *p;
    int value = 1;
    if (read(to_child[0], &handle, sizeof handle) != (ssize_t)sizeof handle || cuda.open(&p, handle, 1) != SUCCESS)
        return 1;
    const uint64_t unknown = n_guesses(PLIM_SHADOW_UNKNOWN), kept = n_guesses(PLIM_SHADOW_KEPT);
    if (cuda.copy(&value, p, sizeof value, TO_HOST) != SUCCESS || n_guesses(PLIM_SHADOW_UNKNOWN) != unknown + 1)
        return 2;
    value = 43;
    if (cuda.copy(p, &value, sizeof value, TO_CARD) != SUCCESS || cuda.copy(&value, p, 4, TO_HOST) != SUCCESS)
        return 3;
    if (value != 43 || n_guesses(PLIM_SHADOW_KEPT) != kept + 1)
        return 4;
    if (ledger->card[0].used_bytes != SIZE || write(to_parent[1], "", 1) != 1)
        return 5;
    return cuda.close(p) == SUCCESS && cuda.copy(&value, p, 4, TO_HOST) != SUCCESS ? 0 : 6;
}

static void test_values_of_another_process(void **state)
{
    struct cu_ipc_handle handle;
    int ended, value = 42;
    char done;
    void *p, *again;
    (void)state;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(import());
    assert_int_equal(cuda.malloc(&p, SIZE), SUCCESS);
    assert_int_equal(cuda.copy(p, &value, sizeof value, TO_CARD), SUCCESS);
    assert_int_equal(cuda.copy(&value, p, sizeof value, TO_HOST), SUCCESS);
    assert_int_equal(n_guesses(PLIM_SHADOW_KEPT) + n_guesses(PLIM_SHADOW_UNKNOWN), 0); /* not shared yet */
    assert_int_equal(cuda.get(&handle, p), SUCCESS);
    assert_int_equal(cuda.open(&again, handle, 1), INVALID_CONTEXT); /* not by the process that made it */
    assert_int_equal(write(to_child[1], &handle, sizeof handle), sizeof handle);
    close(to_parent[1]); /* a child that fails says nothing */
    const bool is_said = read(to_parent[0], &done, 1) == 1;
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(WIFEXITED(ended) ? WEXITSTATUS(ended) : -1, 0);
    assert_true(is_said);
    /* On a card this is 43 now: here it is 42, as a guess. */
    const uint64_t kept = n_guesses(PLIM_SHADOW_KEPT);
    assert_int_equal(cuda.copy(&value, p, sizeof value, TO_HOST), SUCCESS);
    assert_int_equal(n_guesses(PLIM_SHADOW_KEPT), kept + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values_of_another_process) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
