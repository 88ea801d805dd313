/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_TESTS_RAW_GGUF_H
#define PLIMSOLL_TESTS_RAW_GGUF_H

/* GGUF bytes one by one, right or wrong, in either byte order (gguf_writer.h makes only files that are right). */

#include "model/gguf.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct raw {
    unsigned char bytes[1 << 14];
    uint64_t n;
    bool is_big_endian;
};

static inline void raw_uint(struct raw *r, uint64_t value, unsigned n_bytes)
{
    assert(r->n + n_bytes <= sizeof r->bytes);
    for (unsigned i = 0; i < n_bytes; i++)
        r->bytes[r->n++] = (unsigned char)(value >> 8 * (r->is_big_endian ? n_bytes - 1 - i : i));
}

static inline void raw_u32(struct raw *r, uint32_t value) { raw_uint(r, value, 4); }
static inline void raw_u64(struct raw *r, uint64_t value) { raw_uint(r, value, 8); }

static inline void raw_bytes(struct raw *r, const void *bytes, uint64_t n)
{
    assert(r->n + n <= sizeof r->bytes);
    memcpy(r->bytes + r->n, bytes, n);
    r->n += n;
}

static inline void raw_text(struct raw *r, const char *text)
{
    raw_u64(r, strlen(text));
    raw_bytes(r, text, strlen(text));
}

static inline void raw_start(struct raw *r, uint32_t version, uint64_t n_tensors, uint64_t n_keys)
{
    r->n = 0;
    raw_bytes(r, "GGUF", 4);
    raw_u32(r, version);
    raw_u64(r, n_tensors);
    raw_u64(r, n_keys);
}

/* Up to the value. Returns where the key stands. */
static inline uint64_t raw_key(struct raw *r, const char *name, uint32_t type)
{
    uint64_t at = r->n;
    raw_text(r, name);
    raw_u32(r, type);
    return at;
}

static inline uint64_t raw_string_key(struct raw *r, const char *name, const char *value)
{
    uint64_t at = raw_key(r, name, PLIM_GGUF_STRING);
    raw_text(r, value);
    return at;
}

static inline uint64_t raw_u32_key(struct raw *r, const char *name, uint32_t value)
{
    uint64_t at = raw_key(r, name, PLIM_GGUF_U32);
    raw_u32(r, value);
    return at;
}

/* The usual beginning: n_keys counts further keys than the architecture. */
static inline void raw_model(struct raw *r, uint64_t n_tensors, uint64_t n_keys)
{
    raw_start(r, 3, n_tensors, n_keys + 1);
    raw_string_key(r, "general.architecture", "llama");
}

static inline uint64_t raw_tensor(struct raw *r, const char *name, uint64_t ne0, uint64_t ne1, uint32_t type,
                                  uint64_t offset)
{
    uint64_t at = r->n;
    raw_text(r, name);
    raw_u32(r, 2);
    raw_u64(r, ne0);
    raw_u64(r, ne1);
    raw_u32(r, type);
    raw_u64(r, offset);
    return at;
}

#endif
