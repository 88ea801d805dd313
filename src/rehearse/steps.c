/* SPDX-License-Identifier: MIT */
#include "rehearse/steps.h"

#include "rehearse/attribution.h"

#include <stdatomic.h>
#include <string.h>

enum { LEAST_LAUNCHES = 8 };

/* --- cycles --- */

static bool is_alike(const struct plim_ledger_cycle *a, const struct plim_ledger_cycle *b)
{
    return a->hash == b->hash && a->n_launches == b->n_launches && a->used_bytes == b->used_bytes;
}

/* How often the last `length` cycles of a process came in a row; 1: they did not repeat. */
static uint32_t repeats(const struct plim_ledger_cycle *cycle, uint64_t n, uint32_t length)
{
    uint32_t n_alike = 0;
    while (n_alike + length < n && n_alike + length < PLIM_LEDGER_MAX_CYCLES) {
        const uint64_t at = n - 1 - n_alike;
        if (!is_alike(&cycle[at % PLIM_LEDGER_MAX_CYCLES], &cycle[(at - length) % PLIM_LEDGER_MAX_CYCLES]))
            break;
        n_alike++;
    }
    return 1 + n_alike / length;
}

/* The first round is not counted: it may have made what the others find. */
static uint32_t count_cycles(const struct plim_ledger_cycle *cycle, uint64_t n, uint32_t n_wanted,
                             uint64_t *ret_launches)
{
    for (uint32_t length = 1; length < n && length * (n_wanted + 1) <= PLIM_LEDGER_MAX_CYCLES; length++) {
        const uint32_t n_steps = repeats(cycle, n, length) - 1;
        if (n_steps < n_wanted)
            continue;
        *ret_launches = 0;
        for (uint32_t i = 0; i < length; i++)
            *ret_launches += cycle[(n - 1 - i) % PLIM_LEDGER_MAX_CYCLES].n_launches;
        if (*ret_launches >= LEAST_LAUNCHES)
            return n_steps;
    }
    return 0;
}

/* --- steps --- */

bool plim_steps_has_backward(const struct plim_ledger *ledger)
{
    for (uint32_t i = 1; i < PLIM_LEDGER_MAX_SITES; i++) {
        struct plim_attribution attribution;
        if (!ledger->site[i].hash)
            continue;
        plim_attribution_of(&ledger->stack[i], &attribution);
        if (attribution.phase && !strcmp(attribution.phase, "backward"))
            return true;
    }
    return false;
}

/* Of processes that live, or else of those that have ended. */
static struct plim_rehearsal_steps count_optimizer_steps(const struct plim_ledger *ledger, bool is_living)
{
    struct plim_rehearsal_steps steps = { .how = PLIM_STEPS_OPTIMIZER };
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        const uint64_t n = process->n_optimizer_steps;
        if ((process->pid && !process->is_ended) == is_living && n && (!steps.n || n < steps.n))
            steps.n = n;
        steps.has_pytorch = steps.has_pytorch || process->has_optimizers;
    }
    return steps;
}

void plim_steps_count(const struct plim_ledger *ledger, uint32_t n_wanted, struct plim_rehearsal_steps *ret_steps)
{
    struct plim_rehearsal_steps cycles = { .how = PLIM_STEPS_CYCLES };
    *ret_steps = count_optimizer_steps(ledger, /* is_living */ true);
    if (!ret_steps->n)
        *ret_steps = count_optimizer_steps(ledger, /* is_living */ false);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES && !ret_steps->n && !ret_steps->has_pytorch; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        uint64_t launches = 0;
        const uint32_t n =
            process->pid ? count_cycles(ledger->cycle[i], process->n_cycles, n_wanted ? n_wanted : 1, &launches) : 0;
        if (n && (!cycles.n || n < cycles.n)) {
            cycles.n = n;
            cycles.n_launches = launches;
        }
    }
    if (cycles.n)
        *ret_steps = cycles;
    if (!ret_steps->n)
        ret_steps->how = PLIM_STEPS_NONE;
}

struct plim_optimizers plim_optimizers_of(const struct plim_ledger *ledger)
{
    struct plim_optimizers found = { .has_made = false };
    for (int i = 0; ledger && i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        const uint64_t n = atomic_load(&process->n_optimizer_steps);
        const bool has_made = atomic_load(&process->has_made_optimizer);
        found.has_made = found.has_made || has_made;
        found.is_counted = found.is_counted || (has_made && atomic_load(&process->has_optimizers));
        found.lacks_states = found.lacks_states || atomic_load(&process->n_without_states);
        found.least_steps = n && (!found.least_steps || n < found.least_steps) ? n : found.least_steps;
    }
    return found;
}
