/* SPDX-License-Identifier: MIT */
/*
 * kernelHistogram1D<output, input, index, ADims, PDims, BDims, memory, op>(TensorInfo a, p, b, nbins, minvalue,
 * maxvalue, totalElements, op): bincount and histc add to the bins of `a`, which are zero before (ATen/native/cuda/
 * SummaryOps.cu; PyTorch 2.5 to 2.15).
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct histogram {
    enum plim_element in, out;
    bool has_weights; /* the op, the first of two lambdas, holds the TensorInfo of the weights, of the output's type */
};

enum { INDEX_BYTES = 8 };

static void *parse(struct plim_text name)
{
    struct plim_text arguments, index, has_weights, op;
    struct histogram *histogram = calloc(1, sizeof *histogram);
    if (histogram && plim_name_template(name, "kernelHistogram1D", &arguments) &&
        plim_name_argument(arguments, 2, &index) && plim_text_is(index, "long") &&
        plim_name_template(name, "CUDA_tensor_histogram", &arguments) &&
        plim_name_argument(arguments, 2, &has_weights) && plim_name_argument(plim_name_parameters(name), 7, &op)) {
        histogram->out = plim_name_template_element(name, "kernelHistogram1D", 0);
        histogram->in = plim_name_template_element(name, "kernelHistogram1D", 1);
        histogram->has_weights = plim_text_is(has_weights, "true") && !plim_text_has(op, "{lambda(long)#2}");
        if (histogram->in && histogram->out)
            return histogram;
    }
    free(histogram);
    return NULL;
}

struct bins {
    const struct histogram *histogram;
    struct plim_array in, weights, out;
    double least, most;
    int64_t n;
};

/* AccumulateType: the type of the ends, and of the arithmetic. */
static enum plim_element end_type(enum plim_element in)
{
    return in == PLIM_ELEMENT_F64 ? in : plim_element_is_float(in) ? PLIM_ELEMENT_F32 : PLIM_ELEMENT_I64;
}

/* The bin of a value; -1: it is out of range. The upper end belongs to the last bin. */
static int64_t bin_of(const struct bins *bins, double value)
{
    const double width = bins->most - bins->least;
    int64_t bin;
    if (!(value >= bins->least && value <= bins->most))
        return -1;
    if (bins->in.element == PLIM_ELEMENT_F64)
        bin = (int64_t)((value - bins->least) * (double)bins->n / width);
    else if (plim_element_is_float(bins->in.element))
        bin = (int64_t)(((float)value - (float)bins->least) * (float)bins->n / (float)width);
    else
        bin = (int64_t)(value - bins->least) * bins->n / (int64_t)width;
    return bin >= bins->n ? bins->n - 1 : bin;
}

static void count(struct bins *bins)
{
    enum plim_shadow_known known = plim_less_known(bins->in.known, bins->out.known);
    const bool is_float = plim_element_is_float(bins->out.element);
    if (bins->histogram->has_weights)
        known = plim_less_known(known, bins->weights.known);
    for (uint64_t i = 0; i < bins->in.n; i++) {
        const int64_t bin = bin_of(bins, plim_element_as_double(bins->in.element, plim_array_at(&bins->in, i)));
        if (bin < 0 || (uint64_t)bin >= bins->out.n)
            continue;
        const union plim_scalar weight = bins->histogram->has_weights ? plim_array_at(&bins->weights, i)
                                         : is_float                   ? (union plim_scalar){ .f = 1 }
                                                                      : (union plim_scalar){ .i = 1 };
        if (is_float)
            bins->out.number[bin].f += weight.f;
        else
            bins->out.number[bin].i += weight.i;
    }
    bins->out.known = known;
}

/* The bins as they are, as numbers of their own. */
static bool read_bins(const struct plim_view *view, struct plim_array *ret_array)
{
    struct plim_array before;
    if (!plim_view_read(view, &before))
        return false;
    const bool has_room = plim_array_make(ret_array, before.element, before.n, false);
    for (uint64_t i = 0; has_room && i < before.n; i++)
        ret_array->number[i] = plim_array_at(&before, i);
    ret_array->known = before.known;
    plim_array_free(&before);
    return has_room;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    struct bins bins = { .histogram = parsed };
    struct plim_view to, from, weights;
    const struct histogram *h = parsed;
    if (!plim_view_of_info(p[0], h->out, INDEX_BYTES, &to) || !plim_view_of_info(p[2], h->in, INDEX_BYTES, &from) ||
        (h->has_weights && !plim_view_of_info(p[7], h->out, INDEX_BYTES, &weights)))
        return;
    bins.n = plim_int64_at(p, 3);
    const enum plim_element end = end_type(h->in);
    bins.least = plim_element_as_double(end, plim_element_load(end, p[4]));
    bins.most = plim_element_as_double(end, plim_element_load(end, p[5]));
    bool is_done = bins.n > 0 && bins.n < INT32_MAX && bins.most > bins.least && bins.most - bins.least < 0x1p32 &&
                   plim_view_n(&from) == plim_count_at(p, 6, 8) && plim_view_n(&from) <= PLIM_VIEW_MAX_ELEMENTS &&
                   plim_view_read(&from, &bins.in);
    if (is_done) {
        const bool has_weights = h->has_weights && plim_view_read(&weights, &bins.weights);
        const bool has_bins = read_bins(&to, &bins.out);
        is_done = has_bins && has_weights == h->has_weights;
        if (is_done) {
            count(&bins);
            plim_view_write(&to, &bins.out);
        }
        if (has_weights)
            plim_array_free(&bins.weights);
        if (has_bins)
            plim_array_free(&bins.out);
        plim_array_free(&bins.in);
    }
    if (!is_done)
        plim_view_forget(&to);
}

const struct plim_kernel_form plim_form_histogram = { "at::cuda::kernelHistogram1D", parse, run };
