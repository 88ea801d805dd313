/* SPDX-License-Identifier: MIT */
#include "vgpu/core/process.h"
#include "vgpu/nvml/nvml.h"

#include <dirent.h>
#include <stdlib.h>

/* This process entered itself in that way. */
static bool is_entry(const struct plim_ledger_process *entry, const struct plim_process *process)
{
    return entry->start_ticks == process->start_ticks &&
           entry->pid_namespace == plim_process_pid_namespace(process->pid) &&
           entry->pid == plim_process_innermost_pid(process->pid);
}

static void find_one(const struct plim_ledger *ledger, const bool *is_wanted, const struct plim_process *process,
                     struct plim_nvml_pids *pids)
{
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++)
        if (is_wanted[i] && !pids->of[i] && is_entry(&ledger->process[i], process))
            pids->of[i] = (unsigned)process->pid;
}

/* Look for processes of namespaces below this one. */
static void find(const struct plim_ledger *ledger, const bool *is_wanted, struct plim_nvml_pids *pids)
{
    struct plim_process process;
    struct dirent *entry;
    DIR *folder = opendir("/proc");
    while (folder && (entry = readdir(folder))) {
        const long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 0 && plim_process_read((int)pid, &process))
            find_one(ledger, is_wanted, &process, pids);
    }
    if (folder)
        closedir(folder);
}

void plim_nvml_pids(const struct plim_ledger *ledger, struct plim_nvml_pids *ret_pids)
{
    const uint64_t here = plim_process_pid_namespace(0);
    bool is_wanted[PLIM_LEDGER_MAX_PROCESSES] = { false }, is_any_wanted = false;
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        const bool is_of_here = !process->pid_namespace || process->pid_namespace == here;
        ret_pids->of[i] = is_of_here ? (unsigned)process->pid : 0;
        is_wanted[i] = process->pid && !is_of_here && !process->has_left;
        is_any_wanted |= is_wanted[i];
    }
    if (is_any_wanted)
        find(ledger, is_wanted, ret_pids);
}
