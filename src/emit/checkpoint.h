/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_EMIT_CHECKPOINT_H
#define PLIMSOLL_EMIT_CHECKPOINT_H

/* The safetensors file that a config.json describes: its header, without the weights. */

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct plim_hf_checkpoint {
    char *head; /* the eight bytes of the length, then the header */
    uint64_t head_bytes, file_bytes;
    uint64_t n_tensors;
};

/*
 * Write the header of the checkpoint that this config.json is of, as transformers publishes them: names, shapes and
 * type of every tensor. An architecture whose rules are not known here is PLIM_E_UNSUPPORTED. After success or failure,
 * plim_hf_checkpoint_done().
 */
int plim_hf_checkpoint_describe(const void *config, size_t size, struct plim_hf_checkpoint *ret_checkpoint,
                                struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_hf_checkpoint_done(struct plim_hf_checkpoint *checkpoint);

#endif
