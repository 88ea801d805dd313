/* SPDX-License-Identifier: MIT */
#include "rehearse/processes/left_behind.h"

#include "rehearse/parts.h"

#include <stdio.h>
#include <string.h>

/* The launcher's number of a process is that of the ledger in its own pid namespace only; of others it knows the end */
static bool is_member(const struct plim_tree *tree, const struct plim_ledger_process *entry, uint64_t pid_namespace)
{
    if (entry->pid_namespace != pid_namespace)
        return true;
    for (size_t i = 1; i < tree->n; i++) /* the first is the program */
        if (tree->member[i].pid == entry->pid && tree->member[i].start_ticks == entry->start_ticks)
            return true;
    return false;
}

bool plim_left_behind_has_card(const struct plim_tree *tree, const struct plim_ledger *ledger)
{
    const uint64_t pid_namespace = plim_process_pid_namespace(0);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *entry = &ledger->process[i];
        uint64_t used_bytes = 0;
        for (uint32_t d = 0; d < plim_ledger_n_cards(ledger); d++)
            used_bytes |= entry->used_bytes[d];
        if (entry->pid && used_bytes && !entry->is_ended && is_member(tree, entry, pid_namespace))
            return true;
    }
    return false;
}

void plim_left_behind_name(const struct plim_tree *tree, char ret_name[PLIM_LEFT_BEHIND_NAME])
{
    char path[40], name[32] = "a process";
    *ret_name = '\0';
    if (tree->n < 2)
        return;
    snprintf(path, sizeof path, "/proc/%d/comm", tree->member[1].pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    if (tree->n > 2)
        snprintf(ret_name, PLIM_LEFT_BEHIND_NAME, "%s and %zu more", name, tree->n - 2);
    else
        snprintf(ret_name, PLIM_LEFT_BEHIND_NAME, "%s", name);
}

void plim_left_behind_say(struct plim_rehearsal *rehearsal, const char *name, const char *what)
{
    char text[sizeof rehearsal->warning[0].what];
    snprintf(text, sizeof text, "%s: %s after the program had ended", name, what);
    plim_rehearsal_warn(rehearsal, "left_behind", text, 1);
}
