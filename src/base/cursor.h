/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_CURSOR_H
#define PLIMSOLL_BASE_CURSOR_H

/*
 * A bounds-checked reader over bytes in memory. The first read past the end fails, records where, and every later read
 * fails too: a parser may read a whole record and check once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_cursor {
    const unsigned char *data;
    uint64_t size;
    uint64_t at;
    bool big_endian;
    bool failed;
    uint64_t failed_at;   /* where the read that failed began */
    uint64_t failed_need; /* and how many bytes it wanted */
};

static inline struct plim_cursor plim_cursor(const void *data, uint64_t size)
{
    return (struct plim_cursor){ .data = data, .size = size };
}

static inline uint64_t plim_cursor_left(const struct plim_cursor *c) { return c->size - c->at; }

/* Claim n bytes and step over them; false (and failed) when fewer are left. */
static inline bool plim_cursor_take(struct plim_cursor *c, uint64_t n, const unsigned char **ret_start)
{
    if (c->failed || n > c->size - c->at) {
        if (!c->failed) {
            c->failed = true;
            c->failed_at = c->at;
            c->failed_need = n;
        }
        return false;
    }
    if (ret_start)
        *ret_start = c->data + c->at;
    c->at += n;
    return true;
}

static inline uint64_t plim_cursor_uint(struct plim_cursor *c, unsigned n_bytes)
{
    const unsigned char *p;
    uint64_t value = 0;
    if (!plim_cursor_take(c, n_bytes, &p))
        return 0;
    for (unsigned i = 0; i < n_bytes; i++)
        value |= (uint64_t)p[i] << 8 * (c->big_endian ? n_bytes - 1 - i : i);
    return value;
}

static inline uint32_t plim_cursor_u32(struct plim_cursor *c) { return (uint32_t)plim_cursor_uint(c, 4); }
static inline uint64_t plim_cursor_u64(struct plim_cursor *c) { return plim_cursor_uint(c, 8); }

#endif
