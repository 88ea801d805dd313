/* SPDX-License-Identifier: MIT */
/*
 * nll_loss_backward_reduce_cuda_kernel_1d and _2d: (grad_input, grad_output, target, weights, total_weight,
 * size_average, [number of samples, number of dimensions,] classes, ignore_index) of ATen/native/cuda/NLLLoss.cu;
 * PyTorch 2.5 to 2.15. grad_input is filled with zeros before; an element of each sample is written.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct nll {
    enum plim_element element, target;
};

enum { RESULT, GRADIENT, TARGET, WEIGHTS, TOTAL, N_ARRAYS };

struct arrays {
    struct plim_array of[N_ARRAYS]; /* one without numbers was not read */
    uint64_t n_samples, n_classes;
    int64_t ignored;
    bool is_mean;
};

static void *parse_of(struct plim_text name, const char *function)
{
    struct nll *nll = calloc(1, sizeof *nll);
    if (nll && (nll->element = plim_name_template_element(name, function, 0)) &&
        (nll->target = plim_name_template_element(name, function, 1)))
        return nll;
    free(nll);
    return NULL;
}

static void *parse_1d(struct plim_text name) { return parse_of(name, "nll_loss_backward_reduce_cuda_kernel_1d"); }

static void *parse_2d(struct plim_text name) { return parse_of(name, "nll_loss_backward_reduce_cuda_kernel_2d"); }

/* A guessed target may be any: the whole row is a guess then. */
static void sample(struct arrays *arrays, struct plim_array *result, uint64_t i)
{
    const struct plim_array *weights = &arrays->of[WEIGHTS];
    const uint64_t first = i * arrays->n_classes;
    const int64_t class = plim_array_at(&arrays->of[TARGET], i).i;
    const enum plim_shadow_known of_target = plim_array_known_at(&arrays->of[TARGET], i);
    for (uint64_t k = first; k < first + arrays->n_classes; k++)
        result->each[k] = (uint8_t)plim_less_known(of_target, (enum plim_shadow_known)result->each[k]);
    if (class == arrays->ignored || class < 0 || (uint64_t) class >= arrays->n_classes)
        return;
    double gradient = -plim_array_at(&arrays->of[GRADIENT], 0).f;
    enum plim_shadow_known known = plim_less_known(of_target, arrays->of[GRADIENT].known);
    if (arrays->is_mean) {
        gradient /= plim_array_at(&arrays->of[TOTAL], 0).f;
        known = plim_less_known(known, arrays->of[TOTAL].known);
    }
    if (weights->number) {
        gradient *= plim_array_at(weights, (uint64_t) class).f;
        known = plim_less_known(known, plim_array_known_at(weights, (uint64_t) class));
    }
    result->number[first + (uint64_t) class].f = gradient;
    result->each[first + (uint64_t) class] = (uint8_t)known;
}

static bool read_arrays(const struct nll *nll, struct arrays *arrays, void *const *p)
{
    const uint64_t n[N_ARRAYS] = { arrays->n_samples * arrays->n_classes, 1, arrays->n_samples, arrays->n_classes, 1 };
    for (unsigned k = 0; k < N_ARRAYS; k++) {
        const void *pointer = plim_pointer_at(p, k);
        const struct plim_view view = plim_view_flat(pointer, k == TARGET ? nll->target : nll->element, n[k]);
        if ((k == WEIGHTS && !pointer) || (k == TOTAL && !arrays->is_mean))
            continue;
        if (!plim_view_read(&view, &arrays->of[k])) {
            arrays->of[k].number = NULL;
            return false;
        }
    }
    return true;
}

/* What was there, with the elements that the kernel writes. */
static bool compute(struct arrays *arrays, const struct plim_view *to)
{
    const struct plim_array *before = &arrays->of[RESULT];
    struct plim_array result;
    if (!plim_array_make(&result, PLIM_ELEMENT_F64, arrays->n_samples * arrays->n_classes, false))
        return false;
    const bool is_made = plim_array_make_each(&result);
    for (uint64_t i = 0; is_made && i < result.n; i++) {
        result.number[i] = plim_array_at(before, i);
        result.each[i] = (uint8_t)plim_array_known_at(before, i);
    }
    for (uint64_t i = 0; is_made && i < arrays->n_samples; i++)
        sample(arrays, &result, i);
    if (is_made)
        plim_view_write(to, &result);
    plim_array_free(&result);
    return is_made;
}

static void run(const struct nll *nll, void *const *p, struct arrays arrays)
{
    uint64_t n;
    if (__builtin_mul_overflow(arrays.n_samples, arrays.n_classes, &n) || n == 0)
        return;
    arrays.is_mean = plim_flag_at(p, 5);
    const struct plim_view to = plim_view_flat(plim_pointer_at(p, 0), nll->element, n);
    if (n > PLIM_VIEW_MAX_ELEMENTS || !read_arrays(nll, &arrays, p) || !compute(&arrays, &to))
        plim_view_forget(&to);
    for (unsigned k = 0; k < N_ARRAYS; k++)
        if (arrays.of[k].number)
            plim_array_free(&arrays.of[k]);
}

static void run_1d(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    run(parsed, p,
        (struct arrays){ .n_samples = 1, .n_classes = plim_count_at(p, 6, 8), .ignored = plim_int64_at(p, 7) });
}

static void run_2d(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    run(parsed, p,
        (struct arrays){
            .n_samples = plim_count_at(p, 6, 4), .n_classes = plim_count_at(p, 7, 4), .ignored = plim_int64_at(p, 9) });
}

const struct plim_kernel_form plim_form_nll_backward_1d = {
    "at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_1d", parse_1d, run_1d
};
const struct plim_kernel_form plim_form_nll_backward_2d = {
    "at::native::(anonymous namespace)::nll_loss_backward_reduce_cuda_kernel_2d", parse_2d, run_2d
};
