/* SPDX-License-Identifier: MIT */
/*
 * nll_loss_forward_reduce_cuda_kernel_1d and _2d: (output, total_weight, input, target, weights, size_average,
 * [number of samples, number of dimensions,] classes, ignore_index) of ATen/native/cuda/NLLLoss.cu; PyTorch 2.5 to
 * 2.15. The loss is mostly a guess, but the total weight, the number of targets that count, is not.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

struct nll {
    enum plim_element element, target;
};

static void *parse_of(struct plim_text name, const char *function, unsigned target)
{
    struct nll *nll = calloc(1, sizeof *nll);
    if (nll && (nll->element = plim_name_template_element(name, function, 0)) &&
        (nll->target = plim_name_template_element(name, function, target)))
        return nll;
    free(nll);
    return NULL;
}

static void *parse_1d(struct plim_text name) { return parse_of(name, "nll_loss_forward_reduce_cuda_kernel_1d", 1); }

static void *parse_2d(struct plim_text name) { return parse_of(name, "nll_loss_forward_reduce_cuda_kernel_2d", 2); }

struct loss {
    struct plim_array input, target, weights;
    bool has_input, has_target, has_weights; /* has_weights: they are given and were read */
    double sum, total;
    enum plim_shadow_known known, total_known;
};

static void add(struct loss *loss, uint64_t n_samples, uint64_t n_classes, int64_t ignored)
{
    loss->known = loss->total_known = PLIM_SHADOW_KNOWN;
    for (uint64_t i = 0; i < n_samples; i++) {
        const int64_t class = plim_array_at(&loss->target, i).i;
        loss->total_known = plim_less_known(loss->total_known, plim_array_known_at(&loss->target, i));
        if (class == ignored || class < 0 || (uint64_t) class >= n_classes)
            continue;
        const double weight = loss->has_weights ? plim_array_at(&loss->weights, (uint64_t) class).f : 1;
        if (loss->has_weights)
            loss->total_known = plim_less_known(loss->total_known, loss->weights.known);
        loss->total += weight;
        if (!loss->has_input)
            continue;
        const uint64_t at = i * n_classes + (uint64_t) class;
        loss->sum -= plim_array_at(&loss->input, at).f * weight;
        loss->known = plim_less_known(loss->known, plim_array_known_at(&loss->input, at));
    }
    loss->known = loss->has_input ? plim_less_known(loss->known, loss->total_known) : PLIM_SHADOW_UNKNOWN;
}

static void write_one(const void *to, enum plim_element element, double value, enum plim_shadow_known known)
{
    const struct plim_view view = plim_view_flat(to, element, 1);
    struct plim_array array;
    plim_array_make(&array, PLIM_ELEMENT_F64, 1, true);
    array.one.f = value;
    array.known = known;
    plim_view_write(&view, &array);
}

static void run(const struct nll *nll, void *const *p, uint64_t n_samples, uint64_t n_classes, int64_t ignored)
{
    const struct plim_view target = plim_view_flat(plim_pointer_at(p, 3), nll->target, n_samples);
    const struct plim_view weights = plim_view_flat(plim_pointer_at(p, 4), nll->element, n_classes);
    struct loss loss = { .sum = 0 };
    uint64_t n;
    const bool is_bounded = !__builtin_mul_overflow(n_samples, n_classes, &n) && n_samples <= PLIM_VIEW_MAX_ELEMENTS;
    const struct plim_view input = plim_view_flat(plim_pointer_at(p, 2), nll->element, n);
    loss.has_target = is_bounded && plim_view_read(&target, &loss.target);
    loss.has_input = is_bounded && plim_view_read(&input, &loss.input);
    const bool wants_weights = plim_pointer_at(p, 4) != NULL;
    loss.has_weights = wants_weights && plim_view_read(&weights, &loss.weights);
    const bool is_computed = loss.has_target && loss.has_weights == wants_weights;
    if (is_computed)
        add(&loss, n_samples, n_classes, ignored);
    const double total = loss.total, sum = plim_flag_at(p, 5) ? loss.sum / total : loss.sum;
    write_one(plim_pointer_at(p, 0), nll->element, sum, is_computed ? loss.known : PLIM_SHADOW_UNKNOWN);
    write_one(plim_pointer_at(p, 1), nll->element, total, is_computed ? loss.total_known : PLIM_SHADOW_UNKNOWN);
    if (loss.has_target)
        plim_array_free(&loss.target);
    if (loss.has_input)
        plim_array_free(&loss.input);
    if (loss.has_weights)
        plim_array_free(&loss.weights);
}

static void run_1d(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    run(parsed, p, 1, plim_count_at(p, 6, 8), plim_int64_at(p, 7));
}

static void run_2d(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    run(parsed, p, plim_count_at(p, 6, 8), plim_count_at(p, 8, 8), plim_int64_at(p, 9));
}

const struct plim_kernel_form plim_form_nll_1d = {
    "at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_1d", parse_1d, run_1d
};
const struct plim_kernel_form plim_form_nll_2d = {
    "at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d", parse_2d, run_2d
};
