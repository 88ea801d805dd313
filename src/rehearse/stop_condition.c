/* SPDX-License-Identifier: MIT */
#include "rehearse/stop_condition.h"

#include "rehearse/attribution.h"

#include <string.h>

/* A server may listen long before it is ready, while it reads or compiles; one that polls is never idle. */
enum { LONG_S = 120, READY_S = 2, LEAST_LAUNCHES = 8, PYTORCH_TIMES = 8 };

/* --- steps --- */

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

void plim_steps_count(const struct plim_ledger *ledger, uint32_t n_wanted, struct plim_rehearsal_steps *ret_steps)
{
    struct plim_rehearsal_steps optimizer = { .how = PLIM_STEPS_OPTIMIZER }, cycles = { .how = PLIM_STEPS_CYCLES };
    n_wanted = n_wanted ? n_wanted : 1;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        const uint64_t n = process->n_optimizer_steps;
        uint64_t launches = 0;
        if (!process->pid)
            continue;
        if (n && (!optimizer.n || n < optimizer.n))
            optimizer.n = n;
        const uint32_t wanted = process->has_optimizers ? n_wanted * PYTORCH_TIMES : n_wanted;
        uint32_t n_cycles = optimizer.n ? 0 : count_cycles(ledger->cycle[i], process->n_cycles, wanted, &launches);
        if (n_cycles && process->has_optimizers && plim_steps_has_backward(ledger))
            n_cycles = 0;
        if (n_cycles && (!cycles.n || n_cycles < cycles.n)) {
            cycles.n = n_cycles;
            cycles.n_launches = launches;
        }
    }
    *ret_steps = optimizer.n ? optimizer : cycles.n ? cycles : (struct plim_rehearsal_steps){ .how = PLIM_STEPS_NONE };
}

/* --- the condition --- */

const char *plim_stop_reason(const struct plim_stop_condition *condition, const struct plim_ledger *ledger,
                             double elapsed_s, double idle_s)
{
    uint64_t last_us = 0;
    bool has_memory = false;
    struct plim_rehearsal_steps steps;
    for (uint32_t i = 0; i < plim_ledger_n_cards(ledger); i++) {
        has_memory = has_memory || ledger->card[i].peak_bytes;
        last_us = ledger->card[i].peak_us > last_us ? ledger->card[i].peak_us : last_us;
    }
    const double quiet_s = (double)(plim_ledger_now_us(ledger) - last_us) / 1e6;
    if (condition->timeout_s > 0 && elapsed_s >= condition->timeout_s)
        return "timeout";
    if (!has_memory)
        return NULL;
    const double waiting_s = quiet_s < idle_s || quiet_s >= LONG_S ? quiet_s : idle_s;
    if (condition->until == PLIM_UNTIL_READY && ledger->is_listening && waiting_s >= READY_S)
        return "ready";
    if (condition->until == PLIM_UNTIL_STABLE && quiet_s >= condition->stable_s)
        return "stable";
    if (condition->until == PLIM_UNTIL_STEPS) {
        plim_steps_count(ledger, condition->n_steps, &steps);
        return steps.n >= condition->n_steps ? "steps" : NULL;
    }
    return condition->until == PLIM_UNTIL_AUTO && ledger->is_listening && waiting_s >= condition->stable_s ? "stable"
                                                                                                           : NULL;
}
