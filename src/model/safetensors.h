/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_SAFETENSORS_H
#define PLIMSOLL_MODEL_SAFETENSORS_H

/*
 * The headers of safetensors files and of their index: names, types, shapes and places of tensors, never the weights.
 */

#include "base/cursor.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_safetensor {
    const char *name;
    const char *type;                          /* "BF16" */
    uint64_t shape[PLIM_MAX_SAFETENSORS_DIMS]; /* outermost first */
    uint64_t begin, end;                       /* of the data, from the end of the header */
    uint64_t at;                               /* where its name stands in the file */
    uint32_t n_dims;
    bool has_type, has_shape, has_offsets;
};

struct plim_safetensors {
    struct plim_arena arena; /* of the names */
    struct plim_safetensor *tensors;
    size_t n_tensors;
    uint64_t header_bytes; /* with the eight bytes of its length: the data begins here */
    uint64_t file_bytes;
};

/*
 * Read the header of a file of file_bytes, of which the cursor reads at least the start. What the format demands is
 * demanded: the data of the tensors follow each other without gaps and end where the file does; no name is there twice.
 * After success or failure, plim_safetensors_done().
 */
int plim_safetensors_read(struct plim_cursor cursor, uint64_t file_bytes, struct plim_safetensors *ret_header,
                          struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_safetensors_done(struct plim_safetensors *header);

/* Bits of one element of this type ("BF16": 16), 0 when the format has no such type. */
unsigned plim_safetensors_type_bits(const char *type);

/* The files that a model.safetensors.index.json names, each once, in their order. Names are plain: no folders. */
struct plim_safetensors_index {
    struct plim_arena arena;
    const char *files[PLIM_MAX_SAFETENSORS_FILES];
    size_t n_files;
};

/* After success or failure, plim_safetensors_index_done(). */
int plim_safetensors_index_read(struct plim_cursor cursor, struct plim_safetensors_index *ret_index,
                                struct plim_error *reterr) PLIM_MUST_CHECK;
void plim_safetensors_index_done(struct plim_safetensors_index *index);

#endif
