/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PROCESSES_NESTED_H
#define PLIMSOLL_REHEARSE_PROCESSES_NESTED_H

/*
 * Processes of the rehearsal in pid namespaces below ours. Those of one namespace cannot see whether those of another
 * still live, and so not free what they held; we see all of them, and note their end in the ledger.
 */

#include "rehearse/processes/tree.h"
#include "vgpu/core/ledger.h"

struct plim_nested {
    uint64_t pid_namespace; /* ours */
    struct {
        int pid;                     /* as the ledger has it */
        struct plim_process process; /* as we see it; pid 0: not yet */
    } slot[PLIM_LEDGER_MAX_PROCESSES];
};

/* To be called after each scan of the tree. One that lives for less than a scan is not seen, and stays. */
void plim_nested_look(struct plim_nested *nested, const struct plim_tree *tree, struct plim_ledger *ledger);

#endif
