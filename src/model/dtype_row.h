/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_DTYPE_ROW_H
#define PLIMSOLL_MODEL_DTYPE_ROW_H

/* The table behind plimsoll/dtype.h, for code that asks it for every tensor of every graph. Types must be valid. */

#include "plimsoll/dtype.h"

struct plim_dtype_row {
    const char *name;
    uint16_t elements, bytes; /* of one block; elements is a power of two */
    int8_t ggml_id;           /* -1: ggml does not have it */
    const char *safetensors, *torch;
};

extern const struct plim_dtype_row plim_dtype_rows[PLIM_DTYPE_MAX_];

static inline bool plim_row_is_quantized(enum plim_dtype type) { return plim_dtype_rows[type].elements > 1; }

static inline uint64_t plim_row_bytes(enum plim_dtype type, uint64_t n_elements)
{
    const struct plim_dtype_row *row = &plim_dtype_rows[type];
    return (n_elements >> __builtin_ctz(row->elements)) * row->bytes;
}

#endif
