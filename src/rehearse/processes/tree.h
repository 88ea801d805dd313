/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_TREE_H
#define PLIMSOLL_REHEARSE_PROCESSES_TREE_H

/*
 * The processes of a rehearsal: the program and its descendants. While it lasts we are the subreaper
 * (PR_SET_CHILD_SUBREAPER), so that descendants whose parent has ended become our children and not those of pid 1.
 *
 * No number that a program wrote anywhere makes a process a member, and nothing older than the program is one. Where
 * a new child of ours may also come from elsewhere, it is left alone: when we are pid 1 of a container, or had children
 * before (a shell with jobs became us by exec), a member is who was seen below the program.
 */

#include "vgpu/core/process.h"

#include <stddef.h>

enum { PLIM_TREE_MAX = 1024 };

struct plim_tree {
    int self;
    bool was_subreaper;
    bool is_alone; /* all our children come from the program */
    size_t n;
    struct plim_process member[PLIM_TREE_MAX]; /* living ones; the program itself first, until the end */
    double next_scan_s, scan_every_s;
};

/* Before the program is started, once it is, and after it was waited for. */
void plim_tree_prepare(struct plim_tree *tree);
void plim_tree_begin(struct plim_tree *tree, int program);
void plim_tree_end(struct plim_tree *tree);

/*
 * Find the members; those that have ended and are our children now are waited for, except the program. False when not
 * all processes could be read: there may be more members.
 */
bool plim_tree_scan(struct plim_tree *tree);

/* The same from time to time; true when it was done. */
bool plim_tree_look(struct plim_tree *tree, double now_s);

/* Look often again: something is about to change. */
void plim_tree_hurry(struct plim_tree *tree);

/* Find all of them now, and send them a signal: the program last. */
void plim_tree_signal(struct plim_tree *tree, int number);

/* The members among the processes of the machine, which are sorted by pid: apart from reading them, for tests. */
void plim_tree_update(struct plim_tree *tree, const struct plim_process *list, size_t n);

#endif
