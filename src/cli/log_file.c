/* SPDX-License-Identifier: MIT */
#include "cli/log_file.h"

#include "base/system.h"

bool plim_log_file_is_device(int file)
{
    struct plim_file_status status;
    return plim_system_status(file, &status) == 0 && status.kind == PLIM_KIND_DEVICE && !plim_system_is_terminal(file);
}
