/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_GGML_BUFFER_H
#define PLIMSOLL_ENGINE_GGML_BUFFER_H

/*
 * The memory that a tensor takes in a buffer beside its own bytes.
 * Source: ggml-cuda.cu (ggml_backend_cuda_buffer_type_get_alignment, _get_alloc_size, MATRIX_ROW_PADDING) and ggml.h
 * (TENSOR_ALIGNMENT, for memory of the host) of llama.cpp v0.5.0.
 */

#include "model/dtype_row.h"

enum { PLIM_CUDA_ALIGNMENT = 128, PLIM_HOST_ALIGNMENT = 32, PLIM_ROW_PADDING = 512 };

/* CUDA pads the last row of a quantized tensor to a multiple of 512 elements. */
static inline uint64_t plim_row_padding_bytes(enum plim_dtype type, uint64_t n_elements)
{
    if (!plim_row_is_quantized(type) || n_elements % PLIM_ROW_PADDING == 0)
        return 0;
    return plim_row_bytes(type, PLIM_ROW_PADDING - n_elements % PLIM_ROW_PADDING);
}

#endif
