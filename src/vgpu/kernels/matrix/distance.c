/* SPDX-License-Identifier: MIT */
/*
 * cdist_kernel_cuda_impl<T, dists<T>::how>(result, x1, x2, p, rows of x2, columns, pairs of a matrix, size of a matrix
 * of x1, and of x2[, number of results]) of ATen/native/cuda/DistanceKernel.cu; PyTorch 2.5 to 2.15, the last parameter
 * since 2.15; before, the grid has a block for each result.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"

#include <math.h>
#include <stdlib.h>

enum how { ZERO, ONE, TWO, INFINITE, POWER, N_HOWS };

struct distance {
    enum plim_element element;
    enum how how;
    bool tells_n;
};

struct sizes {
    uint64_t n_right, n_columns, n_pairs, left_size, right_size, n;
    double p;
};

static void *parse(struct plim_text name)
{
    static const char function[] = "cdist_kernel_cuda_impl";
    static const char *const names[N_HOWS] = { "::zero", "::one", "::two", "::inf", "::p" };
    struct plim_text arguments, how;
    struct distance found = { .how = N_HOWS, .tells_n = plim_text_has(name, "long, long, long, long, long, long)") };
    if (!plim_name_template(name, function, &arguments) || !plim_name_argument(arguments, 1, &how))
        return NULL;
    found.element = plim_name_template_element(name, function, 0);
    for (unsigned i = 0; i < N_HOWS; i++) {
        const size_t size = strlen(names[i]);
        if (how.size > size && memcmp(how.start + how.size - size, names[i], size) == 0)
            found.how = (enum how)i;
    }
    const bool is_known =
        found.how != N_HOWS && (found.element == PLIM_ELEMENT_F32 || found.element == PLIM_ELEMENT_F64);
    struct distance *distance = is_known ? malloc(sizeof *distance) : NULL;
    if (distance)
        *distance = found;
    return distance;
}

static double add(enum how how, double sum, double difference, double p)
{
    switch (how) {
    case ZERO:
        return sum + fmin(ceil(difference), 1);
    case ONE:
        return sum + difference;
    case TWO:
        return sum + difference * difference;
    case INFINITE:
        return isnan(difference) || difference > sum ? difference : sum;
    case POWER:
    case N_HOWS:
        break;
    }
    return sum + pow(difference, p);
}

static double finish(enum how how, double sum, double p)
{
    return how == TWO ? sqrt(sum) : how == POWER ? pow(sum, 1 / p) : sum;
}

static void compute_one(const struct distance *distance, const struct sizes *sizes, const struct plim_array in[2],
                        struct plim_array *result, uint64_t at)
{
    const uint64_t matrix = at / sizes->n_pairs, pair = at % sizes->n_pairs;
    const uint64_t left = matrix * sizes->left_size + pair / sizes->n_right * sizes->n_columns;
    const uint64_t right = matrix * sizes->right_size + pair % sizes->n_right * sizes->n_columns;
    enum plim_shadow_known known = PLIM_SHADOW_KNOWN;
    double sum = 0;
    for (uint64_t k = 0; k < sizes->n_columns && left + k < in[0].n && right + k < in[1].n; k++) {
        const double a = plim_array_at(&in[0], left + k).f, b = plim_array_at(&in[1], right + k).f;
        sum = add(distance->how, sum, fabs(a - b), sizes->p);
        known = plim_less_known(known, plim_array_known_at(&in[0], left + k));
        known = plim_less_known(known, plim_array_known_at(&in[1], right + k));
    }
    result->number[at].f = finish(distance->how, sum, sizes->p);
    result->each[at] = (uint8_t)known;
}

static bool compute(const struct distance *distance, const struct sizes *sizes, const struct plim_array in[2],
                    const struct plim_view *to)
{
    struct plim_array result;
    if (!plim_array_make(&result, PLIM_ELEMENT_F64, sizes->n, false))
        return false;
    const bool is_made = plim_array_make_each(&result);
    for (uint64_t at = 0; is_made && at < sizes->n; at++)
        compute_one(distance, sizes, in, &result, at);
    if (is_made)
        plim_view_write(to, &result);
    plim_array_free(&result);
    return is_made;
}

static struct sizes sizes_of(const struct distance *distance, const struct plim_kernel_launch *launch)
{
    void *const *p = launch->parameters;
    struct sizes sizes = { plim_count_at(p, 4, 8),
                           plim_count_at(p, 5, 8),
                           plim_count_at(p, 6, 8),
                           plim_count_at(p, 7, 8),
                           plim_count_at(p, 8, 8),
                           launch->grid[0],
                           0 };
    if (distance->tells_n)
        sizes.n = plim_count_at(p, 9, 8);
    if (distance->element == PLIM_ELEMENT_F32) {
        float power;
        memcpy(&power, p[3], sizeof power);
        sizes.p = power;
    } else {
        memcpy(&sizes.p, p[3], sizeof sizes.p);
    }
    return sizes;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct distance *distance = parsed;
    const struct sizes sizes = sizes_of(distance, launch);
    const struct plim_view to = plim_view_flat(plim_pointer_at(launch->parameters, 0), distance->element, sizes.n);
    struct plim_array in[2];
    unsigned n_read = 0;
    uint64_t work;
    const bool is_small = sizes.n_pairs && sizes.n_right && !__builtin_mul_overflow(sizes.n, sizes.n_columns, &work) &&
                          work <= PLIM_VIEW_MAX_ELEMENTS && sizes.left_size <= PLIM_VIEW_MAX_ELEMENTS &&
                          sizes.right_size <= PLIM_VIEW_MAX_ELEMENTS;
    const uint64_t n_matrices = is_small ? (sizes.n + sizes.n_pairs - 1) / sizes.n_pairs : 0;
    for (; is_small && n_read < 2; n_read++) {
        const uint64_t n = n_matrices * (n_read ? sizes.right_size : sizes.left_size);
        const void *from = plim_pointer_at(launch->parameters, 1 + n_read);
        const struct plim_view view = plim_view_flat(from, distance->element, n);
        if (!plim_view_read(&view, &in[n_read]))
            break;
    }
    if (n_read < 2 || !compute(distance, &sizes, in, &to))
        plim_view_forget(&to);
    while (n_read > 0)
        plim_array_free(&in[--n_read]);
}

const struct plim_kernel_form plim_form_distance = { "at::native::(anonymous namespace)::cdist_kernel_cuda_impl", parse,
                                                     run };
