/* SPDX-License-Identifier: MIT */
/* The memory of the machine, from files that a test has written. */
#include "base/units.h"
#include "plimsoll/card.h"
#include "unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMINFO "MemTotal:       67108864 kB\nMemFree:         1048576 kB\nMemAvailable:   50331648 kB\nBuffers: 1 kB\n"

#define LONG "/a.group.whose.name.has.a.hundred.letters.with.its.slash.as.those.of.containers.in.containers.have.one."

enum { MAX_FILES = 8 };

struct file {
    const char *path, *text;
};

static const struct {
    const char *what;
    struct file files[MAX_FILES];
    uint64_t total_gib, free_gib;
    bool is_limited;
} rows[] = {
    { "no files at all", { { NULL, NULL } }, 0, 0, false },
    { "no control group", { { "/proc/meminfo", MEMINFO } }, 64, 48, false },
    { "an old kernel without MemAvailable", { { "/proc/meminfo", "MemTotal: 67108864 kB\n" } }, 64, 0, false },
    { "garbage", { { "/proc/meminfo", "MemTotal: lots\nMemAvailable:\n\xff" } }, 0, 0, false },
    { "version 2, no limit",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/user\n" },
        { "/sys/fs/cgroup/user/memory.max", "max\n" },
        { "/sys/fs/cgroup/user/memory.current", "1073741824\n" } },
      64,
      48,
      false },
    { "version 2, a limit",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/user\n" },
        { "/sys/fs/cgroup/user/memory.max", "8589934592\n" },
        { "/sys/fs/cgroup/user/memory.current", "2147483648\n" } },
      8,
      6,
      true },
    { "version 2, page cache that can go",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/user\n" },
        { "/sys/fs/cgroup/user/memory.max", "8589934592\n" },
        { "/sys/fs/cgroup/user/memory.current", "7516192768\n" },
        { "/sys/fs/cgroup/user/memory.stat", "anon 1\nfile 2\ninactive_file 5368709120\nactive_file 3\n" } },
      8,
      6,
      true },
    { "version 2, a limit further up",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/a/b/c\n" },
        { "/sys/fs/cgroup/a/b/c/memory.max", "max\n" },
        { "/sys/fs/cgroup/a/b/c/memory.current", "0\n" },
        { "/sys/fs/cgroup/a/memory.max", "17179869184\n" },
        { "/sys/fs/cgroup/a/memory.current", "1073741824\n" } },
      16,
      15,
      true },
    { "version 2, a limit above groups with long names",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/a" LONG LONG LONG LONG LONG LONG "\n" },
        { "/sys/fs/cgroup/a/memory.max", "17179869184\n" },
        { "/sys/fs/cgroup/a/memory.current", "1073741824\n" } },
      16,
      15,
      true },
    { "version 2, the root of a container",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/\n" },
        { "/sys/fs/cgroup/memory.max", "4294967296\n" },
        { "/sys/fs/cgroup/memory.current", "5368709120\n" } }, /* over its limit */
      4,
      0,
      true },
    { "version 2, a limit that nothing says how much of it is used",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/user\n" },
        { "/sys/fs/cgroup/user/memory.max", "8589934592\n" } },
      64,
      48,
      false },
    { "version 2, a limit that leaves more than the machine has free",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/user\n" },
        { "/sys/fs/cgroup/user/memory.max", "64424509440\n" },
        { "/sys/fs/cgroup/user/memory.current", "0\n" } },
      60,
      48,
      true },
    { "version 2, a limit beyond the machine",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "0::/\n" },
        { "/sys/fs/cgroup/memory.max", "1099511627776\n" },
        { "/sys/fs/cgroup/memory.current", "0\n" } },
      64,
      48,
      false },
    { "version 1",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "11:cpu,cpuacct:/x\n7:memory:/box\n1:name=systemd:/\n" },
        { "/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "8589934592\n" },
        { "/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1073741824\n" } },
      8,
      7,
      true },
    { "version 1 beside version 2",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "7:memory:/box\n0::/elsewhere\n" },
        { "/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "8589934592\n" },
        { "/sys/fs/cgroup/memory/box/memory.usage_in_bytes", "1073741824\n" } },
      8,
      7,
      true },
    { "version 1, no limit",
      { { "/proc/meminfo", MEMINFO },
        { "/proc/self/cgroup", "7:memory:/\n" },
        { "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n" },
        { "/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n" } },
      64,
      48,
      false },
    { "control groups that make no sense",
      { { "/proc/meminfo", MEMINFO }, { "/proc/self/cgroup", "\n:\n::\n0:\nmemory\n:memory:\n" } },
      64,
      48,
      false },
};

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static void write_file(const char *root, const struct file *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *slash = strchr(path + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(file->text, out);
    fclose(out);
}

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char root[] = "plimsoll-XXXXXX";
        struct plim_host host;
        assert_non_null(mkdtemp(root));
        for (const struct file *file = rows[i].files; file < rows[i].files + MAX_FILES && file->path; file++)
            write_file(root, file);
        memset(&host, 0xa5, sizeof host);
        plim_host_live(root, &host);
        nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        if (host.total_bytes != rows[i].total_gib * PLIM_GIB || host.free_bytes != rows[i].free_gib * PLIM_GIB ||
            host.is_limited != rows[i].is_limited)
            fail_msg("%s: total %llu, free %llu%s", rows[i].what, (unsigned long long)host.total_bytes,
                     (unsigned long long)host.free_bytes, host.is_limited ? ", limited" : "");
        assert_false(host.is_assumed);
    }
}

/* Written one after the other: with the last one, the figures of the host are partial. */
static void only_the_last_is_missed(const struct file *files, size_t n)
{
    char root[] = "plimsoll-XXXXXX";
    struct plim_host host;
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < n; i++) {
        write_file(root, &files[i]);
        plim_host_live(root, &host);
        assert_int_equal(host.is_partial, i == n - 1);
    }
    nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    assert_int_equal(host.total_bytes, 64 * PLIM_GIB);
}

/* A limit that is there and cannot be read: a folder has its name. */
static void test_unread(void **state)
{
    static const struct file files[] = { { "/proc/meminfo", MEMINFO },
                                         { "/proc/self/cgroup", "0::/job\n" },
                                         { "/sys/fs/cgroup/job/memory.current", "0\n" },
                                         { "/sys/fs/cgroup/job/memory.max/folder", "" } };
    (void)state;
    only_the_last_is_missed(files, COUNT(files));
}

/* Neither can the limits of a group whose path is longer than any that is read. */
static void test_too_long(void **state)
{
    static const struct file files[] = { { "/proc/meminfo", MEMINFO },
                                         { "/proc/self/cgroup",
                                           "0::" LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG "\n" } };
    (void)state;
    only_the_last_is_missed(files, COUNT(files));
}

static void test_this_machine(void **state)
{
    struct plim_host host;
    (void)state;
    plim_host_live(NULL, &host);
    assert_true(host.total_bytes > 64 * PLIM_MIB && host.free_bytes <= host.total_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_machines), cmocka_unit_test(test_unread),
                                        cmocka_unit_test(test_too_long), cmocka_unit_test(test_this_machine) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
