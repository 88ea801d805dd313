/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/pytorch.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OLDEST_MAJOR = 2, OLDEST_MINOR = 5, UNSEEN = 0, IS_OLD, IS_NEW };

/* Of a wheel, "__version__ = '2.0.1+cu117'"; of a LibTorch archive, "2.0.1+cu117" alone. */
static const char *const files[] = { "version.py", "build-version" };

static bool read_start(const char *path, char *text, size_t size)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
}

static int age_of(const char *text)
{
    const char *found = strstr(text, "__version__ = '");
    const char *start = found ? found + strlen("__version__ = '") : text;
    char *end;
    const long major = strtol(start, &end, 10);
    if (end == start || *end != '.')
        return IS_NEW;
    const long minor = strtol(end + 1, NULL, 10);
    return major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR) ? IS_OLD : IS_NEW;
}

/* A loaded object: PyTorch's kernels are in FOLDER/lib/libtorch_cuda.so. */
static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char library[] = "/lib/libtorch_cuda.so";
    const size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0, end = sizeof library - 1;
    char path[PATH_MAX], text[512];
    int *age = context;
    (void)size;
    if (n < end || strcmp(info->dlpi_name + n - end, library) != 0)
        return 0;
    *age = IS_NEW;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (snprintf(path, sizeof path, "%.*s/%s", (int)(n - end), info->dlpi_name, files[i]) < (int)sizeof path &&
            read_start(path, text, sizeof text)) {
            *age = age_of(text);
            break;
        }
    return 1;
}

bool plim_pytorch_is_old(void)
{
    static _Atomic int known;
    int age = atomic_load_explicit(&known, memory_order_relaxed);
    if (age == UNSEEN) { /* it may be loaded later */
        dl_iterate_phdr(visit, &age);
        atomic_store_explicit(&known, age, memory_order_relaxed);
    }
    return age == IS_OLD;
}
