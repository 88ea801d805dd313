/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DTYPE_H
#define PLIMSOLL_DTYPE_H

/* Element types of tensors: how many bytes a row of them takes. */

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plim_dtype {
    PLIM_DTYPE_UNKNOWN = 0,
    PLIM_DTYPE_F32,
    PLIM_DTYPE_F16,
    PLIM_DTYPE_BF16,
    PLIM_DTYPE_F64,
    PLIM_DTYPE_I8,
    PLIM_DTYPE_I16,
    PLIM_DTYPE_I32,
    PLIM_DTYPE_I64,
    PLIM_DTYPE_Q4_0,
    PLIM_DTYPE_Q4_1,
    PLIM_DTYPE_Q5_0,
    PLIM_DTYPE_Q5_1,
    PLIM_DTYPE_Q8_0,
    PLIM_DTYPE_Q8_1,
    PLIM_DTYPE_Q2_K,
    PLIM_DTYPE_Q3_K,
    PLIM_DTYPE_Q4_K,
    PLIM_DTYPE_Q5_K,
    PLIM_DTYPE_Q6_K,
    PLIM_DTYPE_Q8_K,
    PLIM_DTYPE_IQ1_S,
    PLIM_DTYPE_IQ1_M,
    PLIM_DTYPE_IQ2_XXS,
    PLIM_DTYPE_IQ2_XS,
    PLIM_DTYPE_IQ2_S,
    PLIM_DTYPE_IQ3_XXS,
    PLIM_DTYPE_IQ3_S,
    PLIM_DTYPE_IQ4_NL,
    PLIM_DTYPE_IQ4_XS,
    PLIM_DTYPE_TQ1_0,
    PLIM_DTYPE_TQ2_0,
    PLIM_DTYPE_MXFP4,
    PLIM_DTYPE_NVFP4,
    PLIM_DTYPE_Q1_0,
    PLIM_DTYPE_Q2_0,
    PLIM_DTYPE_MAX_
};

/* The engine's own lower-case name ("q4_K", "f16"); "unknown" for anything else. */
const char *plim_dtype_name(enum plim_dtype type);

/* The type of this name, in any case ("Q8_0", "q8_0"); PLIM_DTYPE_UNKNOWN if there is none. */
enum plim_dtype plim_dtype_named(const char *name);

/* Elements in one block and bytes it takes (1 element for plain types). */
uint32_t plim_dtype_block_elements(enum plim_dtype type);
uint32_t plim_dtype_block_bytes(enum plim_dtype type);

/* True for block types, whose rows llama.cpp pads on CUDA. */
bool plim_dtype_is_quantized(enum plim_dtype type);

/* Bytes of a row of n elements; n must be a multiple of the block (ggml.c: ggml_row_size). */
uint64_t plim_dtype_row_bytes(enum plim_dtype type, uint64_t n_elements);

#ifdef __cplusplus
}
#endif

#endif
