/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_ENGINE_LLAMACPP_LLAMA_H
#define PLIMSOLL_ENGINE_LLAMACPP_LLAMA_H

/*
 * A model made ready for llama.cpp's rules: its hyperparameters, where each tensor belongs, and sums that let a bill
 * be written without walking the tensors again. Made once per model; a bill changes nothing in it.
 */

#include "base/units.h"
#include "engine/ggml/buffer.h"
#include "engine/llamacpp/epoch.h"
#include "engine/llamacpp/hparams.h"
#include "engine/llamacpp/roles.h"

/* The buffer list that a tensor is drawn from (llama-arch.cpp: LLM_TENSOR_INFOS): a layer number, or one of these. */
enum {
    PLIM_SLOT_INPUT = -1,  /* always on the CPU */
    PLIM_SLOT_OUTPUT = -2, /* with the output layer */
    PLIM_SLOT_ROPE = -3,   /* one copy wherever there are layers */
    PLIM_SLOT_UNUSED = -4, /* in the file, not loaded */
};

enum plim_suffix { PLIM_WEIGHT, PLIM_BIAS, PLIM_SCALE, PLIM_SUFFIX_MAX_ };

struct plim_layer {
    int32_t tensor[PLIM_TENSOR_ROLE_MAX_][PLIM_SUFFIX_MAX_]; /* index into the model's tensors + 1; 0 is absent */
    uint64_t device_bytes;                                   /* of its tensors in a CUDA buffer */
    uint64_t host_bytes;                                     /* of its tensors in a host buffer */
    uint64_t expert_bytes;                                   /* the part of device_bytes that -cmoe moves */
    uint64_t first_byte, end_byte;                           /* span of its data in the file (of a model of one part) */
    uint16_t kind;                                           /* layers of one kind build the same graph */
    uint16_t types;                                          /* of one kind, and of tensors of the same types */
    bool attends, recurs;                                    /* has a cache of its own; has a state (memory.c) */
};

struct plim_llama {
    const struct plim_model *model;
    const struct plim_epoch *epoch; /* of the version that it is made ready for */
    struct plim_hparams hp;
    const struct plim_tensor *tensors;
    size_t n_tensors;
    int16_t *slot;            /* per tensor */
    bool *is_expert;          /* per tensor: moved by -cmoe */
    struct plim_layer *layer; /* n_layer_all of them */
    uint32_t *outside;        /* the tensors that belong to no layer, n_outside of them */
    size_t n_outside;
    int32_t global[PLIM_GLOBAL_MAX_][PLIM_SUFFIX_MAX_];
    bool is_tied; /* the token embedding is also the output */
    uint64_t output_device_bytes, rope_device_bytes;
    uint64_t quantized_width; /* widest input of a quantized matrix, counted once per expert a token uses */
    uint64_t float_width;     /* widest input and output together of a matrix in floating point */
    bool has_unmodelled;      /* tensors unknown to our rules: weights are a sum, not a placement */
};

/* llama.cpp reads GGUF only: PLIM_E_UNSUPPORTED for a model of another format. */
int plim_llama_check_format(const struct plim_model *model, struct plim_error *reterr);

/* The epoch has to live as long as the result. */
int plim_llama_new(const struct plim_model *model, const struct plim_epoch *epoch, struct plim_llama **ret_llama,
                   struct plim_error *reterr) PLIM_MUST_CHECK;
struct plim_llama *plim_llama_free(struct plim_llama *llama);

/* Bytes of a tensor in a CUDA buffer: padded rows of quantized ones, 128-byte steps (ggml-cuda.cu: get_alloc_size). */
static inline uint64_t plim_llama_device_bytes(const struct plim_tensor *tensor)
{
    return plim_align_up(tensor->bytes + plim_row_padding_bytes(tensor->type, tensor->ne[0]), PLIM_CUDA_ALIGNMENT);
}

/*
 * "blk.12.rest", "enc.blk.12.rest", "dec.blk.12.rest": the layer number and where the rest begins; -1 for other names,
 * *ret_rest is not written then.
 */
int plim_llama_layer_of_name(const char *name, const char **ret_rest);

/* True when CUDA has a kernel for this shape; else the CPU computes (ggml_backend_cuda_device_supports_op()). */
static inline bool plim_cuda_has_ssm_conv(uint64_t n_channels) { return n_channels % 128 == 0; }

/*
 * CUDA picks single rows of tensors of this type; without the newer kernels, those of b9842 (ggml-cuda.cu:
 * supports_op(), GGML_OP_GET_ROWS).
 */
static inline bool plim_cuda_gets_rows(const struct plim_epoch *epoch, enum plim_dtype type)
{
    switch (type) {
    case PLIM_DTYPE_F16:
    case PLIM_DTYPE_F32:
    case PLIM_DTYPE_BF16:
    case PLIM_DTYPE_I32:
    case PLIM_DTYPE_Q4_0:
    case PLIM_DTYPE_Q4_1:
    case PLIM_DTYPE_Q5_0:
    case PLIM_DTYPE_Q5_1:
    case PLIM_DTYPE_Q8_0:
        return true;
    default:
        return epoch->gets_quant_rows;
    }
}

/* width_a is 1 for Mamba-2, which has one decay per head. */
static inline bool plim_cuda_has_ssm_scan(uint64_t width_a, uint64_t n_state, uint64_t head, uint64_t n_head,
                                          uint64_t n_group)
{
    if (width_a == 1)
        return (n_state == 128 || n_state == 256) && head % 16 == 0;
    return n_state == 16 && head == 1 && n_head % 128 == 0 && n_group == 1;
}

/* The tensor in a role of a layer, or NULL. */
static inline const struct plim_tensor *plim_llama_layer_tensor(const struct plim_llama *llama, uint32_t il,
                                                                enum plim_tensor_role role, enum plim_suffix suffix)
{
    int32_t i = llama->layer[il].tensor[role][suffix];
    return i ? &llama->tensors[i - 1] : NULL;
}

/* The tensor in a role outside the layers, or NULL. */
static inline const struct plim_tensor *plim_llama_global_tensor(const struct plim_llama *llama, enum plim_global role,
                                                                 enum plim_suffix suffix)
{
    int32_t i = llama->global[role][suffix];
    return i ? &llama->tensors[i - 1] : NULL;
}

#endif
