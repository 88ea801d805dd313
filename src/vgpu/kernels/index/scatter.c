/* SPDX-License-Identifier: MIT */
/*
 * _scatter_gather_elementwise_kernel<threads, per thread, lambda>(int N, lambda): gather, scatter with all reductions,
 * and scatter of one value (ATen/native/cuda/ScatterGatherKernel.cu). What the lambdas hold was checked with known
 * arguments in PyTorch 2.5.1, 2.10.0 and 2.15.0, which are alike; 2.5 has no index type.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/index/move.h"
#include "vgpu/kernels/index/offsets.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct scatter {
    bool is_scatter, is_fill;
    unsigned width;
    enum plim_element element, index_element;
    enum plim_move_operation operation;
};

/* Mean adds: PyTorch divides by the number afterwards. */
static bool operation_of(struct plim_text name, enum plim_move_operation *ret)
{
    static const struct {
        const char *name;
        enum plim_move_operation operation;
    } operations[] = {
        { "operator()<at::native::TensorAssign>", PLIM_MOVE_ASSIGN },
        { "operator()<at::native::ReduceAdd>", PLIM_MOVE_ADD },
        { "operator()<at::native::ReduceMean>", PLIM_MOVE_ADD },
        { "operator()<at::native::ReduceMultiply>", PLIM_MOVE_MULTIPLY },
        { "operator()<at::native::ReduceMaximum>", PLIM_MOVE_MAXIMUM },
        { "operator()<at::native::ReduceMinimum>", PLIM_MOVE_MINIMUM },
    };
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (plim_text_has(name, operations[i].name)) {
            *ret = operations[i].operation;
            return true;
        }
    return false;
}

static bool read_name(struct plim_text name, struct scatter *scatter)
{
    struct plim_text arguments, argument;
    unsigned type = 0;
    scatter->is_fill = plim_name_template(name, "at::native::_cuda_scatter_fill_internal_kernel", &arguments);
    if (!scatter->is_fill) {
        if (!plim_name_template(name, "at::native::_cuda_scatter_gather_internal_kernel", &arguments) ||
            !plim_name_argument(arguments, 0, &argument))
            return false;
        scatter->is_scatter = plim_text_is(argument, "true");
        type = 1;
    }
    if (!plim_name_argument(arguments, type, &argument))
        return false;
    scatter->width = plim_type_bytes(argument);
    scatter->element = plim_name_element(argument);
    scatter->index_element =
        plim_name_argument(arguments, type + 1, &argument) ? plim_name_element(argument) : PLIM_ELEMENT_I64;
    return scatter->width > 0 && operation_of(name, &scatter->operation) &&
           (scatter->index_element == PLIM_ELEMENT_I64 || scatter->index_element == PLIM_ELEMENT_I32) &&
           (scatter->operation == PLIM_MOVE_ASSIGN || scatter->element != PLIM_ELEMENT_NONE);
}

static void *parse(struct plim_text name)
{
    struct scatter *scatter = calloc(1, sizeof *scatter);
    if (scatter && read_name(name, scatter))
        return scatter;
    free(scatter);
    return NULL;
}

/* offset_calc, index_ptr, index_size, f, self_ptr, index_stride, numel, src_ptr or the value */
static bool read_lambda(const struct scatter *scatter, const void *lambda, struct plim_move *move)
{
    const size_t first = scatter->is_fill ? 504 : 608; /* where OffsetCalculator<2> or <3> ends */
    const unsigned n = scatter->is_fill ? 2 : 3;
    move->to.address = plim_word_at(lambda, first + 24);
    if (!plim_walk_of_offsets(lambda, n, 0, 4, &move->to) || !plim_walk_of_offsets(lambda, n, n - 1, 4, &move->index) ||
        (!scatter->is_fill && !plim_walk_of_offsets(lambda, n, 1, 4, &move->from)))
        return false;
    if (scatter->is_fill) {
        move->is_value = true;
        memcpy(move->value, (const char *)lambda + first + 48, move->width);
    } else {
        move->from.address = plim_word_at(lambda, first + 48);
    }
    return plim_move_add(move, plim_word_at(lambda, first), (int64_t)plim_word_at(lambda, first + 8),
                         (int64_t)plim_word_at(lambda, first + 32) * move->width,
                         !scatter->is_fill && !scatter->is_scatter);
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct scatter *scatter = parsed;
    struct plim_move move;
    plim_move_make(&move, scatter->width);
    move.operation = scatter->operation;
    move.element = scatter->element;
    move.index_element = scatter->index_element;
    if (read_lambda(scatter, launch->parameters[1], &move) &&
        plim_view_n(&move.to) == plim_count_at(launch->parameters, 0, 4))
        plim_move_run(&move);
    else
        plim_shadow_lose((const void *)(uintptr_t)move.to.address);
}

const struct plim_kernel_form plim_form_scatter_gather = { "at::native::_scatter_gather_elementwise_kernel", parse,
                                                           run };
