/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_CHECKPOINT_H
#define PLIMSOLL_EMIT_CHECKPOINT_H

/* A checkpoint without its weights: the header of the one safetensors file that holds all tensors of a model. */

#include "base/error.h"
#include "plimsoll/model.h"

#include <stddef.h>
#include <stdint.h>

struct plim_checkpoint_head {
    char *bytes; /* the eight bytes of the length, then the header */
    uint64_t n_bytes, file_bytes;
};

/*
 * Write the header for the tensors of this model, which must be those that a config.json implies: their names need no
 * escapes, their types have names in safetensors, and their data follows each other in order. After success or failure,
 * plim_checkpoint_head_done().
 */
int plim_checkpoint_head_write(const struct plim_model *model, struct plim_checkpoint_head *ret_head,
                               struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_checkpoint_head_done(struct plim_checkpoint_head *head);

#endif
