/* SPDX-License-Identifier: MIT */
#include "card/suspended.h"

#include "card/proc/entry.h"

#include <stdio.h>
#include <string.h>

/* Documentation/ABI/testing/sysfs-devices-power: "suspended", "suspending", "resuming", "active", "error". */
bool plim_is_suspended(const char *folder)
{
    char path[PLIM_PROC_PATH_BYTES + 128], text[32];
    snprintf(path, sizeof path, "%s/power/runtime_status", folder);
    return plim_proc_read_file(path, text, sizeof text) > 0 && !strncmp(text, "suspend", 7);
}
