/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CARD_PROC_GROUP_H
#define PLIMSOLL_CARD_PROC_GROUP_H

/*
 * The container, the pod, the Slurm job and the unit of a process, from the text of /proc/PID/cgroup: by the names that
 * Docker, containerd, CRI-O, Podman, LXC, systemd-nspawn, the kubelet and slurmd give their control groups.
 */

#include <stdbool.h>

struct plim_proc_group {
    char container[72]; /* 64 digits of an id, or a name */
    char pod[40];       /* its uid, with dashes */
    char slurm_job[24];
    char unit[96]; /* of systemd, the innermost: "ollama.service" */
    bool is_gone;  /* the group was deleted while the process still ran */
};

/* Empty texts for what is not there; never fails. */
void plim_proc_parse_group(const char *text, struct plim_proc_group *ret_group);

#endif
