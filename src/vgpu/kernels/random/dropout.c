/* SPDX-License-Identifier: MIT */
/*
 * Dropout (ATen/native/cuda/Dropout.cu; PyTorch 2.5 to 2.15):
 *   fused_dropout_kernel<T, acc, index, dims, dims, mask>(in, out, mask, n, p, PhiloxCudaState)
 *   fused_dropout_kernel_vec<T, acc, index, dims, width, mask>(the same)
 * in, out and mask are TensorInfo; p is the share that stays. Thread t has stream t. The first takes four numbers for
 * the elements t, t + threads, ...; the second, for each of its steps, the elements width * t and following, and as
 * many numbers as they need, by four.
 */
#include "vgpu/kernels/forms.h"
#include "vgpu/kernels/parameters.h"
#include "vgpu/kernels/random/philox.h"

#include <stdlib.h>

struct dropout {
    enum plim_element out, mask, p;
    unsigned index_bytes, width; /* width: 0: of the first */
};

static void *parse_of(struct plim_text name, const char *kernel, bool is_vectorized)
{
    struct dropout *dropout = calloc(1, sizeof *dropout);
    struct plim_text arguments, text;
    if (dropout && plim_name_template(name, kernel, &arguments) && plim_name_argument(arguments, 2, &text)) {
        dropout->index_bytes = plim_element_bytes(plim_name_element(text));
        dropout->out = plim_name_template_element(name, kernel, 0);
        dropout->p = plim_name_template_element(name, kernel, 1);
        dropout->mask = plim_name_template_element(name, kernel, 5);
        const long width = plim_name_argument(arguments, 4, &text) ? plim_name_number(text) : -1;
        dropout->width = is_vectorized && width > 0 ? (unsigned)width : 0;
        if (dropout->out && dropout->mask && dropout->p && (dropout->index_bytes == 4 || dropout->index_bytes == 8) &&
            dropout->width <= 16 && is_vectorized == (dropout->width > 0))
            return dropout;
    }
    free(dropout);
    return NULL;
}

static void *parse(struct plim_text name) { return parse_of(name, "fused_dropout_kernel", false); }
static void *parse_vec(struct plim_text name) { return parse_of(name, "fused_dropout_kernel_vec", true); }

/* The random number of an element. */
static uint32_t number_of(const struct dropout *dropout, const struct plim_philox *philox, uint64_t n_threads,
                          uint64_t i)
{
    uint32_t draw[4];
    if (dropout->width == 0) {
        const uint64_t round = i / n_threads;
        plim_philox_four(philox, i % n_threads, round / 4 * 4, draw);
        return draw[round % 4];
    }
    const uint64_t vector = i / dropout->width, round = vector / n_threads, k = i % dropout->width;
    plim_philox_four(philox, vector % n_threads, round * ((dropout->width + 3) / 4 * 4) + k / 4 * 4, draw);
    return draw[k % 4];
}

static void drop(const struct dropout *dropout, const struct plim_philox *philox, uint64_t n_threads, double p,
                 const struct plim_array *in, struct plim_array *out, struct plim_array *mask)
{
    const bool is_double = dropout->p == PLIM_ELEMENT_F64;
    const double scale = is_double ? 1 / p : (double)(float)(1 / p);
    for (uint64_t i = 0; i < in->n; i++) {
        const bool stays = (double)plim_philox_uniform(number_of(dropout, philox, n_threads, i)) < p;
        const double value = plim_array_at(in, i).f * stays * scale;
        out->number[i].f = is_double ? value : (double)(float)value;
        mask->number[i].i = stays;
        mask->each[i] = (uint8_t)philox->known;
        out->each[i] = (uint8_t)plim_less_known(philox->known, plim_array_known_at(in, i));
    }
}

static void write_all(const struct dropout *dropout, const struct plim_kernel_launch *launch,
                      const struct plim_array *in, const struct plim_view *out_view, const struct plim_view *mask_view)
{
    const struct plim_philox philox = plim_philox_of(launch->parameters[5]);
    const uint64_t n_threads = (uint64_t)launch->grid[0] * launch->block[0];
    const double p = plim_element_load(dropout->p, launch->parameters[4]).f;
    struct plim_array out, mask;
    if (n_threads == 0 || !plim_array_make(&out, dropout->out, in->n, false))
        return;
    if (plim_array_make(&mask, PLIM_ELEMENT_I64, in->n, false)) {
        if (plim_array_make_each(&out) && plim_array_make_each(&mask)) {
            drop(dropout, &philox, n_threads, p, in, &out, &mask);
            plim_view_write(out_view, &out);
            plim_view_write(mask_view, &mask);
        }
        plim_array_free(&mask);
    }
    plim_array_free(&out);
}

/* Of what is unknown, nothing is computed: the mask is then of no interest either. */
static void run(const void *parsed, const struct plim_kernel_launch *launch)
{
    const struct dropout *dropout = parsed;
    void *const *p = launch->parameters;
    const uint64_t n = plim_count_at(p, 3, dropout->index_bytes);
    struct plim_view in_view, out_view, mask_view;
    struct plim_array in;
    if (!plim_view_of_info(p[1], dropout->out, dropout->index_bytes, &out_view) ||
        !plim_view_of_info(p[2], dropout->mask, dropout->index_bytes, &mask_view))
        return;
    const bool is_right = n <= PLIM_PHILOX_MAX_NUMBERS && plim_view_n(&out_view) == n && plim_view_n(&mask_view) == n &&
                          plim_view_of_info(p[0], dropout->out, dropout->index_bytes, &in_view) &&
                          plim_view_n(&in_view) == n && plim_view_read(&in_view, &in);
    plim_view_forget(&out_view);
    plim_view_forget(&mask_view);
    if (!is_right)
        return;
    if (!in.is_constant || in.known == PLIM_SHADOW_KNOWN)
        write_all(dropout, launch, &in, &out_view, &mask_view);
    plim_array_free(&in);
}

const struct plim_kernel_form plim_form_dropout = { "fused_dropout_kernel", parse, run };
const struct plim_kernel_form plim_form_dropout_vec = { "fused_dropout_kernel_vec", parse_vec, run };
