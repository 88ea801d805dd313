/* SPDX-License-Identifier: MIT */
/*
 * Kernels of which only the size of what they write is known: their results are forgotten, and nothing beside them.
 * Signatures of ATen/native/cuda/layer_norm_kernel.cu, PersistentSoftmax.cuh, SoftMax.cu and NLLLoss2d.cu, Loss.cu;
 * PyTorch 2.5 to 2.15; and those of bitsandbytes.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

enum factor { ONE, TWO, GRID_X, GRID_Y, INT, LONG };

/* One result: a parameter that is a pointer to its elements, and the two factors of their number. */
struct result {
    const char *name;
    uint8_t parameter;
    struct {
        uint8_t factor, parameter;
    } n[2];
};

static const struct result results[] = {
    { "softmax_warp_backward", 0, { { INT, 3 }, { INT, 4 } } },
    { "cunn_SoftMaxBackward", 0, { { GRID_X, 0 }, { LONG, 3 } } },
    { "cunn_SoftMaxBackwardSmem", 0, { { GRID_X, 0 }, { LONG, 3 } } },
    { "layer_norm_grad_input_kernel", 5, { { GRID_X, 0 }, { INT, 6 } } },
    { "layer_norm_grad_input_kernel_vectorized", 5, { { GRID_X, 0 }, { INT, 6 } } },
    { "GammaBetaBackwardCUDAKernelTemplate", 6, { { GRID_Y, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardCUDAKernelTemplate", 7, { { GRID_Y, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardSimpleCUDAKernel", 6, { { ONE, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardSimpleCUDAKernel", 7, { { ONE, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardCUDAKernel_32x32", 6, { { ONE, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardCUDAKernel_32x32", 7, { { ONE, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardCUDAKernel", 6, { { ONE, 0 }, { LONG, 1 } } },
    { "GammaBetaBackwardCUDAKernel", 7, { { ONE, 0 }, { LONG, 1 } } },
    /* bitsandbytes 0.45 to 0.50, csrc/kernels.cu; of 4 bits, n counts the pairs */
    { "kDequantizeBlockwise", 3, { { INT, 5 }, { TWO, 0 } } },
    { "kQuantizeBlockwise", 2, { { GRID_X, 0 }, { ONE, 0 } } },
    { "kQuantizeBlockwise", 3, { { INT, 6 }, { ONE, 0 } } },
    { "kgemm_4bit_inference_naive", 7, { { INT, 0 }, { ONE, 0 } } },
    { "kOptimizer32bit1State", 1, { { INT, 14 }, { ONE, 0 } } },
    { "kOptimizer32bit1State", 2, { { INT, 14 }, { ONE, 0 } } },
    { "kOptimizer32bit2State", 1, { { INT, 17 }, { ONE, 0 } } },
    { "kOptimizer32bit2State", 2, { { INT, 17 }, { ONE, 0 } } },
    { "kOptimizer32bit2State", 3, { { INT, 17 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit1StateBlockwise", 0, { { INT, 13 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit1StateBlockwise", 2, { { INT, 13 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit1StateBlockwise", 9, { { GRID_X, 0 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit2StateBlockwise", 0, { { INT, 18 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit2StateBlockwise", 2, { { INT, 18 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit2StateBlockwise", 3, { { INT, 18 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit2StateBlockwise", 13, { { GRID_X, 0 }, { ONE, 0 } } },
    { "kOptimizerStatic8bit2StateBlockwise", 14, { { GRID_X, 0 }, { ONE, 0 } } },
};
enum { N_RESULTS = sizeof results / sizeof *results, MOST_OF_ONE = 5 };

/* Results of one kernel stand side by side in the table. */
struct sized {
    unsigned n;
    struct {
        const struct result *result;
        enum plim_element element;
    } of[MOST_OF_ONE];
};

static void *parse(struct plim_text name)
{
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text arguments, type;
    struct sized *sized = calloc(1, sizeof *sized);
    for (unsigned i = 0; sized && i < N_RESULTS; i++) {
        if (!plim_name_template(name, results[i].name, &arguments) || sized->n == MOST_OF_ONE ||
            !plim_name_argument(parameters, results[i].parameter, &type) || type.size < 2)
            continue;
        type.size--; /* the asterisk */
        sized->of[sized->n].result = &results[i];
        sized->of[sized->n].element = plim_name_element(type);
        if (sized->of[sized->n++].element == PLIM_ELEMENT_NONE) {
            free(sized);
            return NULL;
        }
    }
    if (sized && sized->n > 0)
        return sized;
    free(sized);
    return NULL;
}

static uint64_t factor_of(const struct plim_kernel_launch *launch, uint8_t factor, uint8_t parameter)
{
    switch ((enum factor)factor) {
    case GRID_X:
        return launch->grid[0];
    case GRID_Y:
        return launch->grid[1];
    case INT:
        return plim_count_at(launch->parameters, parameter, 4);
    case LONG:
        return plim_count_at(launch->parameters, parameter, 8);
    case TWO:
        return 2;
    case ONE:
        break;
    }
    return 1;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct sized *sized = parsed;
    for (unsigned i = 0; i < sized->n; i++) {
        const struct result *result = sized->of[i].result;
        const uint64_t a = factor_of(launch, result->n[0].factor, result->n[0].parameter);
        uint64_t n;
        if (__builtin_mul_overflow(a, factor_of(launch, result->n[1].factor, result->n[1].parameter), &n))
            n = UINT64_MAX;
        const struct plim_view view =
            plim_view_flat(plim_pointer_at(launch->parameters, result->parameter), sized->of[i].element, n);
        plim_view_forget(&view);
    }
}

const struct plim_kernel_form plim_form_sized[PLIM_N_SIZED] = {
    { "softmax_warp_backward", parse, run },
    { "cunn_SoftMaxBackward", parse, run },
    { "cunn_SoftMaxBackwardSmem", parse, run },
    { "layer_norm_grad_input_kernel", parse, run },
    { "layer_norm_grad_input_kernel_vectorized", parse, run },
    { "GammaBetaBackwardCUDAKernelTemplate", parse, run },
    { "GammaBetaBackwardSimpleCUDAKernel", parse, run },
    { "GammaBetaBackwardCUDAKernel_32x32", parse, run },
    { "GammaBetaBackwardCUDAKernel", parse, run },
    { "kDequantizeBlockwise", parse, run },
    { "kQuantizeBlockwise", parse, run },
    { "kgemm_4bit_inference_naive", parse, run },
    { "kOptimizer32bit1State", parse, run },
    { "kOptimizer32bit2State", parse, run },
    { "kOptimizerStatic8bit1StateBlockwise", parse, run },
    { "kOptimizerStatic8bit2StateBlockwise", parse, run },
};
