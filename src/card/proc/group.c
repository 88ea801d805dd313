/* SPDX-License-Identifier: MIT */
/*
 * The names, with their sources:
 *   Docker               /docker/ID (driver cgroupfs), docker-ID.scope (driver systemd); dockerd's documentation,
 *                        "Options for the runtime", and runc's libcontainer/cgroups/systemd/common.go, getUnitName()
 *   containerd, CRI-O,   cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope by the same unit name PREFIX-ID.scope;
 *   Podman               without systemd /kubepods/.../podUID/ID, and "SLICE:cri-containerd:ID" where runc was not told
 *   kubelet              kubepods[-QOS]-podUID.slice, dashes of the UID as '_', or /kubepods/QOS/podUID
 *                        (pkg/kubelet/cm/cgroup_manager_linux.go, ToSystemd())
 *   LXC                  /lxc/NAME before 4.0, /lxc.payload.NAME since (lxc.container.conf(5))
 *   systemd-nspawn       machine-NAME.scope, systemd-nspawn@NAME.service below machine.slice
 *   Slurm                /slurm[_NODE]/uid_U/job_J/step_S (version 1), [NODE_]slurmstepd.scope/job_J/step_S (version 2;
 *                        slurm.schedmd.com/cgroups.html and cgroup_v2.html)
 *   a deleted group      " (deleted)" at the end, in version 2 (kernel/cgroup/cgroup.c, proc_cgroup_show())
 */
#include "card/proc/group.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SHORT_ID = 12, LONG_ID = 64, UID_LETTERS = 36, UID_DIGITS = 32 };

/* A part of a path, between two slashes. */
struct part {
    const char *text;
    size_t length;
};

static bool starts(struct part part, const char *with)
{
    const size_t length = strlen(with);
    return part.length >= length && !memcmp(part.text, with, length);
}

static bool is(struct part part, const char *text) { return part.length == strlen(text) && starts(part, text); }

static struct part after(struct part part, size_t n) { return (struct part){ part.text + n, part.length - n }; }

static struct part without_end(struct part part, const char *end)
{
    const size_t length = strlen(end);
    if (part.length > length && !memcmp(part.text + part.length - length, end, length))
        part.length -= length;
    return part;
}

static void keep(char *to, size_t size, struct part part)
{
    snprintf(to, size, "%.*s", (int)(part.length < size ? part.length : size - 1), part.text);
}

/* --- containers --- */

static bool is_id(struct part part)
{
    if (part.length < SHORT_ID || part.length > LONG_ID)
        return false;
    for (size_t i = 0; i < part.length; i++)
        if (!isxdigit((unsigned char)part.text[i]))
            return false;
    return true;
}

/* The names after which an id follows, in a unit of systemd. */
static const char *const engines[] = { "docker-", "cri-containerd-", "crio-", "libpod-", "containerd-", "nerdctl-" };

/* The names after which the container's own name follows. */
static const char *const named[] = { "lxc.payload.", "machine-", "systemd-nspawn@" };

static bool read_container(struct part part, struct part before, struct plim_proc_group *group)
{
    const struct part bare = without_end(without_end(part, ".scope"), ".service");
    if (is_id(bare) && bare.length == LONG_ID) {
        keep(group->container, sizeof group->container, bare);
        return true;
    }
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (starts(bare, engines[i]) && is_id(after(bare, strlen(engines[i])))) {
            keep(group->container, sizeof group->container, after(bare, strlen(engines[i])));
            return true;
        }
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (starts(bare, named[i]) && bare.length > strlen(named[i]) && (i == 0 || is(before, "machine.slice"))) {
            keep(group->container, sizeof group->container, after(bare, strlen(named[i])));
            return true;
        }
    if (is(before, "lxc")) {
        keep(group->container, sizeof group->container, part);
        return true;
    }
    return false;
}

/* --- pods --- */

/* The uid of a pod: letters of a UUID, or 32 digits, a hash, of a pod that a file of the node describes. */
static bool is_uid(struct part part)
{
    if (part.length != UID_LETTERS && part.length != UID_DIGITS)
        return false;
    for (size_t i = 0; i < part.length; i++) {
        const char letter = part.text[i];
        const bool is_dash = part.length == UID_LETTERS && (i == 8 || i == 13 || i == 18 || i == 23);
        if (is_dash ? letter != '-' && letter != '_' : !isxdigit((unsigned char)letter))
            return false;
    }
    return true;
}

static void read_pod(struct part part, struct plim_proc_group *group)
{
    part = without_end(part, ".slice");
    /* "kubepods-burstable-podUID", and in a node that is a container itself "kubelet-kubepods-burstable-podUID" */
    if (starts(part, "kube")) {
        while (part.length && !starts(part, "-pod"))
            part = after(part, 1);
        part = part.length ? after(part, 1) : part;
    }
    if (!starts(part, "pod") || !is_uid(after(part, 3)))
        return;
    keep(group->pod, sizeof group->pod, after(part, 3));
    for (char *letter = group->pod; *letter; letter++)
        *letter = *letter == '_' ? '-' : *letter;
}

/* --- a line --- */

static bool is_slurm(struct part part)
{
    return starts(part, "slurm") || without_end(part, "_slurmstepd.scope").length < part.length;
}

static void read_job(struct part part, struct plim_proc_group *group)
{
    const struct part number = starts(part, "job_") ? after(part, 4) : (struct part){ part.text, 0 };
    for (size_t i = 0; i < number.length; i++)
        if (!isdigit((unsigned char)number.text[i]))
            return;
    if (number.length && number.length < sizeof group->slurm_job)
        keep(group->slurm_job, sizeof group->slurm_job, number);
}

/* The innermost container counts: containers of nodes hold containers of pods. */
static void read_path(struct part path, struct plim_proc_group *group)
{
    struct part before = { path.text, 0 };
    bool is_of_slurm = false;
    while (path.length) {
        size_t n = 0;
        while (n < path.length && path.text[n] != '/' && path.text[n] != ':')
            n++;
        const struct part part = { path.text, n };
        if (n) {
            read_container(part, before, group);
            read_pod(part, group);
            if (without_end(part, ".service").length < part.length || without_end(part, ".scope").length < part.length)
                keep(group->unit, sizeof group->unit, part);
            is_of_slurm = is_of_slurm || is_slurm(part);
            if (is_of_slurm)
                read_job(part, group);
            before = part;
        }
        path = after(path, n < path.length ? n + 1 : n);
    }
}

/* The first line that has it counts. */
static void take(char *to, const char *from, size_t size)
{
    if (!to[0])
        memcpy(to, from, size);
}

void plim_proc_parse_group(const char *text, struct plim_proc_group *ret_group)
{
    *ret_group = (struct plim_proc_group){ 0 };
    for (const char *line = text; *line;) {
        const size_t length = strcspn(line, "\n");
        const char *first = memchr(line, ':', length);
        const char *second = first ? memchr(first + 1, ':', (size_t)(line + length - first - 1)) : NULL;
        if (second) {
            const struct part path = { second + 1, (size_t)(line + length - second - 1) };
            const struct part alive = without_end(path, " (deleted)");
            struct plim_proc_group found = { .is_gone = alive.length < path.length };
            read_path(alive, &found);
            take(ret_group->container, found.container, sizeof found.container);
            take(ret_group->pod, found.pod, sizeof found.pod);
            take(ret_group->slurm_job, found.slurm_job, sizeof found.slurm_job);
            take(ret_group->unit, found.unit, sizeof found.unit);
            ret_group->is_gone = ret_group->is_gone || found.is_gone;
        }
        line += length + (line[length] == '\n');
    }
}
