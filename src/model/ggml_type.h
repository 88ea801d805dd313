/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_GGML_TYPE_H
#define PLIMSOLL_MODEL_GGML_TYPE_H

/* ggml's numbering: type ids of tensors and "file types" (the quantisation of a whole file) as GGUF stores them. */

#include "plimsoll/dtype.h"

#include <stdint.h>

/* The type of a ggml id; PLIM_DTYPE_UNKNOWN for ids ggml does not have (now). */
enum plim_dtype plim_dtype_from_ggml(uint32_t ggml_id);

/* The name of a type ggml has removed, NULL for any other id. */
const char *plim_ggml_removed_type(uint32_t ggml_id);

/* "Q4_K_M" for general.file_type 15 and so on (llama.h: enum llama_ftype); NULL when unknown. */
const char *plim_gguf_file_type_name(uint32_t file_type);

#endif
