/* SPDX-License-Identifier: MIT */
#ifndef PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_FUNCTOR_H
#define PLIMSOLL_VGPU_KERNELS_ELEMENTWISE_FUNCTOR_H

/*
 * Functors of elementwise kernels: what a kernel's name says about the function that it applies to each element, the
 * types of its inputs and of its result, and where in the functor's bytes the values are that it holds.
 */

#include "vgpu/kernels/elementwise/operations.h"
#include "vgpu/kernels/name.h"
#include "vgpu/kernels/view.h"

enum plim_functor_form {
    PLIM_FUNCTOR_PLAIN,
    PLIM_FUNCTOR_LEFT, /* AUnaryFunctor: the left operand is a number that it holds */
    PLIM_FUNCTOR_RIGHT /* BUnaryFunctor: the right one */
};

/* What is computed: data, a row for each function. */
struct plim_functor_row {
    const char *name; /* of the functor, or of the function that has the lambda */
    uint8_t lambda;   /* the number of the lambda in its function; 0: any */
    uint8_t branch;   /* the number of the outermost lambda, {lambda()#branch}; 0: any */
    uint8_t n_inputs;
    char result;      /* 'T': as it computes; 'b': bool; '1', '2': the template's first or second argument */
    const char *held; /* the members, a letter for each: see held_element() */
    double (*unary)(double);
    double (*binary)(double, double);
    plim_operation *operation; /* none of the three: the result is not computed */
};

struct plim_functor {
    const struct plim_functor_row *row;
    enum plim_functor_form form;
    unsigned n_inputs, size_bytes, align_bytes;
    enum plim_element input[PLIM_OPERATION_MAX_INPUTS], result;
    enum plim_element type; /* that it computes with */
    bool is_raw;            /* it moves bits of types that have no numbers, such as complex ones */
    unsigned n_held;
    unsigned held_offset[PLIM_OPERATION_MAX_HELD];
    enum plim_element held_type[PLIM_OPERATION_MAX_HELD];
    unsigned operand_offset; /* of the operand that a LEFT or RIGHT one holds */
};

/* False: a functor that is not in the table, or of types that have no numbers here. */
bool plim_functor_parse(struct plim_text text, struct plim_functor *ret_functor);

/* Of one that could not be parsed: the number of its inputs, and the size of the largest element; 0: unknown. */
unsigned plim_functor_n_inputs(struct plim_text text);
unsigned plim_functor_element_bytes(struct plim_text text);

/* The result for the inputs, in their order, given the functor's bytes. The output is written, or forgotten. */
void plim_functor_apply(const struct plim_functor *functor, const void *bytes, const struct plim_view *output,
                        const struct plim_view *inputs);

extern const struct plim_functor_row plim_functor_rows[]; /* ended by one without a name */

#endif
