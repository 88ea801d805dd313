/* SPDX-License-Identifier: MIT */
/*
 * masked_scatter (ATen/native/cuda/IndexKernel.cu, launch_masked_scatter_kernel; PyTorch 2.5 to 2.15): an elementwise
 * kernel whose functor holds the pointer to the source,
 *   vectorized_elementwise_kernel(int n, functor, { out, in, mask, places })
 * where the places are the sums of the mask before each element. Language models with images put features so into the
 * embeddings of a text.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <stdlib.h>

struct scatter {
    enum plim_element element;
};

/* The functor is a lambda: "{lambda(float, bool, long)#1}". */
static void *parse(struct plim_text name)
{
    struct scatter *scatter = calloc(1, sizeof *scatter);
    const struct plim_text functor = plim_text_after(name, "::launch_masked_scatter_kernel(");
    struct plim_text rest = functor, type;
    while (scatter && !scatter->element && (rest = plim_text_after(rest, "{lambda(")).size > 0)
        if (plim_name_argument(rest, 1, &type) && plim_text_is(type, "bool") && plim_name_argument(rest, 0, &type))
            scatter->element = plim_name_element(type);
    if (scatter && scatter->element)
        return scatter;
    free(scatter);
    return NULL;
}

enum { IN, MASK, PLACE, SOURCE, N_ARRAYS };

static uint64_t n_of_source(const struct plim_array *mask, const struct plim_array *place)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < mask->n; i++)
        if (plim_array_at(mask, i).i && plim_array_at(place, i).i >= (int64_t)n)
            n = (uint64_t)plim_array_at(place, i).i + 1;
    return n;
}

static void compute(const struct plim_array *array, struct plim_array *out)
{
    for (uint64_t i = 0; i < out->n; i++) {
        enum plim_shadow_known known = plim_array_known_at(&array[MASK], i);
        const uint64_t place = (uint64_t)plim_array_at(&array[PLACE], i).i;
        if (!plim_array_at(&array[MASK], i).i) {
            out->number[i] = plim_array_at(&array[IN], i);
            known = plim_less_known(known, plim_array_known_at(&array[IN], i));
        } else if (place < array[SOURCE].n) {
            out->number[i] = plim_array_at(&array[SOURCE], place);
            known = plim_less_known(known, plim_less_known(plim_array_known_at(&array[PLACE], i),
                                                           plim_array_known_at(&array[SOURCE], place)));
        } else {
            known = PLIM_SHADOW_UNKNOWN;
        }
        out->each[i] = (uint8_t)known;
    }
}

/* Nothing is lost if nothing was known of the numbers. */
static bool is_all_unknown(const struct plim_array *array)
{
    for (unsigned i = 0; i < N_ARRAYS; i += SOURCE - IN)
        if (!array[i].is_constant || array[i].known != PLIM_SHADOW_UNKNOWN ||
            (plim_element_is_float(array[i].element) ? array[i].one.f != 0 : array[i].one.i != 0))
            return false;
    return true;
}

static bool read_and_compute(const struct scatter *scatter, const void *source, char *const *data, uint64_t n,
                             const struct plim_view *out_view)
{
    struct plim_view views[N_ARRAYS] = { plim_view_flat(data[1], scatter->element, n),
                                         plim_view_flat(data[2], PLIM_ELEMENT_BOOL, n),
                                         plim_view_flat(data[3], PLIM_ELEMENT_I64, n),
                                         plim_view_flat(source, scatter->element, 0) };
    struct plim_array array[N_ARRAYS], out;
    unsigned n_read = 0;
    bool is_done = n <= PLIM_VIEW_MAX_ELEMENTS;
    while (is_done && n_read < N_ARRAYS) {
        if (n_read == SOURCE)
            views[SOURCE].size[0] = (int64_t)n_of_source(&array[MASK], &array[PLACE]);
        is_done = plim_view_read(&views[n_read], &array[n_read]);
        n_read += is_done;
    }
    is_done = is_done && !is_all_unknown(array) && plim_array_make(&out, scatter->element, n, false);
    if (is_done) {
        is_done = plim_array_make_each(&out);
        if (is_done) {
            compute(array, &out);
            plim_view_write(out_view, &out);
        }
        plim_array_free(&out);
    }
    while (n_read > 0)
        plim_array_free(&array[--n_read]);
    return is_done;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct scatter *scatter = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 0, 4);
    char *data[4];
    memcpy(data, p[2], sizeof data);
    const struct plim_view out = plim_view_flat(data[0], scatter->element, n);
    if (!read_and_compute(scatter, plim_pointer_at(p, 1), data, n, &out))
        plim_view_forget(&out);
}

const struct plim_kernel_form plim_form_masked_scatter = { "at::native::vectorized_elementwise_kernel", parse, run };
