/* SPDX-License-Identifier: MIT */
#include "gguf_writer.h"

#include "model/ggml_type.h"
#include "model/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "gguf_writer: %s: %s\n", what, why);
    abort();
}

static void put(struct gguf_bytes *bytes, const void *data, size_t n)
{
    if (bytes->size + n > bytes->capacity) {
        bytes->capacity = 2 * (bytes->size + n);
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (!bytes->data)
            fail("realloc", "out of memory");
    }
    if (n)
        memcpy(bytes->data + bytes->size, data, n);
    bytes->size += n;
}

static void put_uint(struct gguf_bytes *bytes, uint64_t value, unsigned n_bytes)
{
    unsigned char text[8];
    for (unsigned i = 0; i < n_bytes; i++)
        text[i] = (unsigned char)(value >> 8 * i);
    put(bytes, text, n_bytes);
}

static void put_string(struct gguf_bytes *bytes, const char *text)
{
    put_uint(bytes, strlen(text), 8);
    put(bytes, text, strlen(text));
}

static void put_key(struct gguf_writer *w, const char *key, enum plim_gguf_type type)
{
    put_string(&w->keys, key);
    put_uint(&w->keys, type, 4);
    w->n_keys++;
}

void gguf_add_u32(struct gguf_writer *w, const char *key, uint32_t value)
{
    put_key(w, key, PLIM_GGUF_U32);
    put_uint(&w->keys, value, 4);
    if (!strcmp(key, "general.alignment"))
        w->alignment = value;
}

void gguf_add_f32(struct gguf_writer *w, const char *key, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_key(w, key, PLIM_GGUF_F32);
    put_uint(&w->keys, bits, 4);
}

void gguf_add_string(struct gguf_writer *w, const char *key, const char *value)
{
    put_key(w, key, PLIM_GGUF_STRING);
    put_string(&w->keys, value);
}

void gguf_add_u32s(struct gguf_writer *w, const char *key, const uint32_t *values, size_t n)
{
    put_key(w, key, PLIM_GGUF_ARRAY);
    put_uint(&w->keys, PLIM_GGUF_U32, 4);
    put_uint(&w->keys, n, 8);
    for (size_t i = 0; i < n; i++)
        put_uint(&w->keys, values[i], 4);
}

static uint32_t ggml_id(enum plim_dtype type)
{
    enum { GGML_TYPES = 64 };
    for (uint32_t id = 0; id < GGML_TYPES; id++)
        if (plim_dtype_from_ggml(id) == type)
            return id;
    fail(plim_dtype_name(type), "not a type of ggml");
    return 0;
}

void gguf_add_tensor(struct gguf_writer *w, const char *name, enum plim_dtype type, uint64_t ne0, uint64_t ne1,
                     uint64_t ne2)
{
    const uint64_t ne[] = { ne0, ne1, ne2 }, alignment = w->alignment ? w->alignment : 32;
    const unsigned n_dims = ne2 != 1 ? 3 : ne1 != 1 ? 2 : 1;
    const uint64_t bytes = plim_dtype_row_bytes(type, ne0) * ne1 * ne2;
    put_string(&w->tensors, name);
    put_uint(&w->tensors, n_dims, 4);
    for (unsigned i = 0; i < n_dims; i++)
        put_uint(&w->tensors, ne[i], 8);
    put_uint(&w->tensors, ggml_id(type), 4);
    put_uint(&w->tensors, w->data_bytes, 8);
    w->data_bytes += (bytes + alignment - 1) / alignment * alignment;
    w->n_tensors++;
}

const void *gguf_header(struct gguf_writer *w, uint64_t *ret_header_bytes, uint64_t *ret_file_bytes)
{
    const uint64_t alignment = w->alignment ? w->alignment : 32;
    w->file.size = 0;
    put(&w->file, "GGUF", 4);
    put_uint(&w->file, 3, 4);
    put_uint(&w->file, w->n_tensors, 8);
    put_uint(&w->file, w->n_keys, 8);
    put(&w->file, w->keys.data, w->keys.size);
    put(&w->file, w->tensors.data, w->tensors.size);
    while (w->file.size % alignment)
        put_uint(&w->file, 0, 1);
    *ret_header_bytes = w->file.size;
    *ret_file_bytes = w->file.size + w->data_bytes;
    return w->file.data;
}

struct plim_model *gguf_model(struct gguf_writer *w)
{
    struct plim_error err = { 0 };
    struct plim_model *model = NULL;
    uint64_t header_bytes, file_bytes;
    const void *header = gguf_header(w, &header_bytes, &file_bytes);
    if (plim_model_read(header, header_bytes, file_bytes, &model, &err) < 0)
        fail("plim_model_read", err.what);
    return model;
}

void gguf_writer_done(struct gguf_writer *w)
{
    free(w->keys.data);
    free(w->tensors.data);
    free(w->file.data);
    memset(w, 0, sizeof *w);
}
