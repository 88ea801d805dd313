/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_CONVERT_H
#define PLIMSOLL_CONVERT_H

/*
 * From a config to the GGUF it becomes: the tensors and the metadata of the file that llama.cpp's
 * convert_hf_to_gguf.py writes of a checkpoint, without the checkpoint. plim_model_requantize() then gives the types of
 * a recipe.
 *
 * The rules are those of llama.cpp v0.5.0; docs/internals/convert.md lists the architectures.
 */

#include "plimsoll/error.h"
#include "plimsoll/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The file that is asked for: a model that sees or hears becomes two. */
enum plim_convert_part {
    PLIM_CONVERT_LANGUAGE = 0,
    PLIM_CONVERT_PROJECTOR, /* mmproj */
    PLIM_CONVERT_PART_MAX_
};

struct plim_convert_options {
    enum plim_convert_part part;
    enum plim_dtype type;    /* of the matrices: F16, BF16 or F32; PLIM_DTYPE_UNKNOWN: that of the checkpoint */
    bool without_prediction; /* leave the layers for multi-token prediction out (--no-mtp) */
};

/*
 * The GGUF model that becomes of `config`: a model of PLIM_FORMAT_HF_CONFIG, or of PLIM_FORMAT_SAFETENSORS with its
 * config, whose tensors then decide what a config leaves open. The result stands on its own and is freed with
 * plim_model_free(); its tensors are in the order of llama-quantize, its vocabulary has a length and no tokens, and
 * plim_model_forecast() says how far it can be trusted. NULL options are zeros.
 *
 * Fails with PLIM_E_UNSUPPORTED for an architecture without rules or a model without such a part, PLIM_E_CORRUPT for a
 * config that lacks a number or has an impossible one; the error names the key.
 */
int plim_convert(const struct plim_model *config, const struct plim_convert_options *options,
                 struct plim_model **ret_gguf, struct plim_error *reterr);

/* An architecture that has rules, by its name in "architectures". */
struct plim_convert_architecture {
    const char *name;      /* "Qwen3ForCausalLM" */
    const char *gguf_arch; /* "qwen3"; "clip" for projectors */
    const char *source;    /* the class of the converter, with its file */
    bool is_projector;
    bool is_proven; /* compared tensor by tensor with what the converter writes */
};

/* The i-th architecture; false past the last. */
bool plim_convert_architecture_at(size_t i, struct plim_convert_architecture *ret_architecture);

#ifdef __cplusplus
}
#endif

#endif
