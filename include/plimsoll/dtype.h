/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_DTYPE_H
#define PLIMSOLL_DTYPE_H

/*
 * Element types of tensors: how many bytes a row of them takes. Those of ggml, of safetensors and PyTorch, and the
 * packed forms in which quantizers store weights there.
 *
 * A packed form names the content of a tensor whose own type is only storage: GPTQ and AWQ write int32, bitsandbytes
 * and NVIDIA's ModelOpt uint8. Scales and zero points are tensors of their own there; in ggml's blocks they are
 * included.
 */

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
    PLIM_DTYPE_MXFP4, /* blocks of 32 with an e8m0 scale: 4.25 bits, as in OCP's MX format */
    PLIM_DTYPE_NVFP4, /* blocks of 16 with an e4m3 scale, four together: 4.5 bits */
    PLIM_DTYPE_Q1_0,
    PLIM_DTYPE_Q2_0,
    /* types that ggml lacks */
    PLIM_DTYPE_BOOL,
    PLIM_DTYPE_U8,
    PLIM_DTYPE_U16,
    PLIM_DTYPE_U32,
    PLIM_DTYPE_U64,
    PLIM_DTYPE_C64,     /* complex: two f32 */
    PLIM_DTYPE_C128,    /* two f64 */
    PLIM_DTYPE_F8_E4M3, /* without infinities (fn): NVIDIA's and OCP's */
    PLIM_DTYPE_F8_E5M2,
    PLIM_DTYPE_F8_E4M3FNUZ, /* AMD's, with another bias */
    PLIM_DTYPE_F8_E5M2FNUZ,
    PLIM_DTYPE_F8_E8M0, /* powers of two: the scales of MX formats */
    PLIM_DTYPE_F6_E2M3,
    PLIM_DTYPE_F6_E3M2,
    PLIM_DTYPE_F4_E2M1, /* two in a byte */
    /* packed forms */
    PLIM_DTYPE_NF4, /* bitsandbytes: two in a byte */
    PLIM_DTYPE_FP4,
    PLIM_DTYPE_INT4, /* two in a byte */
    PLIM_DTYPE_UINT4,
    PLIM_DTYPE_INT4_X8, /* GPTQ, AWQ, compressed-tensors: eight in an int32 */
    PLIM_DTYPE_INT8_X4, /* four in an int32 */
    PLIM_DTYPE_MAX_
};

/* ggml's name ("q4_K", "f16"), or one like it for a type that ggml does not have ("f8_e4m3"); else "unknown". */
const char *plim_dtype_name(enum plim_dtype type);

/* The names in a safetensors header ("F8_E4M3") and in PyTorch ("float8_e4m3fn"); NULL when it has no such type. */
const char *plim_dtype_safetensors_name(enum plim_dtype type);
const char *plim_dtype_torch_name(enum plim_dtype type);

/* The type that has this name in ggml, safetensors or PyTorch, in any case; else PLIM_DTYPE_UNKNOWN. */
enum plim_dtype plim_dtype_named(const char *name);

/* Elements in one block and bytes it takes (1 element for plain types). */
uint32_t plim_dtype_block_elements(enum plim_dtype type);
uint32_t plim_dtype_block_bytes(enum plim_dtype type);

/* True for types of which several elements share bytes. */
bool plim_dtype_is_quantized(enum plim_dtype type);

/* Bytes of a row of n elements; n must be a multiple of the block (ggml.c: ggml_row_size). */
uint64_t plim_dtype_row_bytes(enum plim_dtype type, uint64_t n_elements);

#ifdef __cplusplus
}
#endif

#endif
