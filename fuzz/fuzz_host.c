/* SPDX-License-Identifier: MIT */
/* The files of /proc and /sys that tell the memory of this machine, with any content. Parts are separated by 0xff. */
#include "fuzz.h"

#include "plimsoll/card.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = { "/proc/meminfo",
                                     "/proc/self/cgroup",
                                     "/sys/fs/cgroup/a/memory.max",
                                     "/sys/fs/cgroup/a/memory.current",
                                     "/sys/fs/cgroup/a/memory.stat",
                                     "/sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                                     "/sys/fs/cgroup/memory/a/memory.usage_in_bytes" };
enum { N_FILES = sizeof files / sizeof *files };

static char root[64];
static int descriptor[N_FILES];

static void make_folders(const char *path)
{
    char folder[256];
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%s%.*s", root, (int)(slash - path), path);
        mkdir(folder, 0700);
    }
}

static void remove_all(void)
{
    char path[256];
    for (int i = 0; i < N_FILES; i++) {
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        unlink(path);
        for (char *slash = strrchr(path, '/'); slash && slash - path >= (long)strlen(root);
             slash = strrchr(path, '/')) {
            *slash = '\0';
            rmdir(path);
        }
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    char path[256];
    (void)argc, (void)argv;
    snprintf(root, sizeof root, "%s/fuzz_host.XXXXXX", access("/dev/shm", W_OK) ? "." : "/dev/shm");
    if (!mkdtemp(root))
        abort();
    for (int i = 0; i < N_FILES; i++) {
        make_folders(files[i]);
        snprintf(path, sizeof path, "%s%s", root, files[i]);
        descriptor[i] = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
        if (descriptor[i] < 0)
            abort();
    }
    atexit(remove_all);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plim_host host;
    for (int i = 0; i < N_FILES; i++) {
        const uint8_t *end = size ? memchr(data, 0xff, size) : NULL;
        size_t n = end ? (size_t)(end - data) : size;
        if (pwrite(descriptor[i], data, n, 0) != (ssize_t)n || ftruncate(descriptor[i], (off_t)n) < 0)
            abort();
        data += end ? n + 1 : n;
        size -= end ? n + 1 : n;
    }
    plim_host_live(root, &host);
    FUZZ_REQUIRE(!host.is_limited || host.total_bytes > 0 || host.free_bytes == 0);
    FUZZ_REQUIRE(!host.is_assumed);
    return 0;
}
