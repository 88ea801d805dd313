/* SPDX-License-Identifier: MIT */
#include "vgpu/core/steps.h"

#include <stdatomic.h>

static _Atomic(struct plim_ledger_process *) mine;

static struct plim_ledger_process *process(void)
{
    struct plim_ledger_process *found = atomic_load_explicit(&mine, memory_order_relaxed);
    if (!found) {
        found = plim_vgpu_process();
        atomic_store_explicit(&mine, found, memory_order_relaxed);
    }
    return found;
}

void plim_vgpu_ran(int device)
{
    struct plim_ledger_process *p = process();
    const int card = plim_vgpu_card_of(device);
    if (p && card >= 0)
        plim_activity_note(&p->activity[card], plim_vgpu_now_us());
}

void plim_vgpu_launched(const void *what)
{
    struct plim_ledger_process *p = process();
    if (!p)
        return;
    uint64_t z = (uint64_t)(uintptr_t)what + 0x9e3779b97f4a7c15; /* SplitMix64: sums of plain addresses collide */
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    atomic_fetch_add_explicit(&p->n_launches, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&p->cycle_hash, z ^ (z >> 31), memory_order_relaxed);
}

void plim_vgpu_waited(void)
{
    struct plim_ledger_process *p = process();
    if (!p || atomic_load_explicit(&p->cycle_hash, memory_order_relaxed) == 0)
        return;
    const uint64_t hash = atomic_exchange_explicit(&p->cycle_hash, 0, memory_order_relaxed);
    const uint64_t n = atomic_load_explicit(&p->n_launches, memory_order_relaxed);
    const uint64_t before = atomic_exchange_explicit(&p->cycle_launches, n, memory_order_relaxed);
    if (!hash) /* another thread closed the cycle */
        return;
    int error;
    struct plim_ledger *ledger = plim_vgpu_ledger(&error);
    if (!ledger)
        return;
    uint64_t used_bytes = 0;
    plim_ledger_lock(ledger);
    for (int i = 0; i < PLIM_LEDGER_MAX_CARDS; i++)
        used_bytes += p->used_bytes[i];
    const uint64_t nth = atomic_load_explicit(&p->n_cycles, memory_order_relaxed);
    ledger->cycle[p - ledger->process][nth % PLIM_LEDGER_MAX_CYCLES] =
        (struct plim_ledger_cycle){ hash, n - before, used_bytes };
    atomic_store_explicit(&p->n_cycles, nth + 1, memory_order_release);
    plim_ledger_unlock(ledger);
}

void plim_vgpu_launched_graph(const void *what, size_t n_nodes)
{
    struct plim_ledger_process *p = process();
    plim_vgpu_waited(); /* what was launched before is a cycle of its own */
    plim_vgpu_launched(what);
    if (p && n_nodes > 1)
        atomic_fetch_add_explicit(&p->n_launches, n_nodes - 1, memory_order_relaxed);
}
