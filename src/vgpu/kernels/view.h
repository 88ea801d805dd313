/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_VIEW_H
#define PLIMSOLL_VGPU_KERNELS_VIEW_H

/*
 * Tensors in device memory, as kernels see them, and arrays of their values on the host. An array knows the certainty
 * of each of its numbers. A tensor whose elements are all alike is an array of one number, whatever its size.
 */

#include "vgpu/kernels/element.h"
#include "vgpu/values/shadow.h"

enum {
    PLIM_VIEW_MAX_DIMENSIONS = 25,      /* of TensorIterator (ATen/cuda/detail/OffsetCalculator.cuh, MAX_DIMS) */
    PLIM_VIEW_MAX_ELEMENTS = 4 << 20,   /* a kernel over more is computed only for constants */
    PLIM_VIEW_MAX_SPAN_BYTES = 64 << 20 /* from the first to the last byte of one that is read element by element */
};

struct plim_view {
    uint64_t address; /* of the element with index 0 in all dimensions */
    enum plim_element element;
    unsigned n_dimensions;                                                          /* 0: one element */
    int64_t size[PLIM_VIEW_MAX_DIMENSIONS], stride_bytes[PLIM_VIEW_MAX_DIMENSIONS]; /* the fastest dimension first */
};

struct plim_array {
    enum plim_element element; /* the numbers are of this type: floats or integers */
    uint64_t n;
    bool is_constant;             /* one number stands for all */
    enum plim_shadow_known known; /* the least certainty */
    union plim_scalar *number;    /* [n], or [1] of a constant */
    uint8_t *each;                /* [n] certainties; NULL: `known` for all */
    union plim_scalar one;
};

/* n elements one after the other. */
struct plim_view plim_view_flat(const void *address, enum plim_element element, uint64_t n);

/* A dimension of n that becomes the fastest. False: there are too many. */
bool plim_view_add_fastest(struct plim_view *view, uint64_t n, int64_t stride_bytes);

/* The number of elements; UINT64_MAX: more than that. */
uint64_t plim_view_n(const struct plim_view *view);

/* Memory of the virtual GPU that is allocated. */
bool plim_view_is_memory(const void *address);

/*
 * The values, to be freed with plim_array_free(). False, with nothing to free: there are too many of them and they are
 * not all alike, or there is no memory. Host memory reads as unknown zeros.
 */
bool plim_view_read(const struct plim_view *view, struct plim_array *ret_array);

/* The same for a view whose elements are all alike and stored as such. False: they are not, or nobody knows. */
bool plim_view_read_constant(const struct plim_view *view, struct plim_array *ret_array);

/* Room for n numbers, zero and known; with is_constant, one that stands for all. False: too many, or no memory. */
bool plim_array_make(struct plim_array *ret_array, enum plim_element element, uint64_t n, bool is_constant);

/* Certainties of each number, all `known` at first. False: no memory. */
bool plim_array_make_each(struct plim_array *array);

void plim_array_free(struct plim_array *array);

/*
 * Write the array, converted to the tensor's type; it has as many elements. Guesses that are not finite become zero.
 * Elements of different certainty are told apart.
 */
void plim_view_write(const struct plim_view *view, const struct plim_array *array);

/* The kernel writes there, and nobody knows what. */
void plim_view_forget(const struct plim_view *view);

/* Write bytes, each with an enum plim_shadow_known; of very many runs, all get the least certainty. */
void plim_view_write_bytes(uint64_t address, const uint8_t *bytes, const uint8_t *known, uint64_t size);

/* A walk over the elements in order: the offset of each from the view's address. All zero at first. */
struct plim_walk {
    int64_t index[PLIM_VIEW_MAX_DIMENSIONS], offset;
};

static inline void plim_walk_on(struct plim_walk *walk, const struct plim_view *view)
{
    for (unsigned i = 0; i < view->n_dimensions; i++) {
        walk->offset += view->stride_bytes[i];
        if (++walk->index[i] < view->size[i])
            return;
        walk->offset -= view->stride_bytes[i] * view->size[i];
        walk->index[i] = 0;
    }
}

static inline union plim_scalar plim_array_at(const struct plim_array *array, uint64_t i)
{
    return array->number[array->is_constant ? 0 : i];
}

static inline enum plim_shadow_known plim_array_known_at(const struct plim_array *array, uint64_t i)
{
    return array->each ? (enum plim_shadow_known)array->each[i] : array->known;
}

static inline enum plim_shadow_known plim_less_known(enum plim_shadow_known a, enum plim_shadow_known b)
{
    return a < b ? a : b;
}

#endif
