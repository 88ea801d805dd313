/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_STEP_FILE_H
#define PLIMSOLL_STEP_FILE_H

/* The file of a step: compact, with a version and a check sum. docs/internals/step.md is its specification. */

#include "base/cursor.h"
#include "base/error.h"
#include "step/step.h"

enum { PLIM_STEP_MAGIC_BYTES = 8, PLIM_STEP_FILE_VERSION = 2, PLIM_STEP_FIRST_VERSION = 1 };

/* A byte that no text has, and a line feed that a transfer as text would change. */
extern const unsigned char plim_step_magic[PLIM_STEP_MAGIC_BYTES];

/* Freed with plim_step_done(). */
int plim_step_read(const char *path, struct plim_step *ret_step, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The same from bytes that are at hand, or come in windows; a step is all of them. */
int plim_step_read_bytes(struct plim_cursor *cursor, struct plim_step *ret_step,
                         struct plim_error *reterr) PLIM_MUST_CHECK;

/* All of the file or nothing: what was there before stays until the new one is whole. */
int plim_step_write(const char *path, const struct plim_step *step, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The bytes of the file, freed with plim_free(). A step that breaks the rules of step.h is PLIM_E_INTERNAL. */
int plim_step_encode(const struct plim_step *step, unsigned char **ret_bytes, size_t *ret_n_bytes,
                     struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
