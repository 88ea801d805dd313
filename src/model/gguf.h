/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_MODEL_GGUF_H
#define PLIMSOLL_MODEL_GGUF_H

/* GGUF: one file (gguf.c), and the model in one or several of them (gguf_model.c). */

#include "base/cursor.h"
#include "model/model_impl.h"

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

/* One file as the reader found it; everything lives in the model it was read for. */
struct plim_gguf_file {
    struct plim_key *keys; /* sorted by name */
    size_t n_keys;
    uint64_t data_at; /* where the data section begins */
};

/*
 * Read the header of a file of file_bytes, of which the cursor reads at least the start. Its tensors are added to the
 * model; the meaning of its keys is left to the caller.
 */
int plim_gguf_parse(struct plim_cursor cursor, uint64_t file_bytes, struct plim_model *model,
                    struct plim_gguf_file *ret_file, struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill a new model from a file and the other parts of its split. */
int plim_gguf_open(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

/* The same from one file in memory. */
int plim_gguf_read(struct plim_model *model, struct plim_cursor cursor, uint64_t file_bytes,
                   struct plim_error *reterr) PLIM_MUST_CHECK;

/* Fill the rest of a model whose tensors and sorted keys are there: what the keys mean, and the index of tensors. */
int plim_gguf_settle(struct plim_model *model, const char *path, struct plim_error *reterr) PLIM_MUST_CHECK;

#endif
