/* SPDX-License-Identifier: MIT */
/* What is read of processes, text by text: DRM's figures, /proc/PID/stat, control groups, and NVML's lists. */
#include "card/drm/fdinfo.h"
#include "card/nvml/lists.h"
#include "card/proc/group.h"
#include "card/proc/stat.h"
#include "card/sample.h"
#include "unit.h"

/* --- DRM --- */

static const struct {
    const char *what, *text;
    bool is_device;
    int64_t local_bytes, shared_bytes, busy_ms;
} clients[] = {
    { "no device", "pos:\t0\nflags:\t02\n", false, 0, 0, 0 },
    { "nothing", "", false, 0, 0, 0 },
    { "an opened device", "drm-driver:\tamdgpu\n", true, -1, -1, -1 },
    { "bytes without a unit", "drm-driver: amdgpu\ndrm-memory-vram: 4096\n", true, 4096, -1, -1 },
    { "KiB and MiB", "drm-driver: xe\ndrm-resident-vram0: 3 KiB\ndrm-resident-vram1: 2 MiB\n", true, 3072 + 2 * 1048576,
      -1, -1 },
    { "the older word is no second part",
      "drm-driver: amdgpu\ndrm-memory-vram: 7 KiB\ndrm-resident-vram: 7 KiB\ndrm-total-vram: 9 KiB\n", true, 7168, -1,
      -1 },
    { "only the total", "drm-driver: i915\ndrm-total-local0: 5 KiB\ndrm-shared-local0: 5 KiB\n", true, 5120, -1, -1 },
    { "shared, active and purgeable are parts", "drm-driver: i915\ndrm-shared-local0: 5 KiB\ndrm-active-local0: 1\n",
      true, -1, -1, -1 },
    { "host memory", "drm-driver: i915\ndrm-resident-system0: 5 KiB\ndrm-resident-stolen-system0: 9 KiB\n", true, -1,
      5120, -1 },
    { "an unknown unit is no number of bytes", "drm-driver: xe\ndrm-resident-vram0: 5 GiB\n", true, -1, -1, -1 },
    { "not even a number", "drm-driver: xe\ndrm-resident-vram0: much\ndrm-total-vram0:\n", true, -1, -1, -1 },
    { "more than there is", "drm-driver: xe\ndrm-resident-vram0: 18446744073709551615 MiB\n", true, -1, -1, -1 },
    { "more than any card has", "drm-driver: xe\ndrm-resident-vram0: 70368744177665\n", true, -1, -1, -1 },
    { "as much as any card may have", "drm-driver: xe\ndrm-resident-vram0: 70368744177664\n", true, INT64_C(1) << 46,
      -1, -1 },
    { "longer at work than any machine", "drm-driver: xe\ndrm-engine-copy: 1152921504606846977 ns\n", true, -1, -1,
      -1 },
    { "negative", "drm-driver: xe\ndrm-resident-vram0: -5\n", true, -1, -1, -1 },
    { "engines, but not their number",
      "drm-driver: i915\ndrm-engine-render: 3000000 ns\ndrm-engine-copy: 1000000 ns\ndrm-engine-capacity-render: 2\n",
      true, -1, -1, 4 },
    { "without an end of the line", "drm-driver: xe\ndrm-resident-vram0: 5 KiB", true, 5120, -1, -1 },
};

static void test_clients(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clients); i++) {
        struct plim_drm_client client = { .local_bytes = 0 };
        const bool is_device = plim_drm_parse(clients[i].text, &client);
        if (is_device != clients[i].is_device)
            fail_msg("%s", clients[i].what);
        if (is_device && (client.local_bytes != clients[i].local_bytes ||
                          client.shared_bytes != clients[i].shared_bytes || client.busy_ms != clients[i].busy_ms))
            fail_msg("%s: %lld %lld %lld", clients[i].what, (long long)client.local_bytes,
                     (long long)client.shared_bytes, (long long)client.busy_ms);
    }
}

static void test_cycles(void **state)
{
    struct plim_drm_client client;
    (void)state;
    assert_true(plim_drm_parse("drm-driver: xe\ndrm-client-id: 18446744073709551615\ndrm-pdev: 0000:03:00.0\n"
                               "drm-cycles-rcs: 10\ndrm-total-cycles-rcs: 90\ndrm-cycles-ccs: 30\n"
                               "drm-total-cycles-ccs: 90\ndrm-total-system: 1 KiB\n",
                               &client));
    assert_true(client.has_id && client.id == UINT64_MAX);
    assert_string_equal(client.pci, "0000:03:00.0");
    assert_int_equal(client.cycles, 30);
    assert_int_equal(client.total_cycles, 90);
    assert_int_equal(client.shared_bytes, 1024);
    assert_int_equal(client.local_bytes, -1);
}

/* --- /proc --- */

#define REST " 1 7 8 9 -1 0 0 0 0 0 30 12 0 0 20 0 4 0 5000 100000 25 0 0"

static const struct {
    const char *text, *name;
    char state;
} stats[] = {
    { "12 (python) S" REST "\n", "python", 'S' },
    { "12 (a) R 1 (b) Z" REST "\n", "a) R 1 (b", 'Z' },
    { "12 () D" REST, "", 'D' },
    { "12 ((sd-pam)) S" REST, "(sd-pam)", 'S' },
    { "12 (python S" REST, NULL, 0 },
    { "12 python) S" REST, NULL, 0 },
    { "12 (python)S" REST, NULL, 0 },
    { "12 (python) S", NULL, 0 },
    { "12 (python) S 1 2 3", NULL, 0 },
    { "12 (python) S 1 7 8 9 -1 0 0 0 0 0 30 12 0 0 20 0 4 0 -5 100000 25 0", NULL, 0 },
    { "12 (python) S 1 7 8 9 -1 0 0 0 0 0 99999999999999999999 12 0 0 20 0 4 0 5 100000 25 0", NULL, 0 },
    { ")(", NULL, 0 },
    { "", NULL, 0 },
};

static void test_stats(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(stats); i++) {
        struct plim_proc_stat stat;
        const bool is_one = plim_proc_parse_stat(stats[i].text, &stat);
        if (is_one != (stats[i].name != NULL))
            fail_msg("'%s'", stats[i].text);
        if (!is_one)
            continue;
        assert_string_equal(stat.name, stats[i].name);
        assert_int_equal(stat.state, stats[i].state);
        assert_int_equal(stat.parent, 1);
        assert_int_equal(stat.group, 7);
        assert_int_equal(stat.session, 8);
        assert_true(stat.has_terminal);
        assert_int_equal(stat.cpu_ticks, 42);
        assert_int_equal(stat.n_threads, 4);
        assert_int_equal(stat.start_ticks, 5000);
        assert_int_equal(stat.rss_pages, 25);
    }
}

static void test_status(void **state)
{
    struct plim_proc_status status;
    (void)state;
    plim_proc_parse_status("Name:\tUid:\t5\nUid:\t1000\t1001\t0\t0\nNSpid:\t41233\t12\t7\nSigIgn:\t0000000001001001\n",
                           &status);
    assert_int_equal(status.uid, 1001); /* the effective one */
    assert_int_equal(status.inner_pid, 7);
    assert_true(status.ignores_hangup);
    plim_proc_parse_status("Uid:\t1000\nNSpid:\t41233\nSigIgn:\t0000000000001000\n", &status);
    assert_int_equal(status.uid, -1);
    assert_int_equal(status.inner_pid, -1);
    assert_false(status.ignores_hangup);
    plim_proc_parse_status("", &status);
    assert_int_equal(status.uid, -1);
}

/* The scene "containers" has the names that there are; here are those that look like them. */
static void test_names_that_are_no_container(void **state)
{
    static const char *const texts[] = {
        "",
        "0::/\n",
        "0::/docker/\n",
        "0::/docker/0123456789abcdef\n",
        "0::/system.slice/docker-.scope\n",
        "0::/system.slice/docker-zzzzzzzzzzzzzzzz.scope\n",
        "0::/system.slice/docker.service\n",
        "0::/user.slice/machine-x.scope\n",
        "0::/a/podx/b\n",
        "0::/kubepods.slice/kubepods-pod1234.slice\n",
        "0::/user.slice/job_5/step_0\n",
        "0::/slurm/uid_0/job_\n",
        "0::/slurm/uid_0/job_12x\n",
        "nonsense\n:\n::\n:::\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct plim_proc_group group;
        plim_proc_parse_group(texts[i], &group);
        if (group.container[0] || group.pod[0] || group.slurm_job[0] || group.is_gone)
            fail_msg("'%s': '%s' '%s' '%s'", texts[i], group.container, group.pod, group.slurm_job);
    }
}

/* --- NVML's lists --- */

/* A driver, as far as one list goes. */
static struct {
    unsigned n;
    size_t stride;
    bool clears, writes_beyond;
    unsigned long long used[64];
    unsigned pid[64];
} driver;

static int list_v3(plim_nvml_device device, unsigned *count, void *rows)
{
    const unsigned room = *count;
    (void)device;
    *count = driver.n;
    if (driver.n == 0)
        return PLIM_NVML_SUCCESS;
    if (room < driver.n || !rows)
        return PLIM_NVML_INSUFFICIENT_SIZE;
    if (driver.clears)
        memset(rows, 0, room * driver.stride);
    for (unsigned i = 0; i < driver.n + (driver.writes_beyond && driver.n < room); i++) {
        unsigned char *row = (unsigned char *)rows + i * driver.stride;
        const unsigned none = UINT32_MAX;
        const unsigned long long no_secret = 0;
        memcpy(row, &driver.pid[i], 4);
        memcpy(row + 8, &driver.used[i], 8);
        memcpy(row + 16, &none, 4);
        memcpy(row + 20, &none, 4);
        if (driver.stride == 32)
            memcpy(row + 24, &no_secret, 8);
    }
    return PLIM_NVML_SUCCESS;
}

static void test_lists_of_any_layout(void **state)
{
    struct plim_nvml_processes processes = { 0 };
    struct plim_nvml nvml = { .list = { { list_v3 } } };
    uint64_t numbers = random_seed();
    (void)state;
    for (int round = 0; round < 4000; round++) {
        driver.n = (unsigned)random_below(&numbers, 40);
        driver.stride = random_below(&numbers, 2) ? 24 : 32;
        driver.clears = random_below(&numbers, 2);
        driver.writes_beyond = random_below(&numbers, 4) == 0;
        for (unsigned i = 0; i < 64; i++) {
            driver.pid[i] = i * 1000 + 1 + (unsigned)random_below(&numbers, 999);
            driver.used[i] = random_below(&numbers, 8) ? (1 + random_below(&numbers, 80000)) << 20 : ~0ull;
        }
        assert_int_equal(plim_nvml_list_processes(&nvml, NULL, &processes), PLIM_NVML_SUCCESS);
        assert_int_equal(processes.n, driver.n);
        for (unsigned i = 0; i < driver.n; i++) {
            const int64_t bytes = driver.used[i] == ~0ull ? -1 : (int64_t)driver.used[i];
            if (processes.process[i].pid != driver.pid[i] || processes.process[i].bytes != bytes)
                fail_msg("%u entries of %zu bytes: %u holds %lld", driver.n, driver.stride, processes.process[i].pid,
                         (long long)processes.process[i].bytes);
        }
    }
    plim_nvml_processes_done(&processes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_status),
        cmocka_unit_test(test_names_that_are_no_container),
        cmocka_unit_test(test_lists_of_any_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
