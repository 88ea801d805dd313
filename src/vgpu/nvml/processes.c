/* SPDX-License-Identifier: MIT */
/*
 * The processes on a card, from the ledger. All of them compute: a virtual card draws nothing and has no MPS server. A
 * list is written in the layout that the version of the function asks for.
 */
#include "vgpu/nvml/nvml.h"
#include "vgpu/nvml/nvml_api.h"

enum { NO_INSTANCE = -1 };

bool plim_nvml_is_listed(const struct plim_ledger_process *process, int card)
{
    return process->pid && !process->has_left && process->used_bytes[card];
}

/* Writes a process to the list, at that place. */
typedef void writer(void *list, unsigned at, unsigned pid, unsigned long long used);

static void write_v1(void *list, unsigned at, unsigned pid, unsigned long long used)
{
    ((struct nvml_process_info_v1 *)list)[at] = (struct nvml_process_info_v1){ pid, used };
}

static void write_v2(void *list, unsigned at, unsigned pid, unsigned long long used)
{
    ((struct nvml_process_info *)list)[at] =
        (struct nvml_process_info){ pid, used, (unsigned)NO_INSTANCE, (unsigned)NO_INSTANCE };
}

static void write_detail(void *list, unsigned at, unsigned pid, unsigned long long used)
{
    ((struct nvml_process_detail *)list)[at] =
        (struct nvml_process_detail){ pid, used, (unsigned)NO_INSTANCE, (unsigned)NO_INSTANCE, 0 };
}

/* *count is the room of the list before, and the number of processes after. */
static status running(device card, unsigned *count, void *list, writer *write)
{
    const int index = plim_nvml_index(card);
    struct plim_ledger *ledger = plim_nvml_ledger();
    struct plim_nvml_pids pids;
    unsigned n = 0;
    if (index < 0 || !count)
        return INVALID_ARGUMENT;
    const unsigned room = list ? *count : 0;
    plim_ledger_reap_of(ledger, index, 0);
    plim_ledger_lock(ledger);
    plim_nvml_pids(ledger, &pids);
    for (int i = 0; i < PLIM_LEDGER_MAX_PROCESSES; i++) {
        const struct plim_ledger_process *process = &ledger->process[i];
        if (!plim_nvml_is_listed(process, index) || !pids.of[i])
            continue;
        if (n < room)
            write(list, n, pids.of[i], process->used_bytes[index]);
        n++;
    }
    plim_ledger_unlock(ledger);
    *count = n;
    return n > room ? INSUFFICIENT_SIZE : SUCCESS;
}

status nvmlDeviceGetComputeRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes)
{
    return running(card, count, processes, write_v2);
}

status nvmlDeviceGetComputeRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes)
{
    return running(card, count, processes, write_v2);
}

status nvmlDeviceGetComputeRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes)
{
    return running(card, count, processes, write_v1);
}

static status none(device card, unsigned *count)
{
    if (plim_nvml_index(card) < 0 || !count)
        return INVALID_ARGUMENT;
    *count = 0;
    return SUCCESS;
}

status nvmlDeviceGetGraphicsRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes)
{
    (void)processes;
    return none(card, count);
}

status nvmlDeviceGetGraphicsRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes)
{
    (void)processes;
    return none(card, count);
}

status nvmlDeviceGetGraphicsRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes)
{
    (void)processes;
    return none(card, count);
}

status nvmlDeviceGetMPSComputeRunningProcesses_v3(device card, unsigned *count, struct nvml_process_info *processes)
{
    (void)processes;
    return none(card, count);
}

status nvmlDeviceGetMPSComputeRunningProcesses_v2(device card, unsigned *count, struct nvml_process_info *processes)
{
    (void)processes;
    return none(card, count);
}

status nvmlDeviceGetMPSComputeRunningProcesses(device card, unsigned *count, struct nvml_process_info_v1 *processes)
{
    (void)processes;
    return none(card, count);
}

/* nvmlProcessMode_t: compute, graphics, MPS, all. */
status nvmlDeviceGetRunningProcessDetailList(device card, struct nvml_process_details *list)
{
    enum { COMPUTE = 0, ALL = 3, VERSION = sizeof *list | 1u << 24 };
    if (!list || list->mode > ALL)
        return INVALID_ARGUMENT;
    if (list->version != VERSION)
        return VERSION_MISMATCH;
    if (list->mode != COMPUTE && list->mode != ALL)
        return none(card, &list->n);
    return running(card, &list->n, list->process, write_detail);
}
