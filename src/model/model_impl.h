/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_MODEL_IMPL_H
#define PLIMSOLL_MODEL_MODEL_IMPL_H

/* What a struct plim_model is made of, and how the readers fill it. */

#include "base/cursor.h"
#include "base/error.h"
#include "base/mem.h"
#include "plimsoll/model.h"

/* GGUF value types (ggml gguf.h: enum gguf_type). */
enum plim_gguf_type {
    PLIM_GGUF_U8,
    PLIM_GGUF_I8,
    PLIM_GGUF_U16,
    PLIM_GGUF_I16,
    PLIM_GGUF_U32,
    PLIM_GGUF_I32,
    PLIM_GGUF_F32,
    PLIM_GGUF_BOOL,
    PLIM_GGUF_STRING,
    PLIM_GGUF_ARRAY,
    PLIM_GGUF_U64,
    PLIM_GGUF_I64,
    PLIM_GGUF_F64,
    PLIM_GGUF_TYPE_MAX_
};

struct plim_key {
    const char *name;
    uint64_t at;  /* where in the file the key stands */
    uint64_t n;   /* elements of an array */
    uint8_t type; /* enum plim_gguf_type */
    uint8_t item; /* element type of an array */
    union {
        uint64_t u; /* unsigned, bool */
        int64_t i;  /* signed */
        double f;
        const char *string;     /* NULL when too long to keep */
        const int64_t *numbers; /* integer and bool arrays; NULL for others and for those too long to keep */
    };
};

struct plim_model {
    struct plim_arena arena;
    const char *path, *name, *arch;
    enum plim_model_kind kind;
    uint32_t n_shards;
    uint64_t n_params, tensor_bytes, file_bytes;

    struct plim_key *keys; /* sorted by name */
    size_t n_keys;
    struct plim_tensor *tensors;        /* in file order */
    const struct plim_tensor **by_name; /* the same, sorted by name */
    size_t n_tensors;
};

/* One GGUF file as the reader found it; everything lives in the arena it was given. */
struct plim_gguf_file {
    struct plim_key *keys; /* sorted by name */
    size_t n_keys;
    struct plim_tensor *tensors; /* in file order */
    size_t n_tensors;
    uint64_t data_at; /* where the data section begins */
};

/* Read the header of a file of file_bytes, of which the cursor reads at least the start. */
int plim_gguf_parse(struct plim_cursor cursor, uint64_t file_bytes, struct plim_arena *arena,
                    struct plim_gguf_file *ret_file, struct plim_error *reterr) PLIM_MUST_CHECK;

/* A model of this path without keys and tensors, or NULL; freed with plim_model_free(). */
struct plim_model *plim_model_new(const char *path);

/* Fill what follows from the tensors: by_name and the sums. Fails when two have one name. */
int plim_model_index(struct plim_model *model, struct plim_error *reterr) PLIM_MUST_CHECK;

const struct plim_key *plim_key_find(const struct plim_key *keys, size_t n_keys, const char *name);

/* A key's value as an unsigned integer, when it is one exactly. */
bool plim_key_u64(const struct plim_key *key, uint64_t *ret_value);

#endif
