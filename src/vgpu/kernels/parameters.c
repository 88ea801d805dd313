/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/parameters.h"

enum { MAX_DIMENSIONS = 25, POINTER_BYTES = 8 }; /* MAX_TENSORINFO_DIMS */

static int64_t index_at(const char *from, unsigned bytes)
{
    int64_t eight = 0;
    int32_t four = 0;
    if (bytes == 8)
        memcpy(&eight, from, sizeof eight);
    else
        memcpy(&four, from, sizeof four);
    return bytes == 8 ? eight : four;
}

bool plim_view_of_info(const void *info, enum plim_element element, unsigned index_bytes, struct plim_view *ret_view)
{
    const char *sizes = (const char *)info + POINTER_BYTES, *strides = sizes + (size_t)MAX_DIMENSIONS * index_bytes;
    int32_t n;
    memcpy(&n, strides + (size_t)MAX_DIMENSIONS * index_bytes, sizeof n);
    memcpy(&ret_view->address, info, sizeof ret_view->address);
    ret_view->element = element;
    if (n < 0 || n > MAX_DIMENSIONS || !plim_element_bytes(element))
        return false;
    ret_view->n_dimensions = (unsigned)n;
    for (unsigned i = 0; i < ret_view->n_dimensions; i++) { /* theirs is the slowest first */
        const size_t from = (ret_view->n_dimensions - 1 - i) * (size_t)index_bytes;
        ret_view->size[i] = index_at(sizes + from, index_bytes);
        if (ret_view->size[i] < 0 ||
            __builtin_mul_overflow(index_at(strides + from, index_bytes), (int64_t)plim_element_bytes(element),
                                   &ret_view->stride_bytes[i]))
            return false;
    }
    return true;
}

size_t plim_info_bytes(unsigned index_bytes)
{
    const size_t bytes = POINTER_BYTES + 2 * (size_t)MAX_DIMENSIONS * index_bytes + 4;
    return (bytes + 7) / 8 * 8;
}
