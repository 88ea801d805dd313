/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_CUB_ITERATOR_H
#define PLIMSOLL_VGPU_KERNELS_CUB_ITERATOR_H

/* Iterators that kernels of CUB and Thrust get: a pointer, a counter, a constant, or one of them through a functor. */

#include "vgpu/kernels/kernel.h"

enum plim_iterator_kind {
    PLIM_ITERATOR_NONE, /* NullType*: there is no such input */
    PLIM_ITERATOR_POINTER,
    PLIM_ITERATOR_COUNTING, /* first, first + 1, ... */
    PLIM_ITERATOR_CONSTANT
};

struct plim_iterator {
    uint8_t kind;    /* enum plim_iterator_kind */
    uint8_t element; /* enum plim_element; NONE: values that are only moved */
    uint8_t width;   /* bytes of an element in memory */
    uint8_t offset;  /* of the pointer or the value in the parameter */
    bool is_flag;    /* what is read is whether the element differs from zero */
};

/* From the type of a parameter. False: another iterator, or a functor that is not known. */
bool plim_iterator_of(struct plim_text type, struct plim_iterator *ret_iterator);

/* The type of an element after the functor. */
enum plim_element plim_iterator_element(const struct plim_iterator *iterator);

/* The pointer that it holds. */
void *plim_iterator_pointer(const struct plim_iterator *iterator, const void *parameter);

/* The first n values, as plim_view_read(). */
bool plim_iterator_read(const struct plim_iterator *iterator, const void *parameter, uint64_t n,
                        struct plim_array *ret_array);

/* Forget n elements that a kernel writes through it. */
void plim_iterator_forget(const struct plim_iterator *iterator, const void *parameter, uint64_t n);

/* Write an array through a pointer. */
void plim_iterator_write(const struct plim_iterator *iterator, const void *parameter, const struct plim_array *array);

/* A parameter that is a whole number, as its type in the signature says; negative or another type: 0. */
uint64_t plim_parameter_count(struct plim_text type, const void *parameter);

#endif
