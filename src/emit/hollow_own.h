/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_HOLLOW_OWN_H
#define PLIMSOLL_EMIT_HOLLOW_OWN_H

/*
 * The files of a model, by identity: a hollow copy never replaces one of them, whatever path or link leads to it.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_hollow_own {
    struct plim_file_id {
        uint64_t device, inode;
    } * ids;
    size_t n, room;
};

/* A file of the model; one that is not there is none. */
int plim_hollow_own_add(struct plim_hollow_own *own, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/*
 * A file of a checkpoint, and the files in its folder that belong to it: weights under their usual names, those that
 * an index names, and what is read with them.
 */
int plim_hollow_own_add_beside(struct plim_hollow_own *own, const char *path,
                               struct plim_error *reterr) PLIM_MUST_CHECK;

bool plim_hollow_own_has(const struct plim_hollow_own *own, const char *path);

void plim_hollow_own_done(struct plim_hollow_own *own);

#endif
