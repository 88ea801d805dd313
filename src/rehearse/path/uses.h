/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_PATH_USES_H
#define PLIMSOLL_REHEARSE_PATH_USES_H

/* What hung on a value that the program read back: by the functions that read it, and by the source of the program. */

#include "receipt/rehearsal.h"
#include "vgpu/core/ledger.h"

/* The place without where it is. `program`: the command's file of Python, or NULL. */
void plim_use_of(const struct plim_ledger_guess *guess, char *const *command, struct plim_rehearsal_place *ret_place);

/* "file:line function" in its parts. False: it is none. */
bool plim_use_frame(const char *frame, char *ret_file, size_t size, uint32_t *ret_line, const char **ret_function);

#endif
