/* SPDX-License-Identifier: MIT */
/* NVML's list of compute processes (nvmlDeviceGetComputeRunningProcesses_v3, as nvml.h of 12.x and 13.x has it). */
#include "card/processes.h"

#include "base/system.h"
#include "card/nvml/library.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

typedef struct nvml_device *nvml_device;

struct process_info {
    unsigned pid;
    unsigned long long used_bytes; /* all bits set: not available, as under Windows and WSL */
    unsigned gpu_instance, compute_instance;
};

_Static_assert(sizeof(struct process_info) == 24, "nvmlProcessInfo_t");

enum { NVML_SUCCESS = 0, MAX_PROCESSES = 64 };

struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *);
    int (*by_index)(unsigned, nvml_device *);
    int (*name)(nvml_device, char *, unsigned);
    int (*processes)(nvml_device, unsigned *, struct process_info *);
};

static bool load(void *library, struct nvml *nvml)
{
    const struct {
        const char *symbol;
        void *slot;
    } symbols[] = {
        { "nvmlInit_v2", &nvml->init },
        { "nvmlShutdown", &nvml->shutdown },
        { "nvmlDeviceGetCount_v2", &nvml->count },
        { "nvmlDeviceGetHandleByIndex_v2", &nvml->by_index },
        { "nvmlDeviceGetName", &nvml->name },
        { "nvmlDeviceGetComputeRunningProcesses_v3", &nvml->processes },
    };
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void (*address)(void);
        plim_system_symbol(library, symbols[i].symbol, &address);
        if (!address)
            return false;
        memcpy(symbols[i].slot, &address, sizeof address); /* the slots are of other functions' types */
    }
    return true;
}

static void read_name(const char *root, unsigned pid, char *name, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/proc/%u/comm", root ? root : "", pid);
    FILE *file = fopen(path, "r");
    name[0] = '\0';
    if (!file)
        return;
    if (fgets(name, (int)size, file))
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
}

static uint32_t read_card(const struct nvml *nvml, nvml_device device, const char *root, struct plim_card_process *to,
                          uint32_t max)
{
    static struct process_info found[MAX_PROCESSES];
    unsigned n_found = MAX_PROCESSES;
    char card[96] = "";
    uint32_t n = 0;
    if (nvml->processes(device, &n_found, found) != NVML_SUCCESS)
        return 0; /* more than the array holds, or not reported */
    if (nvml->name(device, card, sizeof card) != NVML_SUCCESS)
        card[0] = '\0';
    for (unsigned i = 0; i < n_found && i < MAX_PROCESSES && n < max; i++) {
        to[n] = (struct plim_card_process){ .pid = found[i].pid, .bytes = -1 };
        if (found[i].used_bytes <= (unsigned long long)INT64_MAX)
            to[n].bytes = (int64_t)found[i].used_bytes;
        snprintf(to[n].card, sizeof to[n].card, "%.79s", card);
        read_name(root, found[i].pid, to[n].name, sizeof to[n].name);
        n++;
    }
    return n;
}

uint32_t plim_card_processes(const char *library, const char *root, struct plim_card_process *ret_processes,
                             uint32_t max)
{
    struct nvml nvml = { 0 };
    uint32_t n = 0;
    char why[PLIM_LIBRARY_WHY_BYTES];
    void *handle = plim_system_library(library ? library : PLIM_NVML_LIBRARY, why);
    if (!handle)
        return 0;
    if (load(handle, &nvml) && nvml.init() == NVML_SUCCESS) {
        unsigned count = 0;
        nvml_device device;
        if (nvml.count(&count) != NVML_SUCCESS)
            count = 0;
        for (unsigned i = 0; i < count && n < max; i++)
            if (nvml.by_index(i, &device) == NVML_SUCCESS)
                n += read_card(&nvml, device, root, ret_processes + n, max - n);
        nvml.shutdown();
    }
    plim_system_library_close(handle);
    return n;
}
