/* SPDX-License-Identifier: MIT */
/* Whether the kernel ended a program for want of host memory, by made-up files of a machine. */
#include "rehearse/end/kernel_kills.h"
#include "unit.h"

#include <sys/stat.h>

static char root[128];

static void write_text(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/plimsoll-kills-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void test_nothing_is_known(void **state)
{
    (void)state;
    const struct plim_kernel_kills kills = plim_kernel_kills_read(root);
    assert_true(kills.of_group == UINT64_MAX && kills.of_machine == UINT64_MAX);
    assert_int_equal(plim_kernel_kills_judge(kills, kills, true), PLIM_HOST_KILL_NONE);
    assert_int_equal(plim_kernel_kills_judge(kills, (struct plim_kernel_kills){ 5, 5 }, true), PLIM_HOST_KILL_NONE);
}

static void test_second_version(void **state)
{
    (void)state;
    write_text("/proc/vmstat", "oom_killer_disabled 9\npgfault 12\noom_kill 3\n");
    write_text("/proc/self/cgroup", "0::/user.slice/a b.scope\n");
    write_text("/sys/fs/cgroup/user.slice/a b.scope/memory.events", "low 0\noom 1\noom_kill 2\noom_group_kill 7\n");
    const struct plim_kernel_kills kills = plim_kernel_kills_read(root);
    assert_int_equal(kills.of_machine, 3);
    assert_int_equal(kills.of_group, 2);
}

static void test_first_version(void **state)
{
    (void)state;
    write_text("/proc/vmstat", "oom_kill 0\n");
    write_text("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/7\n0::/\n");
    write_text("/sys/fs/cgroup/memory/docker/7/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
    const struct plim_kernel_kills kills = plim_kernel_kills_read(root);
    assert_int_equal(kills.of_machine, 0);
    assert_int_equal(kills.of_group, 1);
}

static void test_judgement(void **state)
{
    (void)state;
    const struct plim_kernel_kills before = { 2, 3 }, group = { 3, 4 }, machine = { 2, 4 };
    assert_int_equal(plim_kernel_kills_judge(before, before, true), PLIM_HOST_KILL_NONE);
    assert_int_equal(plim_kernel_kills_judge(before, group, true), PLIM_HOST_KILL_SURE);
    assert_int_equal(plim_kernel_kills_judge(before, group, false), PLIM_HOST_KILL_SURE);
    assert_int_equal(plim_kernel_kills_judge(before, machine, true), PLIM_HOST_KILL_LIKELY);
    assert_int_equal(plim_kernel_kills_judge(before, machine, false), PLIM_HOST_KILL_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nothing_is_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_second_version, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_first_version, set_up, tear_down),
        cmocka_unit_test(test_judgement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
