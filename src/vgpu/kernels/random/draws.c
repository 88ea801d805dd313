/* SPDX-License-Identifier: MIT */
/*
 * Other kernels that draw (PyTorch 2.5 to 2.15):
 *   kernelPointwiseApply2<bernoulli_tensor_cuda_kernel..., 4 elements of a step>(out, p, n, lambda): thread t compares
 *     the first four numbers of stream t with p, for four elements, and so again in each of its steps
 *     (ATen/native/cuda/DistributionTemplates.h, ATen/cuda/CUDAApplyUtils.cuh; the lambda is the PhiloxCudaState)
 *   randperm_handle_duplicate_keys_kernel(keys, data, mask, int n, PhiloxCudaState): shuffles the data of equal keys
 *     (ATen/native/cuda/Randperm.cuh)
 *   sampleMultinomialOnce(int64 *out, int64 rows, ...): what it writes becomes unknown
 */
#include "vgpu/kernels/cub/iterator.h"
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/random/philox.h"

#include <stdlib.h>

/* --- flags with a probability each --- */

struct bernoulli {
    enum plim_element out, p;
    unsigned index_bytes;
};

static void *parse_bernoulli(struct plim_text name)
{
    static const char kernel[] = "kernelPointwiseApply2";
    struct bernoulli *bernoulli = calloc(1, sizeof *bernoulli);
    struct plim_text arguments, text;
    if (bernoulli && plim_name_template(name, kernel, &arguments) && plim_name_argument(arguments, 0, &text) &&
        plim_text_has(text, "::bernoulli_tensor_cuda_kernel<") && plim_name_argument(arguments, 6, &text) &&
        plim_text_is(text, "4") && plim_name_argument(arguments, 3, &text)) {
        bernoulli->out = plim_name_template_element(name, kernel, 1);
        bernoulli->p = plim_name_template_element(name, kernel, 2);
        bernoulli->index_bytes = plim_element_bytes(plim_name_element(text));
        if (bernoulli->out && bernoulli->p && (bernoulli->index_bytes == 4 || bernoulli->index_bytes == 8))
            return bernoulli;
    }
    free(bernoulli);
    return NULL;
}

static void compare(const struct plim_philox *philox, uint64_t n_threads, const struct plim_array *p,
                    struct plim_array *out)
{
    enum { STEP = 4 };
    uint32_t draw[STEP];
    for (uint64_t i = 0; i < out->n; i++) {
        if (i % STEP == 0)
            plim_philox_four(philox, i / STEP % n_threads, 0, draw);
        out->number[i].i = (double)plim_philox_uniform(draw[i % STEP]) <= plim_array_at(p, i).f;
        out->each[i] = (uint8_t)plim_less_known(philox->known, plim_array_known_at(p, i));
    }
}

static void run_bernoulli(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct bernoulli *bernoulli = parsed;
    void *const *parameters = launch->parameters;
    const uint64_t n = plim_count_at(parameters, 2, bernoulli->index_bytes);
    const uint64_t n_threads = (uint64_t)launch->grid[0] * launch->block[0];
    const struct plim_philox philox = plim_philox_of(parameters[3]);
    struct plim_view out_view, p_view;
    struct plim_array p, out;
    if (!plim_view_of_info(parameters[0], bernoulli->out, bernoulli->index_bytes, &out_view))
        return;
    plim_view_forget(&out_view);
    if (n_threads == 0 || plim_view_n(&out_view) != n ||
        !plim_view_of_info(parameters[1], bernoulli->p, bernoulli->index_bytes, &p_view) || plim_view_n(&p_view) != n ||
        !plim_view_read(&p_view, &p))
        return;
    if (n <= PLIM_PHILOX_MAX_NUMBERS && plim_array_make(&out, PLIM_ELEMENT_I64, n, false)) {
        if (plim_array_make_each(&out)) {
            compare(&philox, n_threads, &p, &out);
            plim_view_write(&out_view, &out);
        }
        plim_array_free(&out);
    }
    plim_array_free(&p);
}

/* --- permutations --- */

struct permutation {
    struct plim_iterator keys, data;
};

static void *parse_permutation(struct plim_text name)
{
    struct permutation *permutation = calloc(1, sizeof *permutation);
    struct plim_text type;
    const struct plim_text parameters = plim_name_parameters(name);
    if (permutation && plim_name_argument(parameters, 0, &type) && plim_iterator_of(type, &permutation->keys) &&
        permutation->keys.element != PLIM_ELEMENT_NONE && plim_name_argument(parameters, 1, &type) &&
        plim_iterator_of(type, &permutation->data))
        return permutation;
    free(permutation);
    return NULL;
}

/* As many elements as have the same key; the first of them draws. */
static void shuffle(const struct plim_philox *philox, uint64_t first, uint64_t n, unsigned width, uint8_t *data)
{
    uint8_t old[16];
    uint32_t draw[4];
    for (uint64_t i = n - 1, call = 0; i > 0; i--, call++) {
        plim_philox_four(philox, first, call, draw);
        const uint64_t other = draw[0] % (i + 1);
        memcpy(old, data + i * width, width);
        memcpy(data + i * width, data + other * width, width);
        memcpy(data + other * width, old, width);
    }
}

static void shuffle_all(const struct plim_philox *philox, const struct plim_array *keys, int64_t mask, unsigned width,
                        uint8_t *data)
{
    for (uint64_t i = 0, end; i < keys->n; i = end) {
        for (end = i + 1; end < keys->n && !((plim_array_at(keys, end).i ^ plim_array_at(keys, i).i) & mask);)
            end++;
        if (end - i > 1)
            shuffle(philox, i, end - i, width, data + i * width);
    }
}

static void run_permutation(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct permutation *permutation = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, 4);
    const unsigned width = permutation->data.width;
    const int64_t mask = plim_element_load((enum plim_element)permutation->keys.element, p[2]).i;
    const struct plim_philox philox = plim_philox_of(p[4]);
    void *const to = plim_iterator_pointer(&permutation->data, p[1]);
    struct plim_array keys;
    if (n == 0 || width > 16 || !plim_view_is_memory(to))
        return;
    uint8_t *data = n <= PLIM_VIEW_MAX_ELEMENTS ? malloc(n * width) : NULL;
    if (!data || !plim_iterator_read(&permutation->keys, p[0], n, &keys)) {
        free(data);
        plim_shadow_forget(to, n * width);
        return;
    }
    const enum plim_shadow_known known = plim_shadow_read(data, to, n * width);
    /* Keys that are guesses are all alike: what is there is a permutation, and stays one. */
    if (keys.known == PLIM_SHADOW_KNOWN)
        shuffle_all(&philox, &keys, mask, width, data);
    plim_shadow_write(to, data, n * width, plim_less_known(known, plim_less_known(philox.known, keys.known)));
    plim_array_free(&keys);
    free(data);
}

/* --- unknown results --- */

static void *parse_always(struct plim_text name)
{
    static char known;
    (void)name;
    return &known;
}

static void forget_indices(const void *to, uint64_t n)
{
    const struct plim_view view = plim_view_flat(to, PLIM_ELEMENT_I64, n);
    plim_view_forget(&view);
}

/* (int64 *out, int64 distributions, ...) */
static void run_multinomial_once(const void *parsed, const struct plim_kernel_launch *launch)
{
    (void)parsed;
    forget_indices(plim_pointer_at(launch->parameters, 0), plim_count_at(launch->parameters, 1, 8));
}

const struct plim_kernel_form plim_form_bernoulli = { "at::cuda::(anonymous namespace)::kernelPointwiseApply2",
                                                      parse_bernoulli, run_bernoulli };
const struct plim_kernel_form plim_form_permutation = { "randperm_handle_duplicate_keys_kernel", parse_permutation,
                                                        run_permutation };
const struct plim_kernel_form plim_form_multinomial_once = { "sampleMultinomialOnce", parse_always,
                                                             run_multinomial_once };
