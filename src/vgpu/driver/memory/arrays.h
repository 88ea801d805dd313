/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_DRIVER_MEMORY_ARRAYS_H
#define PLIMSOLL_VGPU_DRIVER_MEMORY_ARRAYS_H

/*
 * Arrays, mipmapped arrays and their levels. The layout of an array on a card is not published; here its rows follow
 * each other without a gap, so that values can be copied in and out.
 */

#include "vgpu/core/cuda_api.h"
#include "vgpu/core/session.h"

/* Where the elements of an array or of a level are. */
struct plim_array_place {
    char *start;
    size_t element_bytes, row_bytes;
    size_t height, depth; /* at least 1 */
};

/* INVALID_HANDLE: no array, a mipmapped one, or its memory went with its context. */
PLIM_VGPU_EXPORT int plim_vgpu_array_place(const void *handle, struct plim_array_place *ret_place);

/* The array or mipmapped array exists; kernels may write to it from now on: its values are no longer known. */
int plim_array_check(const void *handle, bool is_mipmapped);
int plim_array_write_by_kernels(const void *handle);

#endif
