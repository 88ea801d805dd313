/* SPDX-License-Identifier: MIT */
/*
 * nll_loss_forward_no_reduce_cuda_kernel<T, index>(batch size, PackedTensorAccessor of the input, target, output,
 * weights, classes, ignore_index) of ATen/native/cuda/NLLLoss.cu; PyTorch 2.5 to 2.15. The accessor has the pointer,
 * two sizes and two strides in elements, of 64 bits (ATen/core/TensorAccessor.h).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct nll {
    enum plim_element element, target;
};

struct arrays {
    struct plim_array input, target, weights; /* one without numbers is missing */
    uint64_t n_samples, n_classes;
    int64_t ignored;
};

struct accessor {
    const void *data;
    int64_t size[2], stride[2];
};

static void *parse(struct plim_text name)
{
    static const char function[] = "nll_loss_forward_no_reduce_cuda_kernel";
    struct nll *nll = calloc(1, sizeof *nll);
    if (nll && plim_text_has(name, "PackedTensorAccessor") &&
        (nll->element = plim_name_template_element(name, function, 0)) &&
        (nll->target = plim_name_template_element(name, function, 1)))
        return nll;
    free(nll);
    return NULL;
}

static void sample(const struct arrays *arrays, struct plim_array *result, uint64_t i)
{
    const int64_t class = plim_array_at(&arrays->target, i).i;
    enum plim_shadow_known known = plim_array_known_at(&arrays->target, i);
    double loss = 0;
    if (class != arrays->ignored && class >= 0 && (uint64_t) class < arrays->n_classes) {
        const uint64_t at = i * arrays->n_classes + (uint64_t) class;
        loss = -plim_array_at(&arrays->input, at).f;
        known = plim_less_known(known, plim_array_known_at(&arrays->input, at));
        if (arrays->weights.number) {
            loss *= plim_array_at(&arrays->weights, (uint64_t) class).f;
            known = plim_less_known(known, plim_array_known_at(&arrays->weights, (uint64_t) class));
        }
    }
    result->number[i].f = loss;
    result->each[i] = (uint8_t)known;
}

static bool compute(const struct arrays *arrays, const struct plim_view *to)
{
    struct plim_array result;
    if (!plim_array_make(&result, PLIM_ELEMENT_F64, arrays->n_samples, false))
        return false;
    const bool is_made = plim_array_make_each(&result);
    for (uint64_t i = 0; is_made && i < arrays->n_samples; i++)
        sample(arrays, &result, i);
    if (is_made)
        plim_view_write(to, &result);
    plim_array_free(&result);
    return is_made;
}

static bool read_one(const void *from, enum plim_element element, uint64_t n, struct plim_array *ret_array)
{
    const struct plim_view view = plim_view_flat(from, element, n);
    if (plim_view_read(&view, ret_array))
        return true;
    ret_array->number = NULL;
    return false;
}

static bool read_arrays(const struct nll *nll, struct arrays *arrays, void *const *p)
{
    struct accessor accessor;
    memcpy(&accessor, p[1], sizeof accessor);
    const int64_t bytes = plim_element_bytes(nll->element);
    struct plim_view input = plim_view_flat(accessor.data, nll->element, 1);
    input.n_dimensions = 0;
    const bool is_small = arrays->n_samples <= PLIM_VIEW_MAX_ELEMENTS && arrays->n_classes <= PLIM_VIEW_MAX_ELEMENTS &&
                          llabs(accessor.stride[0]) <= INT32_MAX && llabs(accessor.stride[1]) <= INT32_MAX;
    if (!is_small || !plim_view_add_fastest(&input, arrays->n_samples, accessor.stride[0] * bytes) ||
        !plim_view_add_fastest(&input, arrays->n_classes, accessor.stride[1] * bytes))
        return false;
    if (!plim_view_read(&input, &arrays->input)) {
        arrays->input.number = NULL;
        return false;
    }
    const void *weights = plim_pointer_at(p, 4);
    return read_one(plim_pointer_at(p, 2), nll->target, arrays->n_samples, &arrays->target) &&
           (!weights || read_one(weights, nll->element, arrays->n_classes, &arrays->weights));
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct nll *nll = parsed;
    void *const *p = launch->parameters;
    struct arrays arrays = { .n_samples = plim_count_at(p, 0, 8),
                             .n_classes = plim_count_at(p, 5, 8),
                             .ignored = plim_int64_at(p, 6) };
    const struct plim_view to = plim_view_flat(plim_pointer_at(p, 3), nll->element, arrays.n_samples);
    if (!read_arrays(nll, &arrays, p) || !compute(&arrays, &to))
        plim_view_forget(&to);
    struct plim_array *const all[] = { &arrays.input, &arrays.target, &arrays.weights };
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k]->number)
            plim_array_free(all[k]);
}

const struct plim_kernel_form plim_form_nll_each = {
    "at::native::(anonymous namespace)::nll_loss_forward_no_reduce_cuda_kernel", parse, run
};
