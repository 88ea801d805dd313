/* SPDX-License-Identifier: MIT */
#include "card/nvml/sleep.h"

#include "base/system.h"
#include "card/proc/entry.h"
#include "card/suspended.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* "Model: \t\t NVIDIA GeForce RTX 4070" in /proc/driver/nvidia/gpus/ADDRESS/information, which the driver remembers. */
static void read_name(const char *root, const char *pci, char *name, size_t size)
{
    char path[PLIM_PROC_PATH_BYTES], text[1024];
    snprintf(path, sizeof path, "%s/proc/driver/nvidia/gpus/%s/information", root, pci);
    name[0] = '\0';
    if (plim_proc_read_file(path, text, sizeof text) <= 0 || strncmp(text, "Model:", 6) != 0)
        return;
    const char *start = text + 6 + strspn(text + 6, " \t");
    snprintf(name, size, "%.*s", (int)strcspn(start, "\n"), start);
}

/* power/control is "auto" or "on" (Documentation/ABI/testing/sysfs-devices-power). */
static bool may_sleep(const char *folder)
{
    char path[PLIM_PROC_PATH_BYTES + 32], text[16];
    snprintf(path, sizeof path, "%s/power/control", folder);
    return plim_proc_read_file(path, text, sizeof text) > 0 && !strncmp(text, "auto", 4);
}

int plim_nvml_find_sleepers(const char *root, struct plim_sleepers *ret_sleepers)
{
    char folder[PLIM_PROC_PATH_BYTES];
    struct plim_names names;
    *ret_sleepers = (struct plim_sleepers){ 0 };
    snprintf(folder, sizeof folder, "%s/sys/bus/pci/drivers/nvidia", root);
    const int error = plim_system_list(folder, &names);
    if (error)
        return error == ENOMEM ? PLIM_E_NOMEM : 0;
    for (size_t i = 0; i < names.n && ret_sleepers->n < PLIM_MAX_DEVICES; i++) {
        const char *pci = names.names[i];
        if (strlen(pci) != 12 || pci[4] != ':')
            continue; /* "bind", "module" ... */
        const uint32_t at = ret_sleepers->n++;
        snprintf(ret_sleepers->card[at].pci, sizeof ret_sleepers->card[at].pci, "%.15s", pci);
        snprintf(folder, sizeof folder, "%s/sys/bus/pci/devices/%.15s", root, pci);
        ret_sleepers->card[at].is_asleep = plim_is_suspended(folder);
        if (ret_sleepers->card[at].is_asleep)
            read_name(root, pci, ret_sleepers->card[at].name, sizeof ret_sleepers->card[at].name);
        ret_sleepers->n_asleep += ret_sleepers->card[at].is_asleep;
        ret_sleepers->may_sleep = (at == 0 || ret_sleepers->may_sleep) && may_sleep(folder);
    }
    plim_names_done(&names);
    return 0;
}
