/* SPDX-License-Identifier: MIT */
#include "gguf_walk.h"

#include "base/cursor.h"
#include "base/units.h"
#include "model/ggml_type.h"
#include "model/gguf.h"

enum { DEFAULT_ALIGNMENT = 32, MAX_DEPTH = 4, KEPT_ELEMENTS = 16 };

static const uint8_t value_bytes[PLIM_GGUF_TYPE_MAX_] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

void walk_put(unsigned char *data, struct walk_slot slot, uint64_t value)
{
    for (uint32_t i = 0; i < slot.n_bytes; i++)
        data[slot.at + i] = (unsigned char)(value >> 8 * i);
}

uint64_t walk_extreme(uint32_t seed)
{
    static const uint64_t values[] = { 0,          1,          2,          3,          7,          16,
                                       31,         32,         33,         64,         127,        128,
                                       255,        256,        511,        512,        513,        1000,
                                       4096,       65535,      65536,      131072,     0x7fffffff, 0x80000000,
                                       0xffffffff, 1ull << 32, 1ull << 40, 1ull << 53, 1ull << 62, INT64_MAX,
                                       UINT64_MAX, 0x3f800000, 0x7f800000, 0x7fc00000, 0xbf800000 };
    return values[seed % (sizeof values / sizeof *values)];
}

static void add_slot(struct walk *w, uint64_t at, uint32_t n_bytes)
{
    if (w->n_slots < WALK_MAX_SLOTS && n_bytes)
        w->slots[w->n_slots++] = (struct walk_slot){ (uint32_t)at, n_bytes };
}

static void skip_text(struct plim_cursor *c)
{
    uint64_t length = plim_cursor_u64(c);
    plim_cursor_skip(c, length);
}

static void walk_array(struct plim_cursor *c, struct walk *w, int depth)
{
    uint32_t type = plim_cursor_u32(c);
    uint64_t n = plim_cursor_u64(c);
    if (type >= PLIM_GGUF_TYPE_MAX_ || depth == MAX_DEPTH)
        c->failed = true;
    for (uint64_t i = 0; i < n && !c->failed; i++) {
        if (type == PLIM_GGUF_STRING) {
            skip_text(c);
        } else if (type == PLIM_GGUF_ARRAY) {
            walk_array(c, w, depth + 1);
        } else {
            if (i < KEPT_ELEMENTS && plim_cursor_left(c) >= value_bytes[type])
                add_slot(w, c->at, value_bytes[type]);
            plim_cursor_skip(c, value_bytes[type]);
        }
    }
}

static void walk_value(struct plim_cursor *c, struct walk *w)
{
    uint32_t type = plim_cursor_u32(c);
    if (type >= PLIM_GGUF_TYPE_MAX_) {
        c->failed = true;
    } else if (type == PLIM_GGUF_STRING) {
        skip_text(c);
    } else if (type == PLIM_GGUF_ARRAY) {
        walk_array(c, w, 0);
    } else if (plim_cursor_left(c) >= value_bytes[type]) {
        add_slot(w, c->at, value_bytes[type]);
        plim_cursor_skip(c, value_bytes[type]);
    }
}

/* Bytes of a tensor's data; 0 for a tensor that the reader refuses. */
static uint64_t data_bytes(const uint64_t ne[4], uint32_t type_id)
{
    const enum plim_dtype type = plim_dtype_from_ggml(type_id);
    uint64_t elements = 1, bytes;
    for (int i = 0; i < 4; i++)
        if (__builtin_mul_overflow(elements, ne[i], &elements))
            return 0;
    if (__builtin_mul_overflow(elements / plim_dtype_block_elements(type), (uint64_t)plim_dtype_block_bytes(type),
                               &bytes))
        return 0;
    return bytes < UINT64_MAX / 4 ? bytes : 0;
}

static void walk_tensor(struct plim_cursor *c, unsigned char *data, bool do_repair, uint64_t *offset, struct walk *w)
{
    uint64_t ne[4] = { 1, 1, 1, 1 };
    skip_text(c);
    uint32_t n_dims = plim_cursor_u32(c);
    for (uint32_t i = 0; i < n_dims && i < 4 && !c->failed; i++) {
        if (plim_cursor_left(c) >= 8)
            add_slot(w, c->at, 8);
        ne[i] = plim_cursor_u64(c);
    }
    if (n_dims > 4)
        c->failed = true;
    if (!c->failed && plim_cursor_left(c) >= 4)
        add_slot(w, c->at, 4);
    uint32_t type = plim_cursor_u32(c);
    uint64_t at = c->at;
    plim_cursor_u64(c);
    if (c->failed)
        return;
    if (do_repair)
        walk_put(data, (struct walk_slot){ (uint32_t)at, 8 }, *offset);
    *offset = (*offset + data_bytes(ne, type) + DEFAULT_ALIGNMENT - 1) / DEFAULT_ALIGNMENT * DEFAULT_ALIGNMENT;
}

void walk_gguf(unsigned char *data, size_t size, bool do_repair, struct walk *ret_walk)
{
    struct plim_cursor c = plim_cursor(data, size);
    uint64_t offset = 0;
    ret_walk->n_slots = 0;
    plim_cursor_skip(&c, 8); /* magic and version: little-endian is taken for granted */
    uint64_t n_tensors = plim_cursor_u64(&c), n_keys = plim_cursor_u64(&c);
    for (uint64_t i = 0; i < n_keys && !c.failed; i++) {
        skip_text(&c);
        walk_value(&c, ret_walk);
    }
    for (uint64_t i = 0; i < n_tensors && !c.failed; i++)
        walk_tensor(&c, data, do_repair, &offset, ret_walk);
    ret_walk->is_whole = !c.failed;
}
