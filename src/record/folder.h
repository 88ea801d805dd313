/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_RECORD_FOLDER_H
#define PLIMSOLL_RECORD_FOLDER_H

/*
 * The private folder of a recording: the start-up hook (hook/sitecustomize.py), which each Python of the program finds
 * through its environment, and what the hook writes. It is removed with the recording, or by the next one
 * (leftovers.h); nothing else is written.
 */

#include "base/error.h"
#include "base/mem.h"

#include <stdint.h>

enum { PLIM_RECORD_PATH_BYTES = 4096 };

struct plim_record_wish {
    uint32_t n_steps; /* the recording is whole after so many steps of an optimizer; 0: when the program ends */
};

struct plim_record_folder {
    char path[PLIM_RECORD_PATH_BYTES];
    int lock; /* of leftovers.h; with a path */
    struct plim_arena arena;
    char **environment; /* the program's; NULL-terminated */
};

PLIM_MUST_CHECK int plim_record_folder_make(const struct plim_record_wish *wish, char *const *environment,
                                            struct plim_record_folder *ret_folder, struct plim_error *reterr);

/* With all that is in it. Also of a folder that could not be made. */
void plim_record_folder_remove(struct plim_record_folder *folder);

#endif
