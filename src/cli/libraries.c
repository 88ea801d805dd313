/* SPDX-License-Identifier: MIT */
#include "cli/libraries.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool plim_libraries_find(char ret_folder[PLIM_LIBRARIES_PATH])
{
    static const char *const places[] = { "/vgpu", ("/../" PLIM_VGPU_FOLDER), "/../lib/plimsoll/vgpu" };
    char self[PLIM_LIBRARIES_PATH], probe[2 * PLIM_LIBRARIES_PATH];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return false;
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(probe, sizeof probe, "%.3000s%s/libcuda.so.1", self, places[i]);
        if (access(probe, R_OK) == 0) {
            snprintf(ret_folder, PLIM_LIBRARIES_PATH, "%.3000s%s", self, places[i]);
            return true;
        }
    }
    return false;
}
