/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/index/offsets.h"

enum { DIMS = 25 };

static int64_t number_at(const char *from, unsigned bytes)
{
    int64_t eight = 0;
    int32_t four = 0; /* strides may be negative (OffsetCalculator<..., true>); others are less than 2^31 */
    if (bytes == 8)
        memcpy(&eight, from, sizeof eight);
    else
        memcpy(&four, from, sizeof four);
    return bytes == 8 ? eight : four;
}

bool plim_walk_of_offsets(const void *calculator, unsigned n_arguments, unsigned argument, unsigned index_bytes,
                          struct plim_view *ret_walk)
{
    const size_t divider_bytes = index_bytes == 8 ? 8 : 12;
    const char *sizes = (const char *)calculator + index_bytes, *strides = sizes + DIMS * divider_bytes;
    int32_t n;
    memcpy(&n, calculator, sizeof n);
    if (n < 0 || n > DIMS)
        return false;
    ret_walk->n_dimensions = (unsigned)n;
    for (unsigned i = 0; i < ret_walk->n_dimensions; i++) {
        ret_walk->size[i] = number_at(sizes + i * divider_bytes, index_bytes);
        ret_walk->stride_bytes[i] =
            number_at(strides + (i * n_arguments + argument) * (size_t)index_bytes, index_bytes);
        if (ret_walk->size[i] <= 0)
            return false;
    }
    return true;
}

unsigned plim_type_bytes(struct plim_text type)
{
    struct plim_text inside;
    if (plim_text_starts(type, "at::native::OpaqueType<") ||
        plim_text_starts(type, "at::native::(anonymous namespace)::OpaqueType<")) {
        const long bytes = plim_name_template(type, "OpaqueType", &inside) ? plim_name_number(inside) : 0;
        return bytes > 0 && bytes <= PLIM_SHADOW_MAX_WIDTH ? (unsigned)bytes : 0;
    }
    if (plim_text_starts(type, "c10::complex<"))
        return plim_name_template(type, "c10::complex", &inside) ? 2 * plim_element_bytes(plim_name_element(inside))
                                                                 : 0;
    return plim_element_bytes(plim_name_element(type));
}
