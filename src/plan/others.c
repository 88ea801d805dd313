/* SPDX-License-Identifier: MIT */
/*
 * Memory that other processes hold. Where they are known, those that nobody waits for are offered to be ended, as few
 * as do; the others are named by the report and not advised. Where they are not known, all of them are one offer. The
 * verdict is always that of a bill with the memory back.
 */
#include "plan/planner.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of the processes that may be ended, those on the device that decides, largest first. */
struct ends {
    const struct plim_holder *holder[PLIM_FIX_MAX_ENDS];
    uint32_t n;
};

static bool has_holders(const struct plim_machine *machine, uint32_t card)
{
    for (uint32_t i = 0; i < machine->n_holders; i++)
        if (machine->holders[i].card == card)
            return true;
    return false;
}

static void find_ends(const struct plim_machine *machine, uint32_t card, struct ends *ends)
{
    ends->n = 0;
    for (uint32_t i = 0; i < machine->n_holders && ends->n < PLIM_FIX_MAX_ENDS; i++)
        if (machine->holders[i].card == card && machine->holders[i].is_endable && machine->holders[i].bytes)
            ends->holder[ends->n++] = &machine->holders[i];
}

/* What a process holds on any card comes back when it ends. */
static void give_back(struct plim_machine *machine, int64_t pid)
{
    for (uint32_t i = 0; i < machine->n_holders; i++) {
        const struct plim_holder *holder = &machine->holders[i];
        if (holder->pid != pid || holder->card >= machine->n_cards)
            continue;
        struct plim_card *card = &machine->card[holder->card];
        card->others_bytes -= holder->bytes < card->others_bytes ? holder->bytes : card->others_bytes;
        card->n_others -= card->n_others > 0;
    }
}

/* The bill without `n` of them, from `first` on. */
static enum plim_verdict try_without(struct plim_planner *p, const struct ends *ends, uint32_t first, uint32_t n)
{
    const struct plim_machine *before = p->machine;
    struct plim_machine machine = *before;
    for (uint32_t i = first; i < first + n; i++)
        give_back(&machine, ends->holder[i]->pid);
    p->machine = &machine;
    const enum plim_verdict verdict = plim_try(p, p->at.setup);
    p->machine = before;
    return verdict;
}

static void describe(const struct ends *ends, uint32_t first, uint32_t n, struct plim_fix *fix)
{
    const struct plim_holder *one = ends->holder[first];
    char size[PLIM_SIZE_TEXT];
    fix->n_ends = n;
    for (uint32_t i = 0; i < n; i++)
        fix->ends[i] = ends->holder[first + i]->pid;
    snprintf(fix->costs, sizeof fix->costs, "what %s not saved", n == 1 ? "it has" : "they have");
    if (n == 1) {
        snprintf(fix->change, sizeof fix->change, "process %" PRId64 " ended, '%.40s': %.70s", one->pid, one->name,
                 one->why);
        return;
    }
    size_t length = (size_t)snprintf(fix->change, sizeof fix->change, "%u processes ended that nobody waits for:", n);
    for (uint32_t i = 0; i < n && length < sizeof fix->change; i++)
        length +=
            (size_t)snprintf(fix->change + length, sizeof fix->change - length, "%s %" PRId64 " (%s)", i ? "," : "",
                             ends->holder[first + i]->pid, plim_size_text(size, ends->holder[first + i]->bytes));
}

/* The smallest one that does; else the largest ones, no more than are needed for the best verdict they can bring. */
static void end_stale(struct plim_planner *p, uint32_t card)
{
    struct ends ends;
    find_ends(p->machine, card, &ends);
    if (ends.n == 0)
        return;
    const enum plim_verdict best = try_without(p, &ends, 0, ends.n);
    uint32_t first = ends.n - 1, n = 1;
    while (first > 0 && try_without(p, &ends, first, 1) != best)
        first--;
    while (first == 0 && n < ends.n && try_without(p, &ends, 0, n) != best)
        n++;
    try_without(p, &ends, first, n);
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_END, NULL, p->at.setup);
    if (fix)
        describe(&ends, first, n, fix);
}

static void end_all(struct plim_planner *p, uint32_t card)
{
    const struct plim_machine *before = p->machine;
    const uint32_t n_others = before->card[card].n_others;
    struct plim_machine machine = *before;
    machine.card[card].others_bytes = 0;
    p->machine = &machine;
    plim_try(p, p->at.setup);
    p->machine = before;
    struct plim_fix *fix = plim_offer(p, PLIM_FIX_OTHERS, NULL, p->at.setup);
    if (!fix)
        return;
    if (n_others)
        snprintf(fix->change, sizeof fix->change, "the %u other process%s on this GPU stopped", n_others,
                 n_others == 1 ? "" : "es");
    else
        snprintf(fix->change, sizeof fix->change, "the other programs on this GPU stopped");
    snprintf(fix->costs, sizeof fix->costs, "the work of those programs");
}

void plim_fix_others(struct plim_planner *p)
{
    const struct plim_device_bill *device = &p->at.before->device[p->at.before->limiting_device];
    if (device->is_host || p->machine->card[device->index].others_bytes == 0)
        return;
    if (has_holders(p->machine, device->index))
        end_stale(p, device->index);
    else
        end_all(p, device->index);
}

int plim_plan_alone(struct plim_engine *engine, const struct plim_setup *setup, const struct plim_machine *machine,
                    const struct plim_margin *margin, const struct plim_bill *bill, enum plim_verdict *ret_verdict,
                    struct plim_error *reterr)
{
    const struct plim_device_bill *device = &bill->device[bill->limiting_device];
    struct plim_machine alone = *machine;
    *ret_verdict = PLIM_VERDICT_UNKNOWN;
    if (device->is_host || machine->card[device->index].others_bytes == 0)
        return 0;
    struct plim_bill *trial = plim_alloc(1, sizeof *trial);
    if (!trial)
        return plim_fail(reterr, PLIM_E_NOMEM, PLIM_NO_OFFSET, "out of memory");
    for (uint32_t i = 0; i < alone.n_cards; i++)
        alone.card[i].others_bytes = 0;
    const int result = plim_engine_bill(engine, setup, &alone, margin, trial, reterr);
    if (result == 0)
        *ret_verdict = trial->verdict;
    plim_free(trial);
    return result;
}
