/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_LIBS_CUBLAS_PACKED_H
#define PLIMSOLL_VGPU_LIBS_CUBLAS_PACKED_H

/*
 * Attributes in memory of the program: cuBLASLt's descriptors are plain structures of a documented size, which a
 * program may place anywhere. A table has the attributes of each kind of descriptor.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct plim_packed_attribute {
    uint8_t id, size; /* size in bytes: 1, 2, 4 or 8 */
    uint16_t offset;  /* from the start of the structure; the first word is its tag */
    int64_t initial;
};

struct plim_packed_kind {
    uint32_t tag;
    uint32_t size; /* of the structure */
    uint32_t n;
    const struct plim_packed_attribute *attribute;
};

void plim_packed_init(void *data, const struct plim_packed_kind *kind);
bool plim_packed_is(const void *data, const struct plim_packed_kind *kind);

/* False: no such attribute, or another size. */
bool plim_packed_set(void *data, const struct plim_packed_kind *kind, int id, const void *value, size_t size);

/* As in cuBLASLt: with size 0, only *ret_written is set; otherwise it may be NULL. */
bool plim_packed_get(const void *data, const struct plim_packed_kind *kind, int id, void *value, size_t size,
                     size_t *ret_written);

/* Read and write an attribute; a missing one is 0. */
int64_t plim_packed_value(const void *data, const struct plim_packed_kind *kind, int id);
void plim_packed_put(void *data, const struct plim_packed_kind *kind, int id, int64_t value);

#endif
