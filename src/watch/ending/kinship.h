/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_WATCH_ENDING_KINSHIP_H
#define PLIMSOLL_WATCH_ENDING_KINSHIP_H

/*
 * All processes of the machine and their parents, read once from /proc. A sample has those that hold memory on a card;
 * whom ending one of them concerns (launchers, children, this command's own ancestors) is seen here.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLIM_KIN_COMMAND_BYTES = 400, PLIM_KIN_PROGRAM_BYTES = 64 };

/* Identity is (pid, start_ticks): pids are reused. */
struct plim_kin {
    int64_t pid, parent;
    uint64_t start_ticks; /* since boot */
    int64_t uid, effective_uid;
    char state;        /* as /proc has it: 'R' 'S' 'D' 'T' 'Z' */
    int32_t n_threads; /* of state 'Z' more than one: only the main thread has ended */
    bool is_kernel;
    bool is_nested; /* of a pid namespace below the one that /proc shows: it runs in a container */
    char command[PLIM_KIN_COMMAND_BYTES]; /* words parted by a space, the beginning; "" if it has none or is defunct */
};

struct plim_kinship {
    struct plim_kin *kin; /* by pid */
    size_t n;
};

/* root: NULL is "/". Processes that end meanwhile, or may not be read, are left out. */
int plim_kinship_read(const char *root, struct plim_kinship *ret_kinship, struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_kinship_done(struct plim_kinship *kinship);

/* NULL: there is no such process. */
const struct plim_kin *plim_kinship_find(const struct plim_kinship *kinship, int64_t pid);

/* The parent, if it is older than its child: else its number has a new owner. */
const struct plim_kin *plim_kinship_parent(const struct plim_kinship *kinship, const struct plim_kin *kin);

/* True when `ancestor` is the parent of the process `pid`, or one of its parent: whatever their ages say, to be safe.
 */
bool plim_kinship_descends(const struct plim_kinship *kinship, int64_t pid, int64_t ancestor);

/* The file name of its program, without a sign behind it ("systemd:" of a process title). Returns name. */
const char *plim_kin_program(const struct plim_kin *kin, char name[PLIM_KIN_PROGRAM_BYTES]);

/* One process as it is now. False: it has ended, or may not be read. */
bool plim_kin_read(const char *root, int64_t pid, struct plim_kin *ret_kin);

#endif
