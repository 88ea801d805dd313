/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/elementwise/functor.h"

#include "vgpu/kernels/elementwise/amp.h"

#include <math.h>
#include <string.h>

/* A functor with the values that it holds, ready to be applied to one element after the other. */
struct application {
    const struct plim_functor *functor;
    struct plim_operands operands;
    union plim_scalar operand;                    /* that a LEFT or RIGHT one holds */
    bool is_converted[PLIM_OPERATION_MAX_INPUTS]; /* the element in memory is not what the functor takes */
    enum plim_element in_memory[PLIM_OPERATION_MAX_INPUTS];
    enum plim_element taken[PLIM_OPERATION_MAX_INPUTS];
};

static void prepare(const struct plim_functor *functor, const void *bytes, const struct plim_view *inputs,
                    struct application *ret)
{
    const uint8_t *base = bytes;
    ret->functor = functor;
    ret->operands.type = functor->type;
    for (unsigned i = 0; i < functor->n_held; i++) {
        ret->operands.held_type[i] = functor->held_type[i];
        ret->operands.held[i] = plim_element_load(functor->held_type[i], base + functor->held_offset[i]);
    }
    if (functor->form != PLIM_FUNCTOR_PLAIN)
        ret->operand = plim_element_load(functor->type, base + functor->operand_offset);
    for (unsigned i = 0; i < functor->n_inputs; i++) {
        ret->in_memory[i] = inputs[i].element;
        ret->taken[i] = functor->input[i];
        ret->is_converted[i] = ret->in_memory[i] != ret->taken[i];
    }
}

static union plim_scalar compute(const struct application *application, union plim_scalar *in)
{
    const struct plim_functor_row *row = application->functor->row;
    if (application->functor->form == PLIM_FUNCTOR_LEFT) {
        in[1] = in[0];
        in[0] = application->operand;
    } else if (application->functor->form == PLIM_FUNCTOR_RIGHT) {
        in[1] = application->operand;
    }
    if (row->unary)
        return (union plim_scalar){ .f = row->unary(in[0].f) };
    if (row->binary)
        return (union plim_scalar){ .f = row->binary(in[0].f, in[1].f) };
    return row->operation(&application->operands, in);
}

#define MAX_E4M3FN 448 /* of Float8_e4m3fn */

/*
 * The inputs that the element depends on: of a choice by a known condition, only what was chosen.
 */
static enum plim_shadow_known certainty_at(const struct plim_functor *functor, const struct plim_array *inputs,
                                           const union plim_scalar *in, uint64_t at)
{
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    if (functor->row->operation == plim_op_where)
        return plim_less_known(plim_array_known_at(&inputs[0], at), plim_array_known_at(&inputs[in[0].i ? 1 : 2], at));
    if (functor->row->operation == plim_op_masked_fill) {
        known = plim_array_known_at(&inputs[1], at);
        return in[1].i ? known : plim_less_known(known, plim_array_known_at(&inputs[0], at));
    }
    for (unsigned i = 0; i < functor->n_inputs; i++)
        known = plim_less_known(known, plim_array_known_at(&inputs[i], at));
    if (functor->row->operation == plim_op_to_e4m3fn && fabs(in[0].f) > MAX_E4M3FN)
        return PLIM_SHADOW_UNKNOWN;
    return known;
}

static bool is_choice(const struct plim_functor *functor)
{
    return functor->row->operation == plim_op_where || functor->row->operation == plim_op_masked_fill;
}

/* The result in the type that the functor returns, so that a conversion to the output's type starts from there. */
static union plim_scalar rounded(enum plim_element type, union plim_scalar number)
{
    uint8_t bytes[8] = { 0 };
    plim_element_store(type, bytes, number);
    return plim_element_load(type, bytes);
}

static void fill(const struct application *application, const struct plim_array *inputs, struct plim_array *output)
{
    const struct plim_functor *functor = application->functor;
    const uint64_t n = output->is_constant ? 1 : output->n;
    output->known = PLIM_SHADOW_KNOWN;
    for (uint64_t at = 0; at < n; at++) {
        union plim_scalar in[PLIM_OPERATION_MAX_INPUTS] = { { 0 } };
        for (unsigned i = 0; i < functor->n_inputs && inputs[i].number; i++) {
            in[i] = plim_array_at(&inputs[i], at);
            if (application->is_converted[i])
                in[i] = plim_element_convert(application->taken[i], application->in_memory[i], in[i]);
        }
        const enum plim_shadow_known known = certainty_at(functor, inputs, in, at);
        output->number[at] = functor->row->operation == plim_op_copy
                                 ? plim_element_convert(functor->result, functor->input[0], in[0])
                                 : rounded(functor->result, compute(application, in));
        output->known = plim_less_known(output->known, known);
        if (output->each)
            output->each[at] = (uint8_t)known;
    }
}

/* Of more, all guesses, one is as good as another. */
enum { MOST_GUESSES = 64 << 10 };

static bool is_uniform(const struct plim_array *array) { return array->is_constant && !array->each; }

static bool apply(const struct application *application, const struct plim_view *output, uint64_t n,
                  const struct plim_array *inputs)
{
    const struct plim_functor *functor = application->functor;
    struct plim_array result;
    bool is_constant = true, has_each = false, is_guess = false;
    for (unsigned i = 0; i < functor->n_inputs; i++) {
        is_constant = is_constant && is_uniform(&inputs[i]);
        is_guess = is_guess || (is_uniform(&inputs[i]) && inputs[i].known == PLIM_SHADOW_UNKNOWN);
        has_each = has_each || inputs[i].each || (is_choice(functor) && i > 0 && inputs[i].known != inputs[0].known);
    }
    if (is_guess && !is_choice(functor) && n > MOST_GUESSES)
        is_constant = true; /* the first stands for all */
    if (!plim_array_make(&result, functor->result, n, is_constant))
        return false;
    if (has_each && !is_constant && !plim_array_make_each(&result)) {
        plim_array_free(&result);
        return false;
    }
    fill(application, inputs, &result);
    plim_view_write(output, &result);
    plim_array_free(&result);
    return true;
}

/* A large tensor of floats is not computed if each element of it would be a guess: it is forgotten. */
static bool is_not_worth_it(const struct plim_functor *functor, uint64_t n, const struct plim_array *inputs,
                            const bool *is_constant)
{
    enum { FEW = 256 };
    bool has_unknown = false, has_other = false;
    for (unsigned i = 0; i < functor->n_inputs; i++) {
        has_unknown = has_unknown || (is_constant[i] && inputs[i].known == PLIM_SHADOW_UNKNOWN);
        has_other = has_other || !is_constant[i];
    }
    return n > FEW && has_unknown && has_other && plim_element_is_float(functor->result) && !is_choice(functor);
}

static bool read_inputs(const struct plim_functor *functor, uint64_t n, const struct plim_view *inputs,
                        struct plim_array *arrays, bool *is_read)
{
    bool is_done = true;
    for (unsigned i = 0; i < functor->n_inputs; i++)
        is_read[i] = plim_view_read_constant(&inputs[i], &arrays[i]);
    if (is_not_worth_it(functor, n, arrays, is_read))
        return false;
    for (unsigned i = 0; i < functor->n_inputs && is_done; i++)
        is_done = is_read[i] = is_read[i] || plim_view_read(&inputs[i], &arrays[i]);
    return is_done;
}

void plim_functor_apply(const struct plim_functor *functor, const void *bytes, const struct plim_view *output,
                        const struct plim_view *inputs)
{
    struct plim_array arrays[PLIM_OPERATION_MAX_INPUTS] = { { 0 } };
    struct application application;
    const uint64_t n = plim_view_n(output);
    bool is_read[PLIM_OPERATION_MAX_INPUTS] = { false }, is_done = false;
    if (functor->row->operation == plim_op_unscale) { /* in place, and it writes a flag besides */
        plim_amp_unscale((const uint8_t *)bytes + functor->held_offset[0], output);
        return;
    }
    if (functor->row->unary || functor->row->binary || functor->row->operation) {
        prepare(functor, bytes, inputs, &application);
        is_done = read_inputs(functor, n, inputs, arrays, is_read) && apply(&application, output, n, arrays);
    }
    for (unsigned i = 0; i < functor->n_inputs; i++)
        if (is_read[i])
            plim_array_free(&arrays[i]);
    if (!is_done)
        plim_view_forget(output);
}
