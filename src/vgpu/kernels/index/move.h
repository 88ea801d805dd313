/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_INDEX_MOVE_H
#define PLIMSOLL_VGPU_KERNELS_INDEX_MOVE_H

/*
 * Elements that go from one place to another, where indices in device memory may say from which or to which: the one
 * meaning of all kernels that index, gather, scatter, copy and join. An element that is only moved can be of any type.
 */

#include "vgpu/kernels/view.h"

enum plim_move_operation {
    PLIM_MOVE_ASSIGN,
    PLIM_MOVE_ADD,
    PLIM_MOVE_MULTIPLY,
    PLIM_MOVE_MAXIMUM, /* NaN wins, as in the next */
    PLIM_MOVE_MINIMUM
};

/* One index: each element of the walk has its own, at the offset that the walk over `index` says. */
struct plim_move_index {
    uint64_t address;
    int64_t size;         /* of the indexed dimension; negative indices count from its end */
    int64_t stride_bytes; /* of the indexed dimension */
    bool selects_source;
};

struct plim_move {
    enum plim_move_operation operation;
    enum plim_element element; /* that an operation other than assignment computes with */
    unsigned width;            /* bytes of an element: 1 to 16 */

    /* Walks with the same number of elements, each with dimensions of its own; their `element` has no meaning. */
    struct plim_view to, from, index; /* the address of `index` has no meaning */

    bool is_value; /* instead of elements from memory: this one */
    uint8_t value[16];
    bool is_scaled; /* elements are multiplied by this number before they are added */
    union plim_scalar scale;

    unsigned n_indices;
    struct plim_move_index indices[PLIM_VIEW_MAX_DIMENSIONS];
    enum plim_element index_element; /* I64 or I32 */
    bool has_skip;                   /* where the first index is this one, nothing is moved */
    int64_t skip;

    /* The only index counts the elements of a tensor of this shape, whose strides then say where one is; or NULL. */
    const struct plim_view *shape;
};

/* All zero but for one assignment of elements of `width` bytes. */
void plim_move_make(struct plim_move *ret_move, unsigned width);

/* Add an index. False: there are too many. */
bool plim_move_add(struct plim_move *move, uint64_t address, int64_t size, int64_t stride_bytes, bool selects_source);

/* What is moved is written; or, of too much that is not all alike, forgotten. */
void plim_move_run(const struct plim_move *move);

#endif
