/* SPDX-License-Identifier: MIT */
#include "rehearse/processes/nested.h"

/* The member that entered itself in this way. */
static struct plim_process find(const struct plim_tree *tree, const struct plim_ledger_process *entry)
{
    for (size_t i = 0; i < tree->n; i++)
        if (tree->member[i].start_ticks == entry->start_ticks &&
            plim_process_pid_namespace(tree->member[i].pid) == entry->pid_namespace &&
            plim_process_innermost_pid(tree->member[i].pid) == entry->pid)
            return tree->member[i];
    return (struct plim_process){ 0 };
}

static bool has_ended(const struct plim_process *process)
{
    struct plim_process now;
    return !plim_process_read(process->pid, &now) || now.start_ticks != process->start_ticks || now.is_ended;
}

void plim_nested_look(struct plim_nested *nested, const struct plim_tree *tree, struct plim_ledger *ledger)
{
    if (!nested->pid_namespace)
        nested->pid_namespace = plim_process_pid_namespace(0);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        struct plim_ledger_process *entry = &ledger->process[i];
        struct plim_process *process = &nested->slot[i].process;
        if (!entry->pid || !entry->pid_namespace || entry->pid_namespace == nested->pid_namespace || entry->is_ended)
            continue;
        if (!process->pid || nested->slot[i].pid != entry->pid || process->start_ticks != entry->start_ticks) {
            *process = find(tree, entry);
            nested->slot[i].pid = entry->pid;
        }
        if (process->pid && has_ended(process) && plim_ledger_lock_within(ledger, 0)) {
            entry->is_ended = entry->pid == nested->slot[i].pid && entry->start_ticks == process->start_ticks;
            plim_ledger_unlock(ledger);
        }
    }
}
