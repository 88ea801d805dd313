/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_H
#define PLIMSOLL_MODEL_H

/*
 * A model: what a model file says of itself. Architecture, metadata and the list of tensors; never the weights.
 *
 * A struct plim_model is read once and does not change afterwards; it keeps no file open and may be shared by threads.
 * Strings it hands out live as long as it does.
 */

#include "plimsoll/dtype.h"
#include "plimsoll/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct plim_model;

/* What kind of file it is: only a PLIM_MODEL_LANGUAGE (or one we do not know) runs by itself. */
enum plim_model_kind {
    PLIM_MODEL_UNKNOWN = 0,
    PLIM_MODEL_LANGUAGE,
    PLIM_MODEL_PROJECTOR, /* mmproj: the vision or audio encoder beside a language model */
    PLIM_MODEL_ADAPTER,   /* LoRA */
    PLIM_MODEL_DRAFT,     /* a draft head that needs its target model (EAGLE-3, DFlash ...) */
    PLIM_MODEL_MAX_
};

struct plim_tensor {
    const char *name;
    uint64_t ne[4];   /* elements per dimension, innermost first; 1 beyond n_dims */
    uint64_t bytes;   /* of the data */
    uint64_t offset;  /* of the data, from the start of the data section of its file */
    uint64_t info_at; /* where its description stands in the header */
    uint32_t n_dims;
    enum plim_dtype type;
    uint32_t shard; /* which file of a split model, from 0 */
};

/*
 * Read the header of a GGUF file (version 2 or 3, either byte order). The other files of a split model
 * ("-00001-of-00003") are found beside it and read too, whichever of them is named.
 *
 * Errors name the file, the tensor or key, and the byte offset. Format: ggml docs/gguf.md and src/gguf.cpp at d99724f.
 */
int plim_model_open(const char *path, struct plim_model **ret_model, struct plim_error *reterr);

/* The same from bytes in memory (one file); file_bytes is the size of the whole file, data_bytes what is given of it.
 */
int plim_model_read(const void *data, uint64_t data_bytes, uint64_t file_bytes, struct plim_model **ret_model,
                    struct plim_error *reterr);

/* Free a model; NULL is fine. Returns NULL. */
struct plim_model *plim_model_free(struct plim_model *model);

enum plim_model_kind plim_model_kind(const struct plim_model *model);
const char *
plim_model_path(const struct plim_model *model); /* as given to plim_model_open(); "" when read from memory */
const char *plim_model_name(const struct plim_model *model);      /* general.name, else the file name, else "" */
const char *plim_model_arch(const struct plim_model *model);      /* general.architecture */
const char *plim_model_file_type(const struct plim_model *model); /* "Q4_K_M"; NULL when the file does not say */

uint64_t plim_model_n_params(const struct plim_model *model);     /* elements of all tensors */
uint64_t plim_model_tensor_bytes(const struct plim_model *model); /* data of all tensors */
uint64_t plim_model_file_bytes(const struct plim_model *model);   /* all files */
uint32_t plim_model_n_shards(const struct plim_model *model);
const struct plim_tensor *plim_model_tensors(const struct plim_model *model, size_t *ret_n);

/* The tensor of this name, or NULL. */
const struct plim_tensor *plim_model_tensor(const struct plim_model *model, const char *name);

/*
 * Metadata. A key that is absent, or has a type that does not convert, gives false (or NULL, or 0): numbers convert
 * when the value is exact. Keys are looked up under their full name ("llama.context_length").
 */
bool plim_model_u64(const struct plim_model *model, const char *key, uint64_t *ret_value);
bool plim_model_f64(const struct plim_model *model, const char *key, double *ret_value);
bool plim_model_bool(const struct plim_model *model, const char *key, bool *ret_value);
const char *plim_model_string(const struct plim_model *model, const char *key);

/* Elements in an array value, also of arrays too long to be kept (vocabularies); 0 when it is not an array. */
uint64_t plim_model_array_length(const struct plim_model *model, const char *key);

/* Copy up to max numbers of an array value; returns how many were there to copy (0 for strings and long arrays). */
size_t plim_model_array(const struct plim_model *model, const char *key, int64_t *ret_values, size_t max);

#ifdef __cplusplus
}
#endif

#endif
