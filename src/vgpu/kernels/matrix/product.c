/* SPDX-License-Identifier: MIT */
#include "vgpu/kernels/matrix/product.h"

#include "vgpu/kernels/view.h"
#include "vgpu/values/policy.h"

#include <string.h>

enum plim_element plim_product_type(int cuda_type, unsigned *ret_bytes)
{
    static const struct {
        uint8_t type, element, bytes;
    } types[] = {
        { 0, PLIM_ELEMENT_F32, 4 },      { 1, PLIM_ELEMENT_F64, 8 },   { 2, PLIM_ELEMENT_F16, 2 },
        { 3, PLIM_ELEMENT_I8, 1 },       { 4, PLIM_ELEMENT_NONE, 8 },  { 5, PLIM_ELEMENT_NONE, 16 },
        { 6, PLIM_ELEMENT_NONE, 4 },     { 8, PLIM_ELEMENT_U8, 1 },    { 10, PLIM_ELEMENT_I32, 4 },
        { 14, PLIM_ELEMENT_BF16, 2 },    { 15, PLIM_ELEMENT_NONE, 4 }, { 28, PLIM_ELEMENT_F8_E4M3FN, 1 },
        { 29, PLIM_ELEMENT_F8_E5M2, 1 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == cuda_type) {
            *ret_bytes = types[i].bytes;
            return (enum plim_element)types[i].element;
        }
    *ret_bytes = 1; /* 4-bit types, of which C has none */
    return PLIM_ELEMENT_NONE;
}

bool plim_product_scale(int cuda_type, const void *from, double *ret_value)
{
    unsigned bytes;
    const enum plim_element element = plim_product_type(cuda_type, &bytes);
    if (!from || element == PLIM_ELEMENT_NONE)
        return false;
    *ret_value = plim_element_as_double(element, plim_element_load(element, from));
    return true;
}

/* A matrix: rows and columns with steps in elements. */
static struct plim_view view_of(const void *address, enum plim_element element, int64_t rows, int64_t columns,
                                const int64_t steps[3])
{
    const int64_t bytes = plim_element_bytes(element);
    struct plim_view view;
    view.address = (uint64_t)(uintptr_t)address;
    view.element = element;
    view.n_dimensions = 2;
    view.size[0] = rows;
    view.size[1] = columns;
    view.stride_bytes[0] = steps[0] * bytes;
    view.stride_bytes[1] = steps[1] * bytes;
    return view;
}

/* Column by column if there is something between them that is not of C. */
static void forget_one(const struct plim_product *p, char *c)
{
    enum { MAX_COLUMNS = 4096 };
    const int64_t bytes = p->c_bytes, column = ((p->m - 1) * p->c_step[0] + 1) * bytes;
    const int64_t all = column + (p->n - 1) * p->c_step[1] * bytes;
    const bool is_dense = column >= p->c_step[1] * bytes;
    if (!plim_view_is_memory(c) || column <= 0 || all <= 0)
        return;
    if (is_dense || p->n > MAX_COLUMNS)
        plim_shadow_forget(c, (size_t)all);
    else
        for (int64_t j = 0; j < p->n; j++)
            plim_shadow_forget(c + j * p->c_step[1] * bytes, (size_t)column);
}

struct factors {
    struct plim_array a, b, c, bias;
};

/* A number of the result, and its certainty. */
static double sum_at(const struct plim_product *p, const struct factors *f, int64_t i, int64_t j,
                     enum plim_shadow_known *ret_known)
{
    double sum = 0;
    *ret_known = PLIM_SHADOW_KNOWN;
    for (int64_t l = 0; l < p->k; l++) {
        const uint64_t at_a = (uint64_t)(i + l * p->m), at_b = (uint64_t)(l + j * p->k);
        sum += plim_element_as_double(f->a.element, plim_array_at(&f->a, at_a)) *
               plim_element_as_double(f->b.element, plim_array_at(&f->b, at_b));
        *ret_known = plim_less_known(
            *ret_known, plim_less_known(plim_array_known_at(&f->a, at_a), plim_array_known_at(&f->b, at_b)));
    }
    return sum;
}

static bool fill(const struct plim_product *p, const struct factors *f, struct plim_array *result)
{
    if (!plim_array_make_each(result))
        return false;
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = 0; i < p->m; i++) {
            const uint64_t at = (uint64_t)(i + j * p->m);
            enum plim_shadow_known known;
            double value = p->alpha * sum_at(p, f, i, j, &known);
            if (p->beta != 0) {
                value += p->beta * plim_element_as_double(f->c.element, plim_array_at(&f->c, at));
                known = plim_less_known(known, plim_array_known_at(&f->c, at));
            }
            if (p->bias) {
                value += plim_element_as_double(f->bias.element, plim_array_at(&f->bias, (uint64_t)i));
                known = plim_less_known(known, plim_array_known_at(&f->bias, (uint64_t)i));
            }
            result->number[result->is_constant ? 0 : at] =
                plim_element_convert((enum plim_element)p->c_type, PLIM_ELEMENT_F64, (union plim_scalar){ .f = value });
            result->each[at] = (uint8_t)known;
        }
    return true;
}

/* False: too large, or nothing is known of A or B. */
static bool compute(const struct plim_product *p, const char *a, const char *b, char *c)
{
    const struct plim_view view_a = view_of(a, (enum plim_element)p->a_type, p->m, p->k, p->a_step);
    const struct plim_view view_b = view_of(b, (enum plim_element)p->b_type, p->k, p->n, p->b_step);
    const struct plim_view view_c = view_of(c, (enum plim_element)p->c_type, p->m, p->n, p->c_step);
    const struct plim_view view_bias = plim_view_flat(p->bias, (enum plim_element)p->bias_type, (uint64_t)p->m);
    struct factors f = { .a = { .n = 0 } };
    struct plim_array result = { .n = 0 };
    bool is_done =
        plim_view_read(&view_a, &f.a) && plim_view_read(&view_b, &f.b) &&
        !(f.a.is_constant && f.a.n > 1 && f.a.known == PLIM_SHADOW_UNKNOWN) &&
        !(f.b.is_constant && f.b.n > 1 && f.b.known == PLIM_SHADOW_UNKNOWN) &&
        (p->beta == 0 || plim_view_read(&view_c, &f.c)) && (!p->bias || plim_view_read(&view_bias, &f.bias)) &&
        plim_array_make(&result, (enum plim_element)p->c_type, (uint64_t)(p->m * p->n), false) && fill(p, &f, &result);
    if (is_done)
        plim_view_write(&view_c, &result);
    plim_array_free(&f.a);
    plim_array_free(&f.b);
    plim_array_free(&f.c);
    plim_array_free(&f.bias);
    plim_array_free(&result);
    return is_done;
}

static bool is_small(const struct plim_product *p)
{
    int64_t n;
    return p->is_plain && plim_element_bytes((enum plim_element)p->a_type) &&
           plim_element_bytes((enum plim_element)p->b_type) && plim_element_bytes((enum plim_element)p->c_type) &&
           !__builtin_mul_overflow(p->m, p->n, &n) && !__builtin_mul_overflow(n, p->k > 0 ? p->k : 1, &n) &&
           !__builtin_mul_overflow(n, p->n_batches, &n) && n <= PLIM_PRODUCT_MOST;
}

/* The matrix of this number in the batch. NULL: nobody knows. */
static char *matrix_at(const struct plim_product *p, const void *first, int64_t step, unsigned bytes, int64_t batch)
{
    char *address = NULL;
    if (!p->is_indirect)
        return (char *)(uintptr_t)first + batch * step * bytes;
    return plim_shadow_read(&address, (const char *)first + batch * 8, sizeof address) == PLIM_SHADOW_KNOWN ? address
                                                                                                            : NULL;
}

void plim_product_apply(const struct plim_product *p)
{
    const unsigned a_bytes = plim_element_bytes((enum plim_element)p->a_type);
    const unsigned b_bytes = plim_element_bytes((enum plim_element)p->b_type);
    if (plim_values_policy() == PLIM_VALUES_OFF || p->m <= 0 || p->n <= 0 || p->n_batches <= 0)
        return;
    const bool is_computed = is_small(p);
    /* Matrices one behind the other are forgotten at once. */
    if (!is_computed && !p->is_indirect && p->n_batches > 1 && p->c_step[0] == 1 && p->c_step[1] == p->m &&
        p->c_step[2] == p->m * p->n) {
        if (plim_view_is_memory(p->c))
            plim_shadow_forget(p->c, (size_t)(p->c_step[2] * p->n_batches) * p->c_bytes);
        return;
    }
    for (int64_t i = 0; i < p->n_batches; i++) {
        char *c = matrix_at(p, p->c, p->c_step[2], p->c_bytes, i);
        if (c && !(is_computed && compute(p, matrix_at(p, p->a, p->a_step[2], a_bytes, i),
                                          matrix_at(p, p->b, p->b_step[2], b_bytes, i), c)))
            forget_one(p, c);
    }
}
