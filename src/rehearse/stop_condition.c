/* SPDX-License-Identifier: MIT */
#include "rehearse/stop_condition.h"

#include "rehearse/steps.h"

/* A server may listen long before it is ready, while it reads or compiles; one that polls is never idle. */
enum { LONG_S = 120, READY_S = 2 };

/*
 * Takes connections from users. One that only waits for its own processes does not, nor does a program that trains: its
 * logger may listen. What has launched nothing yet may be on its way.
 */
static bool is_server(const struct plim_ledger *ledger, double waiting_s)
{
    bool has_launched = false;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++)
        has_launched = has_launched || ledger->process[i].n_launches;
    return ledger->is_listening && !ledger->has_ranks && !plim_optimizers_of(ledger).has_made &&
           (has_launched || waiting_s >= LONG_S);
}

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
    const bool is_quiet = condition->until == PLIM_UNTIL_AUTO && waiting_s >= condition->stable_s;
    return is_quiet && is_server(ledger, waiting_s) ? "stable" : NULL;
}
