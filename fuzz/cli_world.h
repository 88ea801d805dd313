/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_FUZZ_CLI_WORLD_H
#define PLIMSOLL_FUZZ_CLI_WORLD_H

/* A small file system for whole commands: models, parts, checkpoints, logs, odd names, in a folder of its own. */

#include <stddef.h>
#include <stdint.h>

/* Make the folder and go there; it is removed when the process ends. */
void cli_world_make(void);

/* Go there, and back to the folder that the fuzzer was started in. */
void cli_world_enter(void);
void cli_world_leave(void);

/* The first state again. */
void cli_world_reset(void);

/* A file with this content, in the place of one with the same name. */
void cli_world_put(const char *name, const void *bytes, size_t size);

/* The same, and again at each reset. */
void cli_world_keep(const char *name, const void *bytes, size_t size);

/* Entries in the folder and in the folders below; and the bytes that they take on the disk. */
size_t cli_world_count(uint64_t *ret_bytes);

#endif
