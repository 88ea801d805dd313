/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_BASE_CURSOR_H
#define PLIMSOLL_BASE_CURSOR_H

/*
 * A bounds-checked reader over bytes in memory, or over a window of them that moves along a file. The first read past
 * the end fails, records where, and every later read fails too: a parser may read a whole record and check once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_cursor {
    const unsigned char *data; /* the bytes at hand: those from data_at up to data_end */
    uint64_t data_at, data_end;
    uint64_t size; /* of all there is */
    uint64_t at;
    /*
     * Bring the n bytes from `at` on to hand, at most PLIM_CURSOR_MOST of them; false when they cannot be had, and
     * then size says where they end. NULL: all bytes are at hand.
     */
    bool (*fill)(struct plim_cursor *c, uint64_t n);
    void *source;
    bool big_endian;
    bool failed;
    uint64_t failed_at;   /* where the read that failed began */
    uint64_t failed_need; /* and how many bytes it wanted */
    int error;            /* why, when it was no end but a failure to read: an errno */
};

enum { PLIM_CURSOR_MOST = 1 << 16 };

static inline struct plim_cursor plim_cursor(const void *data, uint64_t size)
{
    return (struct plim_cursor){ .data = data, .data_end = size, .size = size };
}

static inline uint64_t plim_cursor_left(const struct plim_cursor *c) { return c->size - c->at; }

static inline bool plim_cursor_fail(struct plim_cursor *c, uint64_t n)
{
    if (!c->failed) {
        c->failed = true;
        c->failed_at = c->at;
        c->failed_need = n;
    }
    return false;
}

/* Have the next n bytes at hand without stepping over them. */
static inline bool plim_cursor_peek(struct plim_cursor *c, uint64_t n, const unsigned char **ret_start)
{
    const bool is_there = !c->failed && n <= c->size - c->at;
    const bool is_at_hand = c->at <= c->data_end && n <= c->data_end - c->at; /* reading never goes back */
    if (!is_there || (!is_at_hand && (n > PLIM_CURSOR_MOST || !c->fill || !c->fill(c, n)))) {
        plim_cursor_fail(c, n);
        return false;
    }
    *ret_start = c->data + (c->at - c->data_at);
    return true;
}

/* Claim n bytes and step over them; false (and failed) when fewer are left. */
static inline bool plim_cursor_take(struct plim_cursor *c, uint64_t n, const unsigned char **ret_start)
{
    if (!plim_cursor_peek(c, n, ret_start))
        return false;
    c->at += n;
    return true;
}

/* Step over n bytes without looking at them; false (and failed) when fewer are left. */
static inline bool plim_cursor_skip(struct plim_cursor *c, uint64_t n)
{
    if (c->failed || n > c->size - c->at)
        return plim_cursor_fail(c, n);
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
