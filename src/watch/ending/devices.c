/* SPDX-License-Identifier: MIT */
#include "watch/ending/devices.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool plim_device_is_card(const char *path)
{
    /* NVIDIA (nvidia0, nvidiactl, nvidia-uvm, nvidia-caps/), its Jetson boards, DRM, AMD's compute driver, WSL. */
    static const char *const beginnings[] = { "/dev/nvidia", "/dev/nvhost", "/dev/nvmap", "/dev/nvgpu",
                                              "/dev/dri/",   "/dev/kfd",    "/dev/dxg",   "/dev/accel" };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (!strncmp(path, beginnings[i], strlen(beginnings[i])))
            return true;
    return false;
}

enum plim_devices plim_devices_of(const char *root, int64_t pid)
{
    char path[512], target[256];
    enum plim_devices result = PLIM_DEVICES_NONE;
    snprintf(path, sizeof path, "%s/proc/%" PRId64 "/fd", root ? root : "", pid);
    DIR *folder = opendir(path);
    if (!folder)
        return errno == ENOENT || errno == ESRCH ? PLIM_DEVICES_NONE : PLIM_DEVICES_UNREADABLE;
    for (const struct dirent *entry; result != PLIM_DEVICES_OPEN && (entry = readdir(folder));) {
        const ssize_t n = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (n <= 0) {
            if (n < 0 && (errno == EACCES || errno == EPERM))
                result = PLIM_DEVICES_UNREADABLE;
            continue;
        }
        target[n] = '\0';
        if (plim_device_is_card(target))
            result = PLIM_DEVICES_OPEN;
    }
    closedir(folder);
    return result;
}
