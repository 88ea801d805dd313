/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_REHEARSE_COMMAND_H
#define PLIMSOLL_REHEARSE_COMMAND_H

/* The program of a rehearsal, looked at before it runs: can the virtual libraries take their place in it? */

#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Where a command lies: itself when it has a slash, else in a folder of path (as $PATH). */
int plim_command_find(const char *command, const char *path, char *ret_path, size_t size, struct plim_error *reterr);

/*
 * Fails with PLIM_E_UNSUPPORTED for an ELF file of another machine, and for one with GPU code in it but no dynamic CUDA
 * runtime: there the runtime is linked statically. Scripts pass.
 */
int plim_command_check(const char *path, struct plim_error *reterr);

#endif
