/* SPDX-License-Identifier: MIT */
#include "vgpu/core/python/python.h"

#include <pthread.h>
#include <stdatomic.h>

/* A program that uses no PyTorch is not asked for ever. */
enum { MOST_CALLS = 4096, CALLS_AT_FIRST = 64, CALL_EVERY = 16 };

enum { UNKNOWN, ABSENT, PRESENT };
static atomic_int presence, is_called;
static atomic_bool has_steps, has_peaks;
static atomic_uint n_watched;
static struct plim_ledger_process *process_here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int in_interpreter(void *unused)
{
    static bool is_tried;
    (void)unused;
    if (!plim_python.error()) { /* otherwise later: a pending exception must not be lost */
        if (!is_tried)
            plim_python_register_stack();
        is_tried = true;
        if (!atomic_load(&has_steps))
            atomic_store(&has_steps, plim_python_register_steps(process_here));
        if (atomic_load(&has_steps))
            plim_python_find_optimizers(process_here);
        if (!atomic_load(&has_peaks))
            atomic_store(&has_peaks, plim_python_register_peaks(process_here));
    }
    atomic_store(&is_called, 0);
    return 0;
}

static bool is_ready(const struct plim_ledger_process *process)
{
    const unsigned n = atomic_fetch_add_explicit(&n_watched, 1, memory_order_relaxed);
    if (plim_python_has_stack() && atomic_load_explicit(&has_steps, memory_order_relaxed) &&
        atomic_load_explicit(&has_peaks, memory_order_relaxed) &&
        (atomic_load_explicit(&process->n_optimizer_steps, memory_order_relaxed) ||
         atomic_load_explicit(&process->has_made_optimizer, memory_order_relaxed)))
        return true;
    return n >= MOST_CALLS || (n >= CALLS_AT_FIRST && n % CALL_EVERY);
}

void plim_python_watch(struct plim_ledger_process *process)
{
    int expected = 0;
    if (atomic_load_explicit(&presence, memory_order_acquire) == UNKNOWN) {
        pthread_mutex_lock(&lock);
        if (atomic_load(&presence) == UNKNOWN) {
            process_here = process;
            atomic_store_explicit(&presence, plim_python_find() ? PRESENT : ABSENT, memory_order_release);
        }
        pthread_mutex_unlock(&lock);
    }
    if (atomic_load_explicit(&presence, memory_order_relaxed) != PRESENT || is_ready(process) ||
        !plim_python.is_initialized())
        return;
    if (atomic_compare_exchange_strong(&is_called, &expected, 1) &&
        plim_python.add_pending_call(in_interpreter, NULL) < 0)
        atomic_store(&is_called, 0);
}
