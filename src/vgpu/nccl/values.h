/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_NCCL_VALUES_H
#define PLIMSOLL_VGPU_NCCL_VALUES_H

/* Values of buffers, and arithmetic on them. Types and operations are those of NCCL. */

#include "vgpu/nccl/nccl.h"

/* Bytes of an element; 0: no such type. */
size_t plim_nccl_type_bytes(int type);

/* Read at most PLIM_NCCL_SHM_SMALL_BYTES. Unknown bytes are zero. */
void plim_nccl_read(const void *buffer, size_t size, uint8_t *ret_bytes, uint8_t *ret_known);
void plim_nccl_write(void *buffer, size_t size, const uint8_t *bytes, const uint8_t *known);

/* A buffer was overwritten with unknown values. */
void plim_nccl_overwrite(void *buffer, size_t size);

/* into = into OP with, for count elements; an element is known if both are. NCCL_AVG adds. */
void plim_nccl_combine(uint8_t *into, uint8_t *into_known, const uint8_t *with, const uint8_t *with_known, size_t count,
                       int type, enum nccl_reduction reduction);

/* Times a scalar of the same type, or divided by n. */
void plim_nccl_multiply(uint8_t *values, size_t count, int type, const uint8_t *scalar);
void plim_nccl_divide(uint8_t *values, size_t count, int type, int n);

#endif
