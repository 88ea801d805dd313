/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_GGUF_WRITER_H
#define PLIMSOLL_TESTS_GGUF_WRITER_H

/*
 * GGUF files in memory for tests: metadata and tensor descriptions without the data, version 3, little-endian.
 *
 *     struct gguf_writer w = { 0 };
 *     gguf_add_string(&w, "general.architecture", "llama");
 *     gguf_add_tensor(&w, "token_embd.weight", PLIM_DTYPE_F16, 4096, 32000, 1);
 *     struct plim_model *model = gguf_model(&w);
 *     gguf_writer_done(&w);
 *
 * Anything that goes wrong here is the test's fault and ends it.
 */

#include "plimsoll/dtype.h"
#include "plimsoll/model.h"

#include <stddef.h>
#include <stdint.h>

struct gguf_bytes {
    unsigned char *data;
    size_t size, capacity;
};

struct gguf_writer {
    struct gguf_bytes keys, tensors, file;
    uint64_t n_keys, n_tensors;
    uint64_t alignment;  /* of the data; 0: 32. gguf_add_u32() of "general.alignment" sets it */
    uint64_t data_bytes; /* of all tensors with padding */
};

void gguf_add_u32(struct gguf_writer *w, const char *key, uint32_t value);
void gguf_add_f32(struct gguf_writer *w, const char *key, float value);
void gguf_add_string(struct gguf_writer *w, const char *key, const char *value);
void gguf_add_u32s(struct gguf_writer *w, const char *key, const uint32_t *values, size_t n);

/* Dimensions beyond the last one that is not 1 are left out, as converters do. The alignment must be set before. */
void gguf_add_tensor(struct gguf_writer *w, const char *name, enum plim_dtype type, uint64_t ne0, uint64_t ne1,
                     uint64_t ne2);

/* The file up to its data; *ret_file_bytes counts the data too. Lives until gguf_writer_done(). */
const void *gguf_header(struct gguf_writer *w, uint64_t *ret_header_bytes, uint64_t *ret_file_bytes);

/* The model the library reads from it; fails the test when it does not. */
struct plim_model *gguf_model(struct gguf_writer *w);

void gguf_writer_done(struct gguf_writer *w);

#endif
