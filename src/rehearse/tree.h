/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_TREE_H
#define PLIMSOLL_REHEARSE_TREE_H

/* The processes of a rehearsal: the program, its children, and all others that wrote into the ledger. */

#include "vgpu/core/ledger.h"

#include <sys/types.h>

enum { PLIM_TREE_MAX = 1024 };

struct plim_tree {
    pid_t root;
    size_t n;
    pid_t pid[PLIM_TREE_MAX];                      /* the root first */
    uint64_t peak_rss_bytes, peak_anonymous_bytes; /* of all together; shared pages count for each */
    size_t peak_n;                                 /* the most at one time */
    double next_scan_s, scan_every_s;
    double cpu_s, cpu_seen_s; /* CPU time at the last look */
    double busy_s;            /* when they were last seen computing */
};

void plim_tree_begin(struct plim_tree *tree, pid_t root);

/* Look at their memory, and from time to time for new ones. */
void plim_tree_look(struct plim_tree *tree, struct plim_ledger *ledger, double now_s);

/* Find all of them now, and send them a signal: the root last. */
void plim_tree_signal(struct plim_tree *tree, struct plim_ledger *ledger, int number);

/* Warn in the ledger of NVIDIA's own libraries that a process has loaded beside the virtual ones. */
void plim_tree_find_bypass(struct plim_tree *tree, struct plim_ledger *ledger, const char *libraries);

#endif
