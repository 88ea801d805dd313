/* SPDX-License-Identifier: MIT */
#include "rehearse/processes/departures.h"

#include "vgpu/core/process.h"

#include <stdlib.h>
#include <string.h>

/* --- noting --- */

static bool holds_memory(const struct plim_ledger_process *process)
{
    uint64_t any = 0;
    for (uint32_t d = 0; d < PLIM_LEDGER_MAX_CARDS; d++)
        any |= process->used_bytes[d];
    return any != 0;
}

/* Of a process in another pid namespace the ledger is told (nested.h). */
static bool has_ended(const struct plim_ledger_process *entry, uint64_t pid_namespace)
{
    struct plim_process now;
    if (entry->is_ended || entry->pid_namespace != pid_namespace)
        return entry->is_ended;
    return !plim_process_read(entry->pid, &now) || now.is_ended ||
           (entry->start_ticks && now.start_ticks != entry->start_ticks);
}

void plim_departures_note(struct plim_ledger *ledger, int but_pid)
{
    const uint64_t pid_namespace = plim_process_pid_namespace(0);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES && ledger->process[i].pid; i++) { /* slots are taken in turn */
        struct plim_ledger_process *entry = &ledger->process[i];
        const struct plim_ledger_process seen = { .pid = entry->pid, .start_ticks = entry->start_ticks };
        if (entry->ended_us || entry->has_left || entry->pid == but_pid || !holds_memory(entry) ||
            !has_ended(entry, pid_namespace) || !plim_ledger_lock_within(ledger, 0))
            continue;
        if (entry->pid == seen.pid && entry->start_ticks == seen.start_ticks) /* else its slot has a new owner */
            entry->ended_us = plim_ledger_now_us(ledger);
        plim_ledger_unlock(ledger);
    }
}

uint64_t plim_departures_bytes(const struct plim_ledger *ledger, uint32_t device)
{
    uint64_t sum_bytes = 0;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES && ledger->process[i].pid; i++)
        if (ledger->process[i].ended_us && !ledger->process[i].has_left)
            sum_bytes += ledger->process[i].used_bytes[device];
    return sum_bytes;
}

void plim_departures_copy(const struct plim_ledger *ledger, struct plim_departures *ret_departures)
{
    struct plim_departures *to = ret_departures;
    to->n = 0;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES && ledger->process[i].pid; i++) {
        const struct plim_ledger_process *from = &ledger->process[i];
        if (!from->ended_us)
            continue;
        to->of[to->n].ended_us = from->ended_us;
        to->of[to->n].left_us = from->has_left ? from->left_us : UINT64_MAX;
        memcpy(to->of[to->n++].bytes, from->has_left ? from->left_bytes : from->used_bytes, sizeof from->used_bytes);
    }
}

/* --- the timeline --- */

static int by_time(const void *a, const void *b)
{
    const struct plim_rehearsal_point *x = a, *y = b;
    return (x->time_us > y->time_us) - (x->time_us < y->time_us);
}

/* A point at the end of each process, with the account of that moment. */
static void add_ends(const struct plim_departures *departures, uint32_t device, struct plim_rehearsal_card *card)
{
    const uint32_t n_points = card->n_points;
    for (uint32_t i = 0; i < departures->n && card->n_points < PLIM_REHEARSAL_MAX_POINTS; i++) {
        uint32_t k = n_points;
        while (k > 0 && card->point[k - 1].time_us > departures->of[i].ended_us)
            k--;
        if (k > 0 && departures->of[i].bytes[device])
            card->point[card->n_points++] =
                (struct plim_rehearsal_point){ departures->of[i].ended_us, card->point[k - 1].bytes, NULL };
    }
    qsort(card->point, card->n_points, sizeof *card->point, by_time);
}

void plim_departures_take_out(const struct plim_departures *departures, uint32_t device,
                              struct plim_rehearsal_card *card)
{
    add_ends(departures, device, card);
    for (uint32_t k = 0; k < card->n_points; k++) {
        struct plim_rehearsal_point *point = &card->point[k];
        for (uint32_t i = 0; i < departures->n; i++) {
            const uint64_t bytes = departures->of[i].bytes[device];
            if (point->time_us >= departures->of[i].ended_us && point->time_us < departures->of[i].left_us)
                point->bytes -= bytes < point->bytes ? bytes : point->bytes;
        }
    }
}
