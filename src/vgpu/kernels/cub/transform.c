/* SPDX-License-Identifier: MIT */
/*
 * Thrust's copies, sequences and scatters, which are transforms by the identity:
 *   CCCL 3.3: transform_kernel(n, items for each thread, flag, predicate, identity, out, in), cub/device/dispatch/
 *     kernels/kernel_transform.cuh; `in` is wrapped into kernel_arg<...>, which begins with the iterator
 *   CCCL 2.7: static_kernel(n, unary_transform_f), cub/device/dispatch/dispatch_for.cuh
 *   CCCL 2.3: _kernel_agent<...ParallelForAgent...>(unary_transform_f, n)
 * unary_transform_f (thrust/system/cuda/detail/transform.h) holds the input iterator and then the output iterator. A
 * permutation_iterator holds the iterator of the indices and then the pointer that they are applied to.
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/forms.h"

#include <stdlib.h>

struct transform {
    struct plim_iterator in, out, index; /* index: NONE if the output is written in order */
    unsigned in_at, out_at, n_at;
    unsigned out_offset; /* in its parameter */
    struct plim_text n_type;
};

static bool read_out(struct plim_text type, struct transform *transform)
{
    struct plim_text arguments, part;
    if (!plim_name_template(type, "::permutation_iterator", &arguments))
        return plim_iterator_of(type, &transform->out) && transform->out.kind == PLIM_ITERATOR_POINTER;
    return plim_name_argument(arguments, 0, &part) && plim_iterator_of(part, &transform->out) &&
           transform->out.kind == PLIM_ITERATOR_POINTER && plim_name_argument(arguments, 1, &part) &&
           plim_iterator_of(part, &transform->index) && transform->index.kind == PLIM_ITERATOR_POINTER;
}

/* unary_transform_f<in, out, stencil, functor, predicate> */
static bool read_functor(struct plim_text type, struct transform *transform)
{
    struct plim_text arguments, part;
    if (!plim_name_template(type, "::unary_transform_f", &arguments) || !plim_name_argument(arguments, 3, &part) ||
        !plim_text_has(part, "identity") || !plim_name_argument(arguments, 2, &part) ||
        !plim_text_has(part, "no_stencil_tag") || !plim_name_argument(arguments, 0, &part) ||
        !plim_iterator_of(part, &transform->in) || transform->in.is_flag || !plim_name_argument(arguments, 1, &part))
        return false;
    transform->out_offset = sizeof(void *);
    return read_out(part, transform);
}

static bool read_kernel(struct plim_text parameters, struct transform *transform)
{
    struct plim_text type, arguments;
    transform->out_at = 5;
    transform->in_at = 6;
    return plim_name_argument(parameters, 4, &type) && plim_text_has(type, "identity") &&
           plim_name_argument(parameters, 3, &type) && plim_text_has(type, "always_true_predicate") &&
           plim_name_argument(parameters, 5, &type) && read_out(type, transform) &&
           plim_name_argument(parameters, 6, &type) && plim_name_template(type, "kernel_arg", &arguments) &&
           plim_iterator_of(arguments, &transform->in) && !transform->in.is_flag;
}

static void *parse(struct plim_text name, unsigned functor_at, unsigned n_at)
{
    struct transform *transform = calloc(1, sizeof *transform);
    const struct plim_text parameters = plim_name_parameters(name);
    struct plim_text type;
    if (!transform)
        return NULL;
    transform->in_at = transform->out_at = functor_at;
    transform->n_at = n_at;
    if (plim_name_argument(parameters, n_at, &transform->n_type) && plim_name_argument(parameters, functor_at, &type) &&
        (functor_at == n_at ? read_kernel(parameters, transform) : read_functor(type, transform)) &&
        transform->in.element != PLIM_ELEMENT_NONE && transform->out.element != PLIM_ELEMENT_NONE)
        return transform;
    free(transform);
    return NULL;
}

static void *parse_kernel(struct plim_text name) { return parse(name, 0, 0); }
static void *parse_for_each(struct plim_text name) { return parse(name, 1, 0); }
static void *parse_agent(struct plim_text name)
{
    return plim_text_has(name, "::ParallelForAgent<") ? parse(name, 0, 1) : NULL;
}

/* Numbers at their indices, among those that are there. */
static void put(const struct plim_array *in, const struct plim_array *index, const struct plim_array *old,
                struct plim_array *out)
{
    for (uint64_t i = 0; i < out->n; i++) {
        out->number[i] = plim_array_at(old, i);
        out->each[i] = (uint8_t)plim_array_known_at(old, i);
    }
    for (uint64_t i = 0; i < in->n; i++) {
        const int64_t at = plim_array_at(index, i).i;
        if (at < 0)
            continue;
        out->number[at] = plim_element_convert(out->element, in->element, plim_array_at(in, i));
        out->each[at] = (uint8_t)plim_less_known(index->known, plim_array_known_at(in, i));
    }
}

static bool scatter_to(const struct transform *transform, const char *out_parameter, const struct plim_array *in,
                       const struct plim_array *index)
{
    struct plim_array old, out;
    uint64_t n_out = 0;
    for (uint64_t i = 0; i < in->n; i++)
        if (plim_array_at(index, i).i >= (int64_t)n_out)
            n_out = (uint64_t)plim_array_at(index, i).i + 1;
    if (!plim_iterator_read(&transform->out, out_parameter, n_out, &old))
        return false;
    bool is_done = plim_array_make(&out, old.element, n_out, false);
    if (is_done) {
        is_done = plim_array_make_each(&out);
        if (is_done) {
            put(in, index, &old, &out);
            plim_iterator_write(&transform->out, out_parameter, &out);
        }
        plim_array_free(&out);
    }
    plim_array_free(&old);
    return is_done;
}

/* The indices, then the pointer to which they apply. */
static bool scatter(const struct transform *transform, const char *out_parameter, const struct plim_array *in)
{
    struct plim_array index;
    if (in->n > PLIM_VIEW_MAX_ELEMENTS || !plim_iterator_read(&transform->index, out_parameter, in->n, &index))
        return false;
    const bool is_done = scatter_to(transform, out_parameter + sizeof(void *), in, &index);
    plim_array_free(&index);
    return is_done;
}

static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct transform *transform = parsed;
    const uint64_t n = plim_parameter_count(transform->n_type, launch->parameters[transform->n_at]);
    const char *in_parameter = launch->parameters[transform->in_at];
    const char *out_parameter = (const char *)launch->parameters[transform->out_at] + transform->out_offset;
    struct plim_array in;
    bool is_done = false;
    if (n > 0 && plim_iterator_read(&transform->in, in_parameter, n, &in)) {
        if (transform->index.kind == PLIM_ITERATOR_NONE) {
            plim_iterator_write(&transform->out, out_parameter, &in);
            is_done = true;
        } else {
            is_done = scatter(transform, out_parameter, &in);
        }
        plim_array_free(&in);
    }
    if (!is_done && n > 0 && transform->index.kind == PLIM_ITERATOR_NONE)
        plim_iterator_forget(&transform->out, out_parameter, n);
    else if (!is_done && n > 0)
        plim_shadow_lose(plim_iterator_pointer(&transform->out, out_parameter + sizeof(void *)));
}

const struct plim_kernel_form plim_form_cub_transform = { "transform_kernel", parse_kernel, run };
const struct plim_kernel_form plim_form_cub_for_each = { "for_each::static_kernel", parse_for_each, run };
const struct plim_kernel_form plim_form_thrust_for_each = { "_kernel_agent", parse_agent, run };
